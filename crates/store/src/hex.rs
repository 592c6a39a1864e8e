//! Bytes as text.

/// The bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes in the hex format of PostgreSQL's `bytea`.
pub(crate) fn bytea(bytes: &[u8]) -> String {
    format!("\\x{}", hex(bytes))
}
