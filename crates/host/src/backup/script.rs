//! The script that pg_restore makes of a dump, as any server from 14 on takes it from an owner who is no superuser.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};

/// pg_restore of 17 and later sets it whatever the server is, and servers before 17 do not know it. Nobody here sets it to
/// anything else.
const UNKNOWN_BEFORE_17: &[u8] = b"SET transaction_timeout = 0;";
/// An extension that a superuser made is not the owner's to comment on.
const NOT_OURS: &[u8] = b"COMMENT ON EXTENSION ";
const CHUNK: usize = 64 * 1024;

/// Leaves out what is said above; rows are passed on as they are.
pub async fn pass_on(script: impl AsyncRead + Unpin, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
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
        } else if text == UNKNOWN_BEFORE_17 || text.starts_with(NOT_OURS) {
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
    async fn what_older_servers_do_not_know_is_left_out_and_rows_are_not_touched() {
        let rows = "COPY public.x (a) FROM stdin;\nSET transaction_timeout = 0;\nCOMMENT ON EXTENSION x\n\\.\n";
        let script = format!(
            "SET lock_timeout = 0;\nSET transaction_timeout = 0;\nCOMMENT ON EXTENSION vector IS 'x';\n{rows}\
             COMMENT ON INDEX i IS 'lists';\nSET transaction_timeout = 0;\nlast"
        );
        let mut passed = Vec::new();
        pass_on(script.as_bytes(), &mut passed).await.unwrap();
        let expected = format!("SET lock_timeout = 0;\n{rows}COMMENT ON INDEX i IS 'lists';\nlast");
        assert_eq!(String::from_utf8(passed).unwrap(), expected);
    }
}
