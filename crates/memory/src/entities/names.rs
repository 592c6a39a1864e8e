//! Names as arguments give them.

use butler_domain::resolve::entity_name;
use butler_domain::validate::{self, Invalid};
use serde_json::{Value, json};

pub(crate) fn name(field: &str, value: &Value) -> Result<String, Invalid> {
    entity_name(field, validate::string(field, value)?)
}

/// Blanks within an alias do not count, as they do not in the names that are looked up; so two that differ in nothing
/// else are the same, and refused like those that differ only in case.
pub(crate) fn aliases(value: &Value, most: usize) -> Result<Vec<String>, Invalid> {
    let given = validate::aliases(value, most)?;
    let single: Vec<String> = given
        .iter()
        .enumerate()
        .map(|(i, alias)| entity_name(&format!("aliases[{i}]"), alias))
        .collect::<Result<_, _>>()?;
    validate::aliases(&json!(single), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_that_differ_only_in_case_blanks_or_how_an_accent_is_written_or_are_empty_are_refused() {
        assert_eq!(aliases(&json!([" Ada \n Lovelace ", "Ada"]), 2).unwrap(), ["Ada Lovelace", "Ada"]);
        for refused in [
            json!(["Ada  L", "ada l"]),
            json!(["Ada", "ADA"]),
            json!(["Chlo\u{e9}", "Chloe\u{301}"]),
            json!(["Ada", " "]),
            json!([5]),
        ] {
            assert!(aliases(&refused, 2).unwrap_err().field.starts_with("aliases"), "{refused}");
        }
    }
}
