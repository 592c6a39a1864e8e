//! A PostgreSQL server for tests: a primary, or a streaming standby.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustix::process::Signal;

use super::sql;
use crate::program::{eventually, send};

/// The account that runs PostgreSQL if the test runs as root, because PostgreSQL refuses to run as root. It is the
/// account that the private server uses, which can access the programs.
static ACCOUNT: LazyLock<Option<(u32, u32)>> = LazyLock::new(|| {
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap();
    let ids = |name: &str| {
        let mut fields = accounts.lines().find(|line| line.starts_with(&format!("{name}:")))?.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    rustix::process::getuid().is_root().then(|| ids("postgres").or_else(|| ids("nobody")).unwrap())
});
const TIMEOUT: Duration = Duration::from_secs(60);

pub struct Pg {
    /// Contains the data directory `data` and the socket directory `run`.
    home: PathBuf,
    bin: PathBuf,
    child: Option<Child>,
}

impl Pg {
    /// Creates a primary with an empty database `memory`. `settings` override the defaults.
    pub fn primary(home: &Path, settings: &[&str]) -> Self {
        let mut pg = Self::at(home);
        pg.tool("initdb", &["-U", "butler", "--auth=trust", "-E", "UTF8", "--locale=C", "-D"], Some("data"));
        // A standby retries its primary every five seconds by default, and a promotion waits for that interval to end.
        let own = "listen_addresses = ''\nshared_buffers = 64MB\nmax_wal_senders = 4\nhot_standby_feedback = on\n\
                   wal_retrieve_retry_interval = '200ms'\n";
        let conf = home.join("data/postgresql.conf");
        let text = std::fs::read_to_string(&conf).unwrap() + own + &settings.join("\n");
        std::fs::write(&conf, text).unwrap();
        pg.start();
        sql(&pg.url("postgres"), "CREATE DATABASE memory");
        pg
    }

    /// Creates a streaming standby of `primary`.
    pub fn standby_of(primary: &Pg, home: &Path) -> Self {
        let mut pg = Self::at(home);
        let socket = primary.socket().display().to_string();
        pg.tool(
            "pg_basebackup",
            &["-R", "-X", "stream", "-c", "fast", "-U", "butler", "-h", &socket, "-D"],
            Some("data"),
        );
        pg.start();
        pg
    }

    fn at(home: &Path) -> Self {
        let data_dir = home.to_path_buf();
        let options =
            butler_postgres::Options { data_dir, runtime_dir: None, cache_dir: butler_fetch::default_cache_dir() };
        let runtime = butler_postgres::locate(&options, &butler_fetch::Silent).unwrap();
        for dir in [home.to_path_buf(), home.join("run")] {
            std::fs::create_dir_all(&dir).unwrap();
            if let Some((user, group)) = *ACCOUNT {
                chown(&dir, Some(user), Some(group)).unwrap();
            }
            std::fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        }
        // Only its owner can enter the temporary directory by default.
        std::fs::set_permissions(home.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
        Self { home: home.to_path_buf(), bin: runtime.bin_dir, child: None }
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://butler@localhost/{database}?host={}", self.socket().display())
    }

    /// A URL that names both servers, for clients that survive a failover.
    pub fn url_of_either(&self, other: &Pg) -> String {
        format!("{},{}&target_session_attrs=read-write", self.url("memory"), other.socket().display())
    }

    pub fn socket(&self) -> PathBuf {
        self.home.join("run")
    }

    pub fn start(&mut self) {
        let log = std::fs::File::options().create(true).append(true).open(self.home.join("log")).unwrap();
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.home.join("data")).arg("-c");
        command.arg(format!("unix_socket_directories={}", self.socket().display()));
        self.child = Some(command.stdout(Stdio::null()).stderr(log).spawn().unwrap());
        eventually(TIMEOUT, "PostgreSQL accepts connections", || {
            let socket = self.socket().display().to_string();
            let ready = self.command("pg_isready").args(["-q", "-U", "butler", "-h", &socket]).status().unwrap();
            ready.success().then_some(())
        });
    }

    /// Kills the postmaster with SIGKILL. Its child processes then exit.
    pub fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        send(child.id() as i32, Signal::INT);
        child.wait().unwrap();
    }

    /// Promotes the standby to primary.
    pub fn promote(&self) {
        sql(&self.url("postgres"), "SELECT pg_promote()::text");
    }

    fn tool(&self, name: &str, args: &[&str], dir: Option<&str>) {
        let mut command = self.command(name);
        command.args(args).args(dir.map(|dir| self.home.join(dir)));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.bin.join(name));
        command.current_dir("/").stdin(Stdio::null()).env("LC_ALL", "C");
        if let Some((user, group)) = *ACCOUNT {
            command.uid(user).gid(group).env("HOME", "/");
        }
        command
    }
}

impl Drop for Pg {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the log of PostgreSQL:\n{}", std::fs::read_to_string(self.home.join("log")).unwrap_or_default());
        }
        self.stop();
    }
}

/// State shared with writer threads.
pub type Shared<T> = Arc<std::sync::Mutex<T>>;
