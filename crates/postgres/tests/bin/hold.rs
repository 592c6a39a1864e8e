//! Starts or joins the server of a data directory, reports that it is ready, and stops when standard input ends.
//! Arguments: data directory, cache directory, runtime directory; "-" is the default of the latter two.
//! The tests of this crate run it, and so does `cargo xtask`, to keep the shared test server running.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use butler_postgres::{Options, Server};

#[expect(clippy::print_stdout, reason = "the test reads it")]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data_dir, cache_dir, runtime_dir] = &args[..] else { return ExitCode::from(2) };
    let options = Options {
        data_dir: PathBuf::from(data_dir),
        cache_dir: if cache_dir == "-" { butler_fetch::default_cache_dir() } else { PathBuf::from(cache_dir) },
        runtime_dir: (runtime_dir != "-").then(|| PathBuf::from(runtime_dir)),
    };
    let held = tokio::runtime::Runtime::new().map(|tokio| {
        tokio.block_on(async {
            let server = Server::start(options, Arc::new(butler_fetch::Silent)).await?;
            println!("ready {} {} {}", server.pid(), server.url("postgres"), server.bin_dir().display());
            // The end of the input or an error: in both cases the test no longer needs this process.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            server.stop().await
        })
    });
    match held {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            println!("failed {error}");
            ExitCode::FAILURE
        }
        Err(_) => ExitCode::FAILURE,
    }
}
