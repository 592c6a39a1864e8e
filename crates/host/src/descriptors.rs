//! The limit of open files, which sockets, files and pipes of the process share.

pub use butler_store::is_out_of_descriptors;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More would only make programs slow that close every possible descriptor when they start.
const ENOUGH: u64 = 65_536;
/// What to do when no descriptor is left.
pub const HINT: &str = "raise the limit of open files (`ulimit -n`, or LimitNOFILE= in the systemd unit), or lower \
                        client_connections in [server]";

/// Raises the soft limit as far as this process may, and returns it. Many systems start with 1024.
pub fn raise_limit() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(ENOUGH).min(ENOUGH);
    if current.is_some_and(|current| current < wanted)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })
    {
        tracing::debug!(%error, "cannot raise the limit of open files");
    }
    usize::try_from(getrlimit(Resource::Nofile).current.unwrap_or(ENOUGH)).unwrap_or(usize::MAX)
}
