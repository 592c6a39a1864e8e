use proptest::prelude::*;

use super::*;

fn plain(json: &Json) -> serde_json::Value {
    match json {
        Json::Null => serde_json::Value::Null,
        Json::Bool(b) => (*b).into(),
        Json::Number(n) => serde_json::json!(n),
        Json::String(s) => s.as_str().into(),
        Json::Array(items) => items.iter().map(plain).collect(),
        Json::Object(entries) => entries.iter().map(|(k, v)| (k.clone(), plain(v))).collect(),
    }
}

fn read(text: &str) -> (serde_json::Value, Vec<&'static str>) {
    let parsed = read_object(text, 0, 2);
    (plain(&parsed.value), parsed.repairs.into_iter().map(|(_, what)| what).collect())
}

#[test]
fn syntax_errors_are_repaired_and_reported() {
    for (text, value, repairs) in [
        (r#"{"a": [1, "b",], }"#, r#"{"a":[1.0,"b"]}"#, vec!["trailing comma"]),
        ("{// no\n\"a\": /* } */ 1}", r#"{"a":1.0}"#, vec!["comment"]),
        ("{'a': 'it's ok'}", r#"{"a":"it's ok"}"#, vec!["single quotes", "unescaped quote"]),
        (r#"{"a": "he said "no" to me"}"#, r#"{"a":"he said \"no\" to me"}"#, vec!["unescaped quote"]),
        ("{\"a\": \"x\"\n \"b\": \"y\"}", r#"{"a":"x","b":"y"}"#, vec![]),
        (
            "{a: True, b: None, c: very high}",
            r#"{"a":true,"b":null,"c":"very high"}"#,
            vec!["unquoted key", "unquoted text"],
        ),
        (r#"{"a": , "b": 2}"#, r#"{"a":null,"b":2.0}"#, vec!["missing value"]),
        (r#"{"a": [1, 2}"#, r#"{"a":[1.0,2.0]}"#, vec!["missing bracket"]),
        (r#"{"a": "\u00e9\ud83e\udd80\ud83e\q"}"#, "{\"a\":\"é🦀\u{fffd}q\"}", vec![]),
    ] {
        let (got, notes) = read(text);
        assert_eq!(got, serde_json::from_str::<serde_json::Value>(value).unwrap(), "{text}");
        assert_eq!(notes, repairs, "{text}");
    }
}

#[test]
fn a_truncated_text_keeps_its_complete_items() {
    let (value, _) = read(r#"{"new": [{"a": 1}, {"a": 2, "b": "ha"#);
    assert_eq!(value, serde_json::json!({"new": [{"a": 1.0}]}));
    assert_eq!(read(r#"{"ids": ["x", "y"#).0, serde_json::json!({"ids": ["x"]}));
    assert_eq!(read(r#"{"n": 12"#).0, serde_json::json!({"n": null}), "12 may have been 120");
}

#[test]
fn nesting_is_bounded() {
    let deep = format!("{{\"a\": {}1{}, \"b\": 2}}", "[".repeat(100), "]".repeat(100));
    let (value, repairs) = read(&deep);
    assert_eq!(value["b"], 2.0);
    assert_eq!(repairs, ["nesting too deep"]);
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(|n| serde_json::json!(f64::from(n))),
        "\\PC{0,12}".prop_map(Into::into),
        "[\"'{}\\[\\],:/\\\\*\n ]{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map("[a-z\"{}:,' ]{0,6}", inner, 0..4)
                .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn valid_json_is_read_unchanged(value in prop::collection::btree_map("[a-z\"'{}:, ]{0,6}", value(), 0..4)) {
        let value = serde_json::Value::Object(value.into_iter().collect());
        for text in [serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()] {
            let parsed = read_object(&text, 0, 2);
            prop_assert_eq!(plain(&parsed.value), value.clone());
            prop_assert!(!parsed.cut_off);
            prop_assert_eq!(parsed.end, text.len());
            prop_assert_eq!(parsed.repairs, vec![]);
        }
    }

    #[test]
    fn no_input_makes_the_reader_panic(text in "\\{([\\[\\]{}\"':,/*\\\\u0-9a-z\n é🦀]){0,80}", keep in 0..4usize) {
        let parsed = read_object(&text, 0, keep);
        prop_assert!(parsed.end <= text.len() && text.is_char_boundary(parsed.end));
    }
}
