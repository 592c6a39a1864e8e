//! The attributes of a new token: its name and its lifetime.

use std::str::FromStr;

use butler_domain::Timestamp;
use chrono::TimeDelta;

use crate::duration::{duration, seconds};

/// Tables and audit events show the name, so it is one short line.
const MAX_NAME_CHARS: usize = 100;

/// Validates a token's name and removes the space around it. An empty name is no name.
pub fn token_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    let breaks_the_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    // These characters make a terminal or a page show the text in another order.
    let reorders = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if name.chars().count() > MAX_NAME_CHARS || name.chars().any(|c| breaks_the_line(c) || reorders(c)) {
        return Err(format!("expected one line of at most {MAX_NAME_CHARS} characters without control characters"));
    }
    Ok(name.to_owned())
}

/// Parses how long the secret before a rotation still works: a duration such as `1h`, or `0` for not at all.
pub fn grace(text: &str) -> Result<TimeDelta, String> {
    if text == "0" { Ok(TimeDelta::zero()) } else { seconds(text).map(TimeDelta::seconds) }
}

/// The lifetime that the creator of a token asks for.
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

/// When a new token expires: after the requested lifetime, otherwise after the default one, and never later than the
/// token that creates it.
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
    fn the_grace_of_a_rotation_may_be_zero() {
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
