//! Filters the SQL script that pg_restore generates from a dump, so that every server from PostgreSQL 14 on accepts it
//! from an owner who is not a superuser.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};

/// pg_restore 17 and later always sets this parameter, which servers before 17 do not know. 0 is its default.
const UNKNOWN_BEFORE_17: &[u8] = b"SET transaction_timeout = 0;";
/// Only the superuser who created an extension may comment on it.
const EXTENSION_COMMENT: &[u8] = b"COMMENT ON EXTENSION ";
const CHUNK: usize = 64 * 1024;

/// Copies the script without the statements above. Rows of COPY data are copied unchanged.
pub async fn copy_filtered(script: impl AsyncRead + Unpin, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    let (mut lines, mut to) = (BufReader::with_capacity(CHUNK, script), BufWriter::with_capacity(CHUNK, to));
    let (mut line, mut in_rows) = (Vec::new(), false);
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).await? == 0 {
            return to.flush().await;
        }
        let text = line.trim_ascii_end();
        if in_rows {
            in_rows = text != b"\\.";
        } else if text == UNKNOWN_BEFORE_17 || text.starts_with(EXTENSION_COMMENT) {
            continue;
        } else {
            in_rows = text.starts_with(b"COPY ") && text.ends_with(b" FROM stdin;");
        }
        to.write_all(&line).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn unsupported_statements_are_removed_and_rows_are_unchanged() {
        let rows = "COPY public.x (a) FROM stdin;\nSET transaction_timeout = 0;\nCOMMENT ON EXTENSION x\n\\.\n";
        let script = format!(
            "SET lock_timeout = 0;\nSET transaction_timeout = 0;\nCOMMENT ON EXTENSION vector IS 'x';\n{rows}\
             COMMENT ON INDEX i IS 'lists';\nSET transaction_timeout = 0;\nlast"
        );
        let mut copied = Vec::new();
        copy_filtered(script.as_bytes(), &mut copied).await.unwrap();
        let expected = format!("SET lock_timeout = 0;\n{rows}COMMENT ON INDEX i IS 'lists';\nlast");
        assert_eq!(String::from_utf8(copied).unwrap(), expected);
    }
}
