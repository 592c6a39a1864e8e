//! Durations as people write them, such as `90d`.

use chrono::TimeDelta;

/// A hundred years. A token that has to work for longer uses `never`.
const MAX_SECONDS: i64 = 100 * 366 * 86_400;

/// Parses a duration such as `90d`. Zero is not one.
pub fn duration(text: &str) -> Result<TimeDelta, String> {
    let total = seconds(text)?;
    if total == 0 {
        return Err(out_of_range());
    }
    Ok(TimeDelta::seconds(total))
}

/// Parses a duration to seconds; `0s` is zero.
pub(crate) fn seconds(text: &str) -> Result<i64, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_with_a_unit() {
        assert_eq!(duration("90d"), Ok(TimeDelta::days(90)));
        assert_eq!(duration("1y"), Ok(TimeDelta::days(365)));
        for text in ["", "d", "90", "-1d", "0d", "1.5d", "90 d", "9999999999y", "3µ", "never"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
