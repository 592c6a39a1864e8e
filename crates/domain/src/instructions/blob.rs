//! Finds text and data that is hidden in base64 or hex.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use regex::Regex;

use super::{Hit, Kind, phrases};

/// From this length on a run that decodes to text is suspicious.
const TEXT_LENGTH: usize = 64;
/// From this length on every run that decodes is suspicious. A SHA-512 hash has 88 characters.
const DATA_LENGTH: usize = 200;
/// The limit on what is decoded of one run.
const DECODED_LENGTH: usize = 64 * 1024;

static RUN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[A-Za-z0-9+/_-]{24,}(?:\r?\n[A-Za-z0-9+/]{4,}){0,}={0,2}").expect("the pattern is valid")
});

pub(super) fn find(text: &str) -> Option<Hit> {
    let run = RUN.find_iter(text).find(|run| is_blob(run.as_str()))?;
    Some(Hit { kind: Kind::Blob, span: run.range() })
}

fn is_blob(run: &str) -> bool {
    let mut run: String = run.chars().filter(|c| !c.is_whitespace() && *c != '=').collect();
    let length = run.len();
    run.truncate(DECODED_LENGTH);
    let Some(decoded) = decode(&run) else { return false };
    match std::str::from_utf8(&decoded) {
        Ok(text) if is_readable(text) => length >= TEXT_LENGTH || !phrases::find(text).is_empty(),
        _ => length >= DATA_LENGTH && is_mixed(&run),
    }
}

fn decode(run: &str) -> Option<Vec<u8>> {
    if run.bytes().all(|byte| byte.is_ascii_hexdigit()) && run.len().is_multiple_of(2) {
        return (0..run.len()).step_by(2).map(|at| u8::from_str_radix(&run[at..at + 2], 16).ok()).collect();
    }
    let url_safe = run.contains(['-', '_']);
    if url_safe && run.contains(['+', '/']) {
        return None;
    }
    let alphabet = if url_safe { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let whole = run.len() - usize::from(run.len() % 4 == 1);
    GeneralPurpose::new(alphabet, lenient).decode(&run[..whole]).ok()
}

fn is_readable(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() || c.is_whitespace())
        && text.chars().filter(|c| c.is_ascii()).count() * 2 > text.len()
}

/// A long path or identifier has no digits or no capitals, or many separators.
fn is_mixed(run: &str) -> bool {
    let share = |counts: fn(&u8) -> bool| run.as_bytes().iter().filter(|byte| counts(byte)).count() * 100 / run.len();
    share(u8::is_ascii_uppercase) >= 15 && share(u8::is_ascii_lowercase) >= 15 && share(u8::is_ascii_digit) >= 3
        || run.bytes().all(|byte| byte.is_ascii_hexdigit())
}
