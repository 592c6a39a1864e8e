//! What can be said about a new token: its name and its lifetime.

use std::str::FromStr;

use butler_domain::Timestamp;
use chrono::TimeDelta;

/// Tables and audit events show the name, so it is one short line.
const MAX_NAME_CHARS: usize = 100;
/// A hundred years; say `never` for longer.
const MAX_SECONDS: i64 = 100 * 366 * 86_400;

/// Validates a token's name and removes the space around it. An empty name is no name.
pub fn token_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    let breaks_the_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    // These make a terminal or a page show the text in another order than it has.
    let reorders = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if name.chars().count() > MAX_NAME_CHARS || name.chars().any(|c| breaks_the_line(c) || reorders(c)) {
        return Err(format!("expected one line of at most {MAX_NAME_CHARS} characters without control characters"));
    }
    Ok(name.to_owned())
}

/// Parses a duration such as `90d`.
pub fn duration(text: &str) -> Result<TimeDelta, String> {
    let total = seconds(text)?;
    if total == 0 {
        return Err(out_of_range());
    }
    Ok(TimeDelta::seconds(total))
}

/// Parses how long the secret before a rotation still works: a duration such as `1h`, or `0` for not at all.
pub fn grace(text: &str) -> Result<TimeDelta, String> {
    if text == "0" { Ok(TimeDelta::zero()) } else { seconds(text).map(TimeDelta::seconds) }
}

fn seconds(text: &str) -> Result<i64, String> {
    let invalid = || "expected a number followed by s, m, h, d, w or y, such as 90d".to_owned();
    let unit = text.chars().next_back().ok_or_else(invalid)?;
    let unit_seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        'y' => 365 * 86_400,
        _ => return Err(invalid()),
    };
    let count: i64 = text[..text.len() - 1].parse().map_err(|_| invalid())?;
    count.checked_mul(unit_seconds).filter(|total| (0..=MAX_SECONDS).contains(total)).ok_or_else(out_of_range)
}

fn out_of_range() -> String {
    "expected a duration between one second and a hundred years".to_owned()
}

/// The lifetime that the maker of a token asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    Never,
    For(TimeDelta),
}

impl FromStr for Lifetime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "never" => Ok(Self::Never),
            text => duration(text).map(Self::For).map_err(|problem| format!("{problem}; or never")),
        }
    }
}

/// When a new token expires: after the requested lifetime, otherwise after the default one, and never later than the token
/// that makes it.
pub fn expiry(
    now: Timestamp,
    requested: Option<Lifetime>,
    default: Option<TimeDelta>,
    parent: Option<Timestamp>,
) -> Option<Timestamp> {
    let lifetime = match requested {
        Some(Lifetime::Never) => None,
        Some(Lifetime::For(lifetime)) => Some(lifetime),
        None => default,
    };
    [lifetime.map(|lifetime| now + lifetime), parent].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use butler_domain::{Clock, SystemClock};

    use super::*;

    #[test]
    fn a_duration_is_a_number_with_a_unit() {
        assert_eq!(duration("90d"), Ok(TimeDelta::days(90)));
        assert_eq!(duration("1y"), Ok(TimeDelta::days(365)));
        for text in ["", "d", "90", "-1d", "0d", "1.5d", "90 d", "9999999999y", "3µ", "never"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(
            (grace("0"), grace("0s"), grace("1h")),
            (Ok(TimeDelta::zero()), Ok(TimeDelta::zero()), Ok(TimeDelta::hours(1)))
        );
        assert!(grace("-1s").is_err() && grace("").is_err());
    }

    #[test]
    fn a_name_is_one_line_without_space_around_it() {
        assert_eq!(token_name("  Ann's laptop ").as_deref(), Ok("Ann's laptop"));
        assert_eq!(token_name("   ").as_deref(), Ok(""));
        for text in ["a\nb", "a\u{1b}[31mb", "a\u{0}b", "a\u{85}b", "a\u{2028}b", "a\u{202e}b", &"x".repeat(101)] {
            assert!(token_name(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_token_expires_as_requested_or_by_default_and_never_later_than_its_parent() {
        let now = SystemClock.now();
        let (day, week) = (TimeDelta::days(1), TimeDelta::weeks(1));
        assert_eq!(expiry(now, None, None, None), None);
        assert_eq!(expiry(now, None, Some(week), None), Some(now + week));
        assert_eq!(expiry(now, Some(Lifetime::For(day)), Some(week), None), Some(now + day));
        assert_eq!(expiry(now, Some(Lifetime::Never), Some(week), None), None);
        assert_eq!(expiry(now, Some(Lifetime::Never), None, Some(now + day)), Some(now + day));
        assert_eq!(expiry(now, Some(Lifetime::For(week)), None, Some(now + day)), Some(now + day));
    }
}
