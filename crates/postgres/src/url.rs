//! Connection URLs for a socket directory with any characters in its path.

use std::fmt::Write;
use std::path::Path;

use crate::{OWNER, PORT};

/// The connection URL of a database, as the owner role.
pub(crate) fn of(socket_dir: &Path, password: &str, database: &str) -> String {
    let (password, database) = (encode(password), encode(database));
    let host = encode(&socket_dir.to_string_lossy());
    format!("postgres://{OWNER}:{password}@localhost/{database}?host={host}&port={PORT}")
}

/// Percent-encodes everything except RFC 3986's unreserved characters, so that libpq, which does not decode `+` as a
/// space, and libraries that do read the same value.
fn encode(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
            _ => _ = write!(out, "%{byte:02X}"),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use sqlx::postgres::PgConnectOptions;

    use super::*;

    #[test]
    fn sqlx_parses_a_url_with_spaces_and_non_ascii_letters() {
        let dir = Path::new("/home/Jörg Müller/a+b & c?d=#%/日本/run");
        let options = PgConnectOptions::from_str(&of(dir, "p@ss/w:d", "my db/ü")).unwrap();
        assert_eq!(options.get_socket().map(|s| s.as_path()), Some(dir));
        assert_eq!((options.get_username(), options.get_port()), (OWNER, PORT));
        assert_eq!(options.get_database(), Some("my db/ü"));
    }
}
