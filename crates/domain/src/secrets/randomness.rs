//! Tells random values from words, placeholders and code.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A placeholder such as `ghp_xxxxxxxxxxxx` has fewer different characters.
const DISTINCT_BYTES: usize = 8;
/// In bits for each character. Words reach about 3 at this length; 16 random hex digits reach about 3.2.
const TOKEN_ENTROPY: f64 = 3.0;
const PASSWORD_ENTROPY: f64 = 2.5;
const TOKEN_LENGTH: usize = 16;
const URL_PASSWORD_LENGTH: usize = 4;

/// Values that documentation and tests write where a secret belongs.
const PLACEHOLDERS: [&str; 23] = [
    "password",
    "passwd",
    "pass",
    "secret",
    "s3cret",
    "p@ss",
    "p%40ss",
    "p4ssw0rd",
    "passw0rd",
    "changeme",
    "change-me",
    "example",
    "placeholder",
    "redacted",
    "hidden",
    "token",
    "none",
    "null",
    "your-password",
    "yourpassword",
    "mypassword",
    "dummy",
    // The name of a product.
    "1password",
];

pub(super) fn is_varied(value: &str) -> bool {
    let mut seen = [false; 256];
    value.bytes().for_each(|byte| seen[usize::from(byte)] = true);
    seen.iter().filter(|seen| **seen).count() >= DISTINCT_BYTES
}

/// Whether the value of `password = …` is a real password.
pub(super) fn is_password(value: &str) -> bool {
    let kinds = Kinds::of(value);
    let mixed = (kinds.letters() && kinds.digit) || (kinds.lower && kinds.upper && kinds.symbol);
    mixed && !is_placeholder(value) && !is_name(value) && entropy(value) >= PASSWORD_ENTROPY
}

/// Whether the value of `token: …` is a real token. Ids and code are not.
pub(super) fn is_token(value: &str) -> bool {
    is_key(value) && !is_uuid(value)
}

/// Whether the value of `api_key: …` is a real key. Some providers use UUIDs.
pub(super) fn is_key(value: &str) -> bool {
    let kinds = Kinds::of(value);
    value.len() >= TOKEN_LENGTH
        && kinds.letters()
        && kinds.digit
        && !is_placeholder(value)
        && !is_name(value)
        && digit_changes(value) >= 2
        && entropy(value) >= TOKEN_ENTROPY
}

/// Whether the password in a URL is a real one.
pub(super) fn is_url_password(value: &str) -> bool {
    value.len() >= URL_PASSWORD_LENGTH && !is_placeholder(value)
}

/// Whether base64 stands for `user:password`, as in an `Authorization: Basic` header.
pub(super) fn is_basic_login(value: &str) -> bool {
    let decoded = STANDARD.decode(value).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.is_some_and(|login| login.split_once(':').is_some_and(|(_, password)| !password.is_empty()))
}

/// Whether a block between PEM marks has a line of base64, so that it is more than the mention of its header.
pub(super) fn is_pem(block: &str) -> bool {
    let mut run = 0;
    block.bytes().any(|byte| {
        run = if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=') { run + 1 } else { 0 };
        run >= 32
    })
}

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let lower = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    let templated = ["$", "{", "<", "*", "%(", "xxx", "...", "…", "your_", "your-", "["];
    PLACEHOLDERS.contains(&lower)
        || templated.iter().any(|start| value.to_ascii_lowercase().starts_with(start))
        || ["${", "{{", "$("].iter().any(|part| value.contains(part))
}

/// Whether the value is a path, a slug or an identifier: several words, each of letters with at most four digits after
/// them.
fn is_name(value: &str) -> bool {
    let words: Vec<&str> = value.split(['.', '_', '-', '/', ':']).filter(|word| !word.is_empty()).collect();
    words.len() > 1 && words.iter().all(|word| is_word(word))
}

fn is_word(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = &word[..word.len() - digits.len()];
    let one_case =
        letters.chars().skip(1).all(|c| c.is_ascii_lowercase()) || letters.chars().all(|c| c.is_ascii_uppercase());
    one_case && digits.len() <= 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_uuid(value: &str) -> bool {
    uuid::Uuid::try_parse(value).is_ok() && value.contains('-')
}

/// How often a digit follows something else or is followed by something else.
fn digit_changes(value: &str) -> usize {
    value.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count()
}

/// The Shannon entropy of the bytes, in bits for each.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let length = value.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length);
    shares.map(|share| -share * share.log2()).sum()
}

#[derive(Default)]
struct Kinds {
    lower: bool,
    upper: bool,
    digit: bool,
    symbol: bool,
}

impl Kinds {
    fn of(value: &str) -> Self {
        let mut kinds = Self::default();
        for c in value.chars() {
            match c {
                c if c.is_lowercase() => kinds.lower = true,
                c if c.is_uppercase() => kinds.upper = true,
                c if c.is_ascii_digit() => kinds.digit = true,
                '-' | '_' | '.' | '/' | ':' => {}
                _ => kinds.symbol = true,
            }
        }
        kinds
    }

    fn letters(&self) -> bool {
        self.lower || self.upper
    }
}
