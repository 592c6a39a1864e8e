//! Starts or joins the server of a data directory, says so, and stops when its standard input ends.
//! Arguments: data directory, cache directory, runtime directory (or "-").

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use postgres::{Options, Server};

#[expect(clippy::print_stdout, reason = "the test reads it")]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data_dir, cache_dir, runtime_dir] = &args[..] else { return ExitCode::from(2) };
    let options = Options {
        data_dir: PathBuf::from(data_dir),
        cache_dir: PathBuf::from(cache_dir),
        runtime_dir: (runtime_dir != "-").then(|| PathBuf::from(runtime_dir)),
    };
    let held = tokio::runtime::Runtime::new().map(|tokio| {
        tokio.block_on(async {
            let server = Server::start(options, Arc::new(fetch::Silent)).await?;
            println!("ready {} {}", server.pid(), server.url("postgres"));
            // The end of the input, or an error: either way the test is done with us.
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
