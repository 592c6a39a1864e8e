//! Validates the names of entities in arguments.

use butler_domain::resolve::entity_name;
use butler_domain::validate::{self, Invalid};
use serde_json::{Value, json};

/// Reads the name of an entity: one line in normal form (NFC), not empty.
pub fn name(field: &str, value: &Value) -> Result<String, Invalid> {
    entity_name(field, validate::string(field, value)?)
}

/// Validates and normalises aliases. Whitespace is collapsed, as in names that are looked up, so aliases that differ
/// only in whitespace or case are duplicates and rejected.
pub fn aliases(value: &Value, max_items: usize) -> Result<Vec<String>, Invalid> {
    let normalised: Vec<String> = validate::aliases(value, max_items)?
        .iter()
        .enumerate()
        .map(|(i, alias)| entity_name(&format!("aliases[{i}]"), alias))
        .collect::<Result<_, _>>()?;
    validate::aliases(&json!(normalised), max_items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_aliases_and_those_that_differ_only_in_case_whitespace_or_accent_encoding_are_rejected() {
        assert_eq!(aliases(&json!([" Ada \n Lovelace ", "Ada"]), 2).unwrap(), ["Ada Lovelace", "Ada"]);
        for rejected in [
            json!(["Ada  L", "ada l"]),
            json!(["Ada", "ADA"]),
            json!(["Chlo\u{e9}", "Chloe\u{301}"]),
            json!(["Ada", " "]),
            json!([5]),
        ] {
            assert!(aliases(&rejected, 2).unwrap_err().field.starts_with("aliases"), "{rejected}");
        }
    }
}
