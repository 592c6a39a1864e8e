//! pg_dump and pg_restore of the server that is dumped, or the newest at hand.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::error::HostError;
use crate::host::Host;

pub struct Tools {
    /// `None`: whatever the path leads to.
    bin_dir: Option<PathBuf>,
}

impl Tools {
    /// Those of the private server; for a server elsewhere those on the path, else the fetched runtime's.
    pub async fn find(host: &Host) -> Result<Self, HostError> {
        if let Some(bin_dir) = host.bin_dir().await {
            return Ok(Self { bin_dir: Some(bin_dir) });
        }
        let on_path = std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join("pg_dump").is_file()));
        if on_path {
            return Ok(Self { bin_dir: None });
        }
        match postgres::present(&host.options().postgres())? {
            Some(runtime) => Ok(Self { bin_dir: Some(runtime.bin_dir) }),
            None => Err(HostError::Failed(
                "there is no pg_dump: install PostgreSQL's client programs, or run `butler setup`".to_owned(),
            )),
        }
    }

    pub async fn dump(&self, url: &str, schema: &str, snapshot: &str, to: &Path) -> Result<(), HostError> {
        let mut command = self.command("pg_dump", url);
        command.args(["--format=custom", "--snapshot", snapshot, "--file"]).arg(to);
        if schema != "public" {
            command.args(["--schema", schema]);
        }
        run(command, "pg_dump").await
    }

    /// All of it or nothing.
    pub async fn restore(&self, url: &str, from: &Path) -> Result<(), HostError> {
        let mut command = self.command("pg_restore", url);
        command.args(["--exit-on-error", "--single-transaction"]).arg(from);
        run(command, "pg_restore").await
    }

    fn command(&self, program: &str, url: &str) -> Command {
        let path = self.bin_dir.as_ref().map_or_else(|| PathBuf::from(program), |dir| dir.join(program));
        let mut command = Command::new(path);
        // A password on the command line could be read by everybody on the machine.
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
    let output = command
        .output()
        .await
        .map_err(|error| HostError::Failed(format!("{name} cannot be started: {error}; run `butler doctor`")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().take(5).collect();
    Err(HostError::Failed(format!("{name} failed ({}): {}", output.status, lines.join("; "))))
}

/// The URL without its password, and the password as it is meant.
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
    fn a_password_is_taken_out_of_the_url() {
        let (url, password) = without_password("postgres://ann:p%40ss@localhost/db?host=%2Frun&port=5432");
        assert_eq!(
            (url.as_str(), password.as_deref()),
            ("postgres://ann@localhost/db?host=%2Frun&port=5432", Some("p@ss"))
        );
        assert_eq!(without_password("postgres://localhost/db"), ("postgres://localhost/db".to_owned(), None));
    }
}
