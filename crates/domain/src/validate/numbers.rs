//! Numbers. A string that contains one is accepted: some models quote every value.

use serde_json::Value;

use super::Invalid;
use crate::limits;
use crate::scoring::MAX_IMPORTANCE;

/// A finite number within `min..=max`.
pub fn number(field: &str, value: &Value, min: f64, max: f64) -> Result<f64, Invalid> {
    let number = match value {
        Value::Number(n) => n.as_f64().filter(|n| n.is_finite()),
        Value::String(s) => s.trim().parse::<f64>().ok().filter(|n| n.is_finite()),
        _ => None,
    };
    let number = number.ok_or_else(|| Invalid::wrong_type(field, "a number", value))?;
    if (min..=max).contains(&number) {
        Ok(number)
    } else {
        let message = format!("must be between {min} and {max}, not {number}");
        Err(Invalid::new(field, message).hint(format!("choose {field} from {min} to {max}")))
    }
}

/// A whole number within `min..=max`. `10.0` is accepted, because some clients have only floating-point numbers.
pub fn whole_number(field: &str, value: &Value, min: usize, max: usize) -> Result<usize, Invalid> {
    let number = number(field, value, min as f64, max as f64)?;
    if number.fract() == 0.0 {
        Ok(number as usize)
    } else {
        let message = format!("must be a whole number, not {number}");
        Err(Invalid::new(field, message).hint(format!("write {} or {}", number.floor(), number.ceil())))
    }
}

/// An importance from 0 to 10.
pub fn importance(value: &Value) -> Result<f64, Invalid> {
    number("importance", value, 0.0, MAX_IMPORTANCE)
}

/// A minimum effective confidence from 0 to 1.
pub fn min_confidence(value: &Value) -> Result<f64, Invalid> {
    number("min_confidence", value, 0.0, 1.0)
}

/// A number of results from 0 to [`limits::RESULTS`].
pub fn limit(value: &Value) -> Result<usize, Invalid> {
    whole_number("limit", value, 0, limits::RESULTS)
}

/// A number of relations to follow, from 0 to [`limits::NEIGHBOR_DEPTH`].
pub fn hops(value: &Value) -> Result<usize, Invalid> {
    whole_number("hops", value, 0, limits::NEIGHBOR_DEPTH)
}

/// A token budget from 0 to [`limits::TOKEN_BUDGET`].
pub fn token_budget(value: &Value) -> Result<usize, Invalid> {
    whole_number("token_budget", value, 0, limits::TOKEN_BUDGET)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn importance_outside_0_to_10_is_rejected() {
        assert_eq!(importance(&json!(0)), Ok(0.0));
        assert_eq!(importance(&json!(10.0)), Ok(10.0));
        assert_eq!(importance(&json!(-0.1)).unwrap_err().message, "must be between 0 and 10, not -0.1");
        assert!(importance(&json!(10.5)).is_err());
        assert!(importance(&json!(f64::NAN)).is_err(), "JSON has no NaN, so it arrives as null");
        assert!(importance(&json!(true)).is_err());
    }

    #[test]
    fn a_number_may_be_given_as_a_string() {
        assert_eq!((importance(&json!("9")), limit(&json!(" 5 "))), (Ok(9.0), Ok(5)));
        for text in ["high", "", "NaN", "inf", "5 items"] {
            assert_eq!(importance(&json!(text)).unwrap_err().hint.unwrap(), "give importance as a number");
        }
        assert_eq!(limit(&json!("101")).unwrap_err().hint.unwrap(), "choose limit from 0 to 100");
    }

    #[test]
    fn a_limit_is_a_whole_number_from_0_to_100() {
        assert_eq!(limit(&json!(0)), Ok(0));
        assert_eq!(limit(&json!(100.0)), Ok(100));
        assert_eq!(limit(&json!(-1)).unwrap_err().message, "must be between 0 and 100, not -1");
        assert!(limit(&json!(101)).is_err());
        assert!(limit(&json!(1e300)).is_err());
        assert_eq!(limit(&json!(2.5)).unwrap_err().message, "must be a whole number, not 2.5");
    }

    #[test]
    fn min_confidence_and_token_budget_have_bounds() {
        assert_eq!(min_confidence(&json!(0.2)), Ok(0.2));
        assert!(min_confidence(&json!(1.01)).is_err());
        assert_eq!(token_budget(&json!(3000)), Ok(3000));
        assert!(token_budget(&json!(-5)).is_err());
    }

    proptest! {
        #[test]
        fn validated_numbers_are_within_bounds(n in any::<f64>()) {
            if let Ok(value) = importance(&json!(n)) { prop_assert!((0.0..=10.0).contains(&value)); }
            if let Ok(value) = limit(&json!(n)) { prop_assert!(value <= limits::RESULTS); }
        }
    }
}
