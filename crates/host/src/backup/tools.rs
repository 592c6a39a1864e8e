//! Finds and runs pg_dump, pg_restore and psql.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::script;
use crate::config::mask::mask;
use crate::error::HostError;

pub struct Tools {
    /// `None` to search `PATH`.
    bin_dir: Option<PathBuf>,
}

impl Tools {
    /// Finds the programs to use. For the private PostgreSQL they are its own. For an external server they are those on
    /// `PATH` or of the downloaded runtime, whichever has the server's version or the next newer one: older programs
    /// refuse to work, and much newer ones generate statements that the server does not know.
    pub async fn find(
        private: Option<PathBuf>,
        runtime: &butler_postgres::Options,
        url: &str,
    ) -> Result<Self, HostError> {
        if private.is_some() {
            return Ok(Self { bin_dir: private });
        }
        let server = butler_store::server_major(url).await.map_err(|error| HostError::Failed(error.to_string()))?;
        let fetched = butler_postgres::present(runtime)?.map(|runtime| runtime.bin_dir);
        let mut found = Vec::new();
        for bin_dir in [None, fetched.clone()].into_iter().take(if fetched.is_some() { 2 } else { 1 }) {
            let tools = Self { bin_dir };
            found.extend(tools.major().await.map(|major| (major, tools)));
        }
        let known = found.iter().map(|(major, _)| major.to_string()).collect::<Vec<_>>().join(" and ");
        let fitting = found.into_iter().filter(|(major, _)| *major >= server).min_by_key(|(major, _)| *major);
        fitting.map(|(_, tools)| tools).ok_or_else(|| {
            let here = if known.is_empty() { "none".to_owned() } else { known };
            HostError::Failed(format!(
                "the server is PostgreSQL {server}, but this machine has these versions of its client programs (pg_dump, \
                 pg_restore, psql): {here}. Install version {server} or newer, or run `butler setup`"
            ))
        })
    }

    /// The major version from `pg_dump (PostgreSQL) 18.6`; `None` if the program is missing.
    async fn major(&self) -> Option<u32> {
        let output = Command::new(self.path("pg_dump")).arg("--version").stdin(Stdio::null()).output().await.ok()?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        version.split_whitespace().find_map(|word| word.split('.').next()?.parse().ok())
    }

    pub async fn dump(&self, url: &str, schema: &str, snapshot: &str, to: &Path) -> Result<(), HostError> {
        let mut command = self.command("pg_dump", url);
        // The role may not be a superuser, so row-level security applies to it; the owner's policies show all rows.
        command.args(["--format=custom", "--enable-row-security", "--snapshot", snapshot, "--file"]).arg(to);
        if schema != super::WHOLE_DATABASE {
            // pg_dump treats an unquoted name as a pattern.
            command.arg("--schema").arg(format!("\"{}\"", schema.replace('"', "\"\"")));
        }
        run(command, "pg_dump").await
    }

    /// Restores a dump in one transaction.
    pub async fn restore(&self, url: &str, from: &Path) -> Result<(), HostError> {
        self.load(self.command("psql", url), from, "BEGIN;\n").await
    }

    /// Renames the current schema to `kept_as` and restores the dump under its name, in one transaction.
    pub async fn swap_schema(&self, url: &str, from: &Path, schema: &str, kept_as: &str) -> Result<(), HostError> {
        let mut psql = self.command("psql", url);
        psql.arg("--set").arg(format!("schema={schema}")).arg("--set").arg(format!("kept={kept_as}"));
        self.load(psql, from, butler_store::backup::SWAP_BEGIN).await
    }

    /// Pipes the dump through pg_restore into psql, in one transaction. A truncated dump never reaches the commit.
    async fn load(&self, mut psql: Command, from: &Path, begin: &str) -> Result<(), HostError> {
        let mut unpack = Command::new(self.path("pg_restore"));
        unpack.arg("--file=-").arg(from).kill_on_drop(true);
        unpack.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        psql.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]).stdin(Stdio::piped());
        let (mut unpacking, mut loading) = (start(unpack, "pg_restore")?, start(psql, "psql")?);
        let (text, into) = (unpacking.stdout.take(), loading.stdin.take());
        let passing = async {
            let (Some(text), Some(mut into)) = (text, into) else { return Ok(()) };
            into.write_all(begin.as_bytes()).await?;
            script::copy_filtered(text, &mut into).await?;
            // Without the commit, psql rolls back when its input ends.
            let complete = unpacking.wait().await?.success();
            if complete { into.write_all(butler_store::backup::SWAP_END.as_bytes()).await } else { Ok(()) }
        };
        let (passed, loaded) = tokio::join!(passing, loading.wait_with_output());
        let unpacked = unpacking.wait_with_output().await;
        let outcomes =
            [check(&started("pg_restore", unpacked)?, "pg_restore"), check(&started("psql", loaded)?, "psql")];
        // If one program fails, the other one fails too; report both.
        let errors: Vec<String> = outcomes.into_iter().filter_map(|outcome| Some(outcome.err()?.to_string())).collect();
        if errors.is_empty() {
            return passed.map_err(HostError::io("read", from));
        }
        Err(HostError::Failed(errors.join("; ")))
    }

    fn path(&self, program: &str) -> PathBuf {
        self.bin_dir.as_ref().map_or_else(|| PathBuf::from(program), |dir| dir.join(program))
    }

    fn command(&self, program: &str, url: &str) -> Command {
        let mut command = Command::new(self.path(program));
        // Every user of the machine can read a password on the command line.
        let (url, password) = without_password(url);
        command.arg("--dbname").arg(url).env("PGAPPNAME", "butler backup").kill_on_drop(true);
        if let Some(password) = password {
            command.env("PGPASSWORD", password);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

async fn run(mut command: Command, name: &str) -> Result<(), HostError> {
    let output = started(name, command.output().await)?;
    check(&output, name)
}

fn start(mut command: Command, name: &str) -> Result<Child, HostError> {
    started(name, command.spawn())
}

fn started<T>(name: &str, result: std::io::Result<T>) -> Result<T, HostError> {
    result.map_err(|error| HostError::Failed(format!("cannot start {name}: {error}; run `butler doctor`")))
}

/// Turns a failed exit status into an error with the first lines of stderr.
fn check(output: &Output, name: &str) -> Result<(), HostError> {
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = stderr.lines().take(5).collect();
    Err(HostError::Failed(format!("{name} failed ({}): {}", output.status, mask(&lines.join("; ")))))
}

/// Splits a URL into the URL without its password and the decoded password.
fn without_password(url: &str) -> (String, Option<String>) {
    let split = || {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (user_info, _) = rest[..end].rsplit_once('@')?;
        let (user, password) = user_info.split_once(':')?;
        Some((format!("{scheme}://{user}{}", &rest[user_info.len()..]), decode(password)))
    };
    match split() {
        Some((url, password)) => (url, Some(password)),
        None => (url.to_owned(), None),
    }
}

/// Decodes percent-encoding.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_removed_from_the_url() {
        let (url, password) = without_password("postgres://ann:p%40ss@localhost/db?host=%2Frun&port=5432");
        assert_eq!(
            (url.as_str(), password.as_deref()),
            ("postgres://ann@localhost/db?host=%2Frun&port=5432", Some("p@ss"))
        );
        assert_eq!(without_password("postgres://localhost/db"), ("postgres://localhost/db".to_owned(), None));
    }
}
