//! Reads the lines of a file within a limit.

use std::io::{BufRead, Read};

use super::{Line, TransferError};

/// Maximum length of a line. The longest memory, escaped and with its vector, is shorter.
const LINE_BYTES: usize = 16 * 1024 * 1024;

/// Reads lines and counts them.
pub struct LineReader<R> {
    pub reader: R,
    /// Bytes read so far.
    pub read: u64,
    number: u64,
}

impl<R: BufRead> LineReader<R> {
    /// Starts before the first line.
    pub fn new(reader: R) -> Self {
        Self { reader, read: 0, number: 0 }
    }

    /// The next line, or `None` at the end of the file.
    pub fn line(&mut self) -> Result<Option<Line>, TransferError> {
        let mut bytes = Vec::new();
        let limit = LINE_BYTES as u64 + 1;
        let read = (&mut self.reader).take(limit).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.read += read as u64;
        if read > LINE_BYTES {
            return Err(TransferError::LongLine { line: self.number, limit: LINE_BYTES });
        }
        while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            bytes.pop();
        }
        // Invalid UTF-8 is not valid JSON either, so the line is reported as a problem.
        Ok(Some(Line { number: self.number, text: String::from_utf8_lossy(&bytes).into_owned() }))
    }
}
