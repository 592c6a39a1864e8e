//! Checks this machine without starting anything.

use std::net::SocketAddr;
use std::path::Path;

use butler_embed::Embedder;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::instance::Instance;
use butler_host::spool::Spool;
use butler_server::http::listen;

use super::check::Check;
use crate::cli::Settings;
use crate::progress::size;

const SETUP: &str = "download it: butler setup";
/// Below this PostgreSQL cannot even rotate its write-ahead log.
const FREE_MINIMUM: u64 = 200_000_000;
/// Below this a busy day may fill the disk.
const FREE_COMFORTABLE: u64 = 2_000_000_000;

pub fn disk(data_dir: &Path) -> Check {
    if let Err(error) = writable(data_dir) {
        return Check::from_error("disk", &error);
    }
    let stat = match rustix::fs::statvfs(data_dir) {
        Ok(stat) => stat,
        Err(error) => {
            return Check::warned("disk", format!("cannot determine the free space: {error}"), "check it with `df -h`");
        }
    };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let detail = format!("{} free in {}", size(free), data_dir.display());
    match free {
        ..FREE_MINIMUM => Check::failed("disk", detail, "free some space, or choose another directory with --data-dir"),
        FREE_MINIMUM..FREE_COMFORTABLE => Check::warned("disk", detail, "free some space soon"),
        FREE_COMFORTABLE.. => Check::passed("disk", detail),
    }
}

/// Warns about sessions that hooks could not deliver.
pub fn spool(data_dir: &Path) -> Check {
    let spool = Spool::new(data_dir);
    let path = spool.directory().display();
    match spool.count() {
        (0, 0) => Check::passed("spool", "every session was delivered"),
        (waiting, 0) => {
            let detail = format!("{waiting} sessions wait in {path}");
            Check::warned("spool", detail, "start the server, which stores them: butler serve")
        }
        (waiting, refused) => {
            let detail = format!("{waiting} sessions wait and {refused} were refused in {path}");
            Check::warned("spool", detail, "the server's log says why; remove the `.refused` files you do not need")
        }
    }
}

fn writable(data_dir: &Path) -> Result<(), HostError> {
    let probe = data_dir.join(format!(".probe-{}", std::process::id()));
    std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe)).map_err(HostError::io("write to", data_dir))
}

pub async fn runtime(settings: &Settings) -> Check {
    if settings.host.database_url.is_some() {
        return Check::skipped("runtime", "not needed with --database-url");
    }
    let options = settings.host.postgres();
    let found = tokio::task::spawn_blocking(move || butler_postgres::present(&options)).await;
    match found {
        Ok(Ok(Some(runtime))) => Check::passed("runtime", runtime.to_string()),
        Ok(Ok(None)) => Check::failed("runtime", "PostgreSQL is not downloaded yet", SETUP),
        Ok(Err(error)) => Check::from_error("runtime", &error.into()),
        Err(_) => Check::failed("runtime", "the check was cancelled", "run `butler doctor` again"),
    }
}

pub async fn model(host: &Host) -> Check {
    let custom_dir = host.model_dir().map(Path::to_path_buf);
    if custom_dir.is_none() && !butler_embed::is_model_present(&host.options().cache_dir) {
        return Check::failed("model", "the embedding model is not downloaded yet", SETUP);
    }
    match host.engine().warm_up().await {
        Ok(()) => {
            let id = host.engine().model();
            Check::passed("model", format!("{} ({} dimensions) loads and works", id.model, id.dimensions))
        }
        Err(error) => Check::from_error("model", &error.into()),
    }
}

pub async fn port(address: SocketAddr, serving: Option<&Instance>) -> Check {
    if let Some(instance) = serving {
        let detail = format!("{} is served by process {}", instance.url, instance.pid);
        return Check::passed("port", detail);
    }
    match listen::bind(address).await {
        Ok(_) => Check::passed("port", format!("{address} is free")),
        Err(error) => Check::from_error("port", &error),
    }
}
