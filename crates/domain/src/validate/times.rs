//! Times. Years 1 to 9999: what PostgreSQL, RFC 3339 and every client can hold. `infinity` is not a time.

use chrono::Datelike;
use serde_json::Value;

use super::Invalid;
use crate::clock::Timestamp;

/// A time from 0001 to 9999.
pub fn plausible_time(field: &str, time: Timestamp) -> Result<Timestamp, Invalid> {
    if (1..=9999).contains(&time.year()) {
        Ok(time)
    } else {
        Err(Invalid::new(field, format!("must be in the years 1 to 9999, not {}", time.year())))
    }
}

/// A time as RFC 3339 text, from 0001 to 9999.
pub fn time(field: &str, value: &Value) -> Result<Timestamp, Invalid> {
    let text = value.as_str().ok_or_else(|| Invalid::wrong_type(field, "a time", value))?;
    let parsed = chrono::DateTime::parse_from_rfc3339(text.trim())
        .map_err(|_| Invalid::new(field, format!("{text:?} is not a time")).hint("for example 2026-03-01T12:00:00Z"))?;
    plausible_time(field, parsed.to_utc())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_is_rfc_3339_within_the_calendar() {
        for good in [
            "2026-03-01T12:00:00Z",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999999Z",
            "2026-03-01 12:00:00.5+01:00",
        ] {
            assert!(time("at", &json!(good)).is_ok(), "{good}");
        }
        for bad in [
            json!("infinity"),
            json!("-infinity"),
            json!("now"),
            json!(""),
            json!("0000-12-31T23:59:59Z"),
            json!("9999-12-31T23:59:59-01:00"),
            json!("+262142-01-01T00:00:00Z"),
            json!(1_700_000_000),
            json!(null),
        ] {
            assert!(time("at", &bad).is_err(), "{bad}");
        }
    }
}
