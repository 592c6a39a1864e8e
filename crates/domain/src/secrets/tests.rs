use std::collections::HashSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::planted::{Planted, all};
use super::*;

static STANDARD: LazyLock<Redactor> = LazyLock::new(Redactor::standard);

/// The planted text in prose, in JSON and in a shell script.
fn surroundings(planted: &Planted) -> [String; 3] {
    let text = planted.around.replace("{}", &planted.secret);
    let json = serde_json::json!({"role": "user", "content": format!("Here it is:\n{text}\nThanks"), "n": 3});
    [
        format!("Yesterday Anna sent me this: {text} and asked me to keep it."),
        json.to_string(),
        format!("set -e\nexport VALUE='{text}'\ncurl \"$HOST\"\n"),
    ]
}

#[test]
fn at_least_60_kinds_of_secrets_are_gone_in_prose_json_and_shell() {
    let planted = all();
    let kinds: HashSet<&str> = planted.iter().map(|planted| planted.kind).collect();
    assert!(kinds.len() >= 60, "{}", kinds.len());
    let mut missed = Vec::new();
    for planted in &planted {
        for text in surroundings(planted) {
            let redacted = STANDARD.redact(&text);
            // Inside JSON a line break is escaped, so each line is looked for.
            let gone = planted.secret.lines().all(|line| line.starts_with("-----") || !redacted.text.contains(line));
            if !gone || redacted.found == 0 {
                missed.push(format!("{}: {}", planted.kind, redacted.text));
            }
            let again = STANDARD.redact(&redacted.text);
            assert_eq!((again.found, &again.text), (0, &redacted.text), "{}", planted.kind);
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn the_mark_names_the_secret_and_the_rest_stays() {
    let planted = all();
    let secret = |kind: &str| planted.iter().find(|planted| planted.kind == kind).unwrap().secret.clone();
    let redact = |text: &str| STANDARD.redact(text).text.into_owned();
    assert_eq!(redact(&format!("key {}, ok", secret("aws key"))), "key [redacted: aws key], ok");
    assert_eq!(redact(&format!("password={}", secret("github classic"))), "password=[redacted: github token]");
    let url = format!("see postgres://app:{}@db/x?y=1", secret("url password"));
    assert_eq!(redact(&url), "see postgres://app:[redacted: password]@db/x?y=1");
    let two = format!("{} {}", secret("npm"), secret("stripe"));
    assert_eq!(redact(&two), "[redacted: npm token] [redacted: stripe key]");
    assert_eq!(STANDARD.redact(&two).found, 2);
}

#[test]
fn a_password_with_an_at_sign_disappears_completely() {
    let url = ["https://ann:", "hun@ter", "@2x@", "host/path"].concat();
    assert_eq!(STANDARD.redact(&url).text, "https://ann:[redacted: password]@host/path");
}

#[test]
fn a_private_key_without_an_end_is_redacted() {
    let pem = all().into_iter().find(|planted| planted.kind == "pem block").unwrap().secret;
    let cut = format!("log: {}", &pem[..pem.len() - 60]);
    assert_eq!(STANDARD.redact(&cut).text, "log: [redacted: private key]");
}

#[test]
fn a_secret_inside_a_forged_mark_is_redacted() {
    let key = all().swap_remove(0).secret;
    let forged = format!("[redacted: {key}]");
    assert_eq!(STANDARD.redact(&forged).text, "[redacted: [redacted: aws key]]");
}

#[test]
fn text_without_secrets_is_not_copied() {
    let redacted = STANDARD.redact("nothing to hide");
    assert!(matches!(redacted.text, Cow::Borrowed(_)) && redacted.found == 0);
}

#[test]
fn redaction_can_be_off() {
    for planted in all() {
        assert_eq!(Redactor::off().redact(&planted.secret).text, planted.secret);
    }
}

#[test]
fn configured_patterns_are_redacted_too() {
    let pair = |name: &str, pattern: &str| (name.to_owned(), pattern.to_owned());
    let redactor = Redactor::with(&[pair("badge", r"badge (\d{4})"), pair("word", r"redacted|hush\w+")]).unwrap();
    let redacted = redactor.redact("badge 1234, hush001walnut");
    assert_eq!((redacted.text.as_ref(), redacted.found), ("badge [redacted: badge], [redacted: word]", 2));
    assert_eq!(redactor.redact(&redacted.text).found, 0);
    for (name, pattern) in [("", "x"), ("a]b", "x"), ("a", "("), ("a", "x*"), ("a", r"\w{1000}{1000}")] {
        let error = Redactor::with(&[pair(name, pattern)]).err().unwrap();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn every_text_of_a_json_value_is_redacted_with_the_name_it_has() {
    let planted = all();
    let secret = |kind: &str| planted.iter().find(|planted| planted.kind == kind).unwrap().secret.clone();
    let (password, key) = (secret("password in prose"), secret("aws key"));
    let card = ["4111", "1111", "1111", "1111"].concat();
    let mut value = serde_json::json!({
        "subject": "router", "predicate": "wifi_password", "content": password, "tags": ["home", key],
        "metadata": {"db_password": password, "card": card.parse::<u64>().unwrap(), key.as_str(): {"n": 1.5, "deep": [key]}},
    });
    assert_eq!(STANDARD.redact_json(&mut value), 6);
    assert_eq!(
        value,
        serde_json::json!({
            "subject": "router", "predicate": "wifi_password", "content": "[redacted: password]",
            "tags": ["home", "[redacted: aws key]"],
            "metadata": {"db_password": "[redacted: password]", "card": "[redacted: card number]",
                         "[redacted: aws key]": {"n": 1.5, "deep": ["[redacted: aws key]"]}},
        })
    );
    assert_eq!(STANDARD.redact_json(&mut value), 0);
}

#[test]
fn ordinary_values_with_telling_names_stay() {
    let mut value = serde_json::json!({
        "predicate": "password_manager", "content": "1Password", "metadata": {"token": "550e8400-e29b-41d4-a716-446655440000"},
        "token_budget": 3000, "secret_santa": "Ann, on 2030-12-06", "created": 1_893_456_000_000_u64,
    });
    let before = value.clone();
    assert_eq!((STANDARD.redact_json(&mut value), value), (0, before));
}

/// Prints the figures of docs/trust.md. In release: `cargo test --release -p butler-domain -- --ignored speed`.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let start = std::time::Instant::now();
    STANDARD.redact("first");
    println!("start: {:?}", start.elapsed());
    let fact = "Anna Berg works at Initech in Oslo since March 2024 and prefers tea; her desk is on the third floor, next to Bob.";
    let episode =
        format!("User: {fact}\nAssistant: I set the token budget to 3000 and key 3 of the pass.\n\n").repeat(93);
    for text in [fact, &episode] {
        let rounds = 2_000_000 / text.len();
        let start = std::time::Instant::now();
        let found: usize = (0..rounds).map(|_| STANDARD.redact(text).found).sum();
        println!("{} bytes: {:?} ({found} found)", text.len(), start.elapsed() / u32::try_from(rounds).unwrap());
    }
}

#[test]
fn a_large_text_full_of_anchors_takes_linear_time() {
    let pieces =
        ["-----BEGIN PRIVATE KEY-----", "-eyJaaaaaaaaaa", "password=", "://a:", "sk-ant-", "4 ", "bearer a", "."];
    for piece in pieces {
        let time = |bytes: usize| {
            let text = piece.repeat(bytes / piece.len());
            let start = std::time::Instant::now();
            STANDARD.redact(&text);
            start.elapsed()
        };
        assert!(time(1 << 18) < std::time::Duration::from_secs(20), "{piece}");
    }
}

proptest! {
    #[test]
    fn redacting_twice_changes_nothing(picks in prop::collection::vec((0_usize..200, "[ =:@/\"'n\\\\.a-]{0,3}"), 1..6)) {
        let planted = all();
        let text: String = picks.iter().map(|(pick, between)| {
            let planted = &planted[pick % planted.len()];
            planted.around.replace("{}", &planted.secret) + between
        }).collect();
        let once = STANDARD.redact(&text);
        let twice = STANDARD.redact(&once.text);
        prop_assert_eq!(twice.found, 0, "{} became {}", once.text, twice.text);
    }
}
