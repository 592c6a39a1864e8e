use std::time::{Duration, Instant};

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::ids::{EpisodeId, FactId};
use crate::kinds::Permanence;
use crate::tenant::{Butler, TenantId};

mod corpus;

const ID: &str = "0190b3c4-7a5e-7f00-8000-000000000001";

fn id() -> Uuid {
    ID.parse().unwrap()
}

const ANSWER: &str = r#"{
  "new_facts": [{"subject": "user", "predicate": "likes", "content": "tea {hot}", "permanence": "stable",
    "importance": 7, "tags": ["drink"], "episode_ids": ["0190b3c4-7a5e-7f00-8000-000000000001"]}],
  "updated_facts": [{"target_id": "0190b3c4-7a5e-7f00-8000-000000000001", "subject": "user", "predicate": "city",
    "content": "Bern"}],
  "new_rules": [{"content": "Ask first", "tags": []}],
  "confirmations": ["0190b3c4-7a5e-7f00-8000-000000000001"]
}"#;

fn check_answer(output: &str) {
    let result = parse(output);
    assert_eq!(result.parse_errors, Vec::<String>::new(), "{output}");
    assert!(result.answered);
    let fact = &result.new_facts[0];
    assert_eq!((fact.subject.as_str(), fact.content.as_str(), fact.importance), ("user", "tea {hot}", Some(7.0)));
    assert_eq!((fact.permanence, &fact.tags), (Some(Permanence::Stable), &Some(vec!["drink".to_owned()])));
    assert_eq!(fact.episode_ids, [EpisodeId(id())]);
    let updated = &result.updated_facts[0];
    assert_eq!((updated.target_id, updated.permanence, updated.importance), (FactId(id()), None, None));
    assert_eq!(result.new_rules[0].content, "Ask first");
    assert_eq!(result.confirmations, [Confirmation { id: id(), episode_ids: vec![] }]);
}

#[test]
fn parse_fenced_json_code_block() {
    check_answer(&format!("Here is what I found:\n```json\n{ANSWER}\n```\nI hope {{this}} helps."));
    check_answer(&format!("```\n{ANSWER}\n```"));
    check_answer(&format!("```JSON\n{ANSWER}"));
}

#[test]
fn parse_bare_json_object() {
    check_answer(ANSWER);
    check_answer(&format!("Sure: {ANSWER} Done."));
    check_answer(&format!("Thinking about {{placeholders}} and {{\"a\": 1}}: {ANSWER}"));
    check_answer(&format!("{{\"result\": {ANSWER}}}"));
}

#[test]
fn several_answers_are_merged_and_a_later_action_replaces_an_earlier_one() {
    check_answer(&format!("```python\nx = {{'a': 1}}\n```\n```json\n{ANSWER}\n```\n```\nthat is all\n```"));
    let fact = |subject: &str, content: &str| {
        format!(r#"{{"new_facts": [{{"subject": "{subject}", "predicate": "likes", "content": "{content}"}}]}}"#)
    };
    let contents = |text: &str| -> Vec<String> { parse(text).new_facts.into_iter().map(|fact| fact.content).collect() };
    let (draft, last) = (fact("Ann", "draft"), fact("ann", "final"));
    assert_eq!(contents(&format!("{draft} or rather\n```json\n{last}\n```")), ["final"]);
    assert_eq!(contents(&format!("{draft} and {}", fact("Bo", "also"))), ["draft", "also"]);
    assert_eq!(contents(&format!("Nothing is {{\"new_facts\": []}}. But: {draft}")), ["draft"]);
    assert_eq!(contents(&format!("{draft} or {{\"new_facts\": []}}")), ["draft"]);
    let update = format!(
        r#"{{"updated_facts": [{{"target_id": "{ID}", "subject": "Ann", "predicate": "likes", "content": "x"}}]}}"#
    );
    let result = parse(&format!("{draft} {{\"confirmations\": [\"{ID}\"]}} {update}"));
    assert_eq!((result.new_facts.len(), result.confirmations.len(), result.updated_facts.len()), (0, 0, 1));
}

#[test]
fn an_incomplete_answer_neither_hides_a_complete_one_nor_is_lost() {
    let fact = |subject: &str| format!(r#"{{"subject": "{subject}", "predicate": "likes", "content": "tea"}}"#);
    let subjects = |text: &str| -> Vec<String> { parse(text).new_facts.into_iter().map(|fact| fact.subject).collect() };
    let partial = format!(r#"{{"new_facts": [{}, {{"subject": "Bo", "cont"#, fact("Ann"));
    let full = format!(r#"{{"new_facts": [{}]}}"#, fact("Cy"));
    assert_eq!(subjects(&format!("{partial}\nI start again:\n{full}")), ["Cy"], "a false start");
    assert_eq!(subjects(&format!("{full}\nand\n{partial}")), ["Ann", "Cy"], "cut off at the end");
    let nothing = parse("{\"new_facts\": [\nI start again: {\"new_facts\": []}");
    assert_eq!((nothing.answered, nothing.dropped), (true, 0), "{nothing:?}");
    let lost = parse("Nothing is {\"new_facts\": []}. But: {\"new_facts\": [{\"subject\": \"An");
    assert_eq!((lost.answered, lost.action_count(), lost.dropped), (true, 0, 1), "{lost:?}");
}

#[test]
fn repaired_syntax_and_empty_lists_do_not_count_as_dropped() {
    for (output, dropped) in [
        (r#"{"new_facts": null, "new_rules": []}"#, 0),
        ("{'new_facts': [],}", 0),
        (r#"{"new_facts": [{"subject": "a"}]}"#, 1),
        (r#"{"new_facts": 5, "confirmations": ["x", 7]}"#, 3),
        (r#"{"new_facts": ["#, 1),
    ] {
        let result = parse(output);
        assert_eq!((result.answered, result.action_count(), result.dropped), (true, 0, dropped), "{output}");
    }
}

#[test]
fn no_json_found() {
    for output in ["", "I found nothing.", "a { b", "{", "use {name} here", "[1, 2]", "``````", "}{"] {
        let result = parse(output);
        assert_eq!(result.parse_errors, ["No JSON block found in consolidation output"], "{output:?}");
        assert_eq!(result.action_count(), 0);
        assert!(!result.answered);
    }
}

#[test]
fn an_object_without_a_known_key_is_not_an_answer() {
    for output in ["{}", r#"{"facts": []}"#] {
        let result = parse(output);
        assert!(!result.answered);
        assert!(result.parse_errors[0].contains("new_facts, updated_facts"), "{:?}", result.parse_errors);
    }
    assert!(parse(r#"{"new_facts": [], "new_rules": []}"#).answered, "nothing to learn is an answer");
}

fn facts(list: &str) -> ConsolidationResult {
    parse(&format!("{{\"new_facts\": {list}}}"))
}

#[test]
fn new_fact_validation() {
    let result = facts(
        r#"[{"subject": "a", "predicate": "b"}, {"subject": " ", "predicate": "b", "content": "c"},
        {"subject": "a", "predicate": "b", "content": null}, "x", {"subject": "a", "predicate": "b", "content": "c"}]"#,
    );
    assert_eq!(result.new_facts.len(), 1);
    assert_eq!(
        result.parse_errors,
        [
            "new_facts[0].content: missing",
            "new_facts[1].subject: must not be empty",
            "new_facts[2].content: missing",
            "new_facts[3]: must be an object, not a string",
        ]
    );
    let fact = &result.new_facts[0];
    assert_eq!((fact.permanence, fact.importance, &fact.tags), (None, None, &None), "those of what it supersedes");
}

#[test]
fn importance_is_clamped_and_what_is_invalid_or_missing_stays_open() {
    let one = |fields: &str| facts(&format!(r#"[{{"subject": "a", "predicate": "b", "content": "c", {fields}}}]"#));
    let result = one(r#""permanence": "forever", "importance": "high", "tags": "x""#);
    let fact = &result.new_facts[0];
    assert_eq!((fact.permanence, fact.importance, &fact.tags), (None, None, &None), "those of what it supersedes");
    assert_eq!(result.parse_errors.len(), 3, "{:?}", result.parse_errors);
    assert!(result.parse_errors[0].starts_with("new_facts[0].permanence: unknown permanence \"forever\""));
    for (given, clamped) in [
        ("99", Some(10.0)),
        ("-3", Some(1.0)),
        ("\"8\"", Some(8.0)),
        ("0.5", Some(1.0)),
        ("null", None),
        ("1e999", None),
    ] {
        assert_eq!(one(&format!(r#""importance": {given}"#)).new_facts[0].importance, clamped, "{given}");
    }
    let mixed = one(r#""tags": ["ok", 5, null, ""]"#);
    assert_eq!(mixed.new_facts[0].tags, Some(vec!["ok".to_owned()]));
    assert_eq!(mixed.parse_errors.len(), 3);
}

#[test]
fn wrong_types_become_parse_errors_and_valid_actions_are_kept() {
    let result = parse(
        r#"{"new_facts": null, "updated_facts": 5, "new_rules": {"content": 42}, "confirmations": [7, "x", {"id": "0190b3c4-7a5e-7f00-8000-000000000001"}]}"#,
    );
    assert_eq!(
        result.parse_errors,
        [
            "new_facts: must be a list, not null",
            "updated_facts: must be a list, not a number",
            "new_rules: an object where a list was expected; read as a list of one",
            "new_rules[0].content: a number where text was expected; read as text",
            "confirmations[0]: must be a UUID string, not a number",
            "confirmations[1]: \"x\" is not a UUID",
        ]
    );
    assert_eq!(result.new_rules[0].content, "42");
    assert_eq!(result.confirmations.len(), 1);
}

#[test]
fn updated_fact_validation() {
    let result = parse(
        r#"{"updated_facts": [{"subject": "a", "predicate": "b", "content": "c"}, {"target_id": "17", "subject": "a", "predicate": "b", "content": "c"}]}"#,
    );
    assert!(result.updated_facts.is_empty());
    assert_eq!(
        result.parse_errors,
        ["updated_facts[0].target_id: missing", "updated_facts[1].target_id: \"17\" is not a UUID"]
    );
}

#[test]
fn confirmation_validation() {
    let result = parse(&format!(r#"{{"confirmations": ["{ID}", "nope", "{ID}"]}}"#));
    assert_eq!(result.confirmations.len(), 1, "a repeated confirmation counts once");
    assert_eq!(result.parse_errors, ["confirmations[1]: \"nope\" is not a UUID"]);
}

#[test]
fn truncated_output_keeps_the_complete_actions() {
    let cut = r#"```json
{"new_facts": [{"subject": "a", "predicate": "b", "content": "c"}, {"subject": "a", "predicate": "b", "content": "c"#;
    let result = parse(cut);
    assert_eq!(result.new_facts.len(), 1);
    assert!(result.parse_errors.iter().any(|e| e.contains("cut off")), "{:?}", result.parse_errors);
}

#[test]
fn trailing_commas_comments_and_single_quotes_are_repaired_and_reported() {
    let result = parse("{'new_rules': [{'content': 'Don't rush',},], // done\n}");
    assert_eq!(result.new_rules[0].content, "Don't rush");
    for repair in ["single quotes", "trailing comma", "comment"] {
        assert!(result.parse_errors.iter().any(|e| e.contains(repair)), "{repair}: {:?}", result.parse_errors);
    }
}

#[test]
fn the_parser_removes_nul() {
    let result = facts(r#"[{"subject": "a\u0000", "predicate": "b", "content": "c\u0000d", "tags": ["t\u0000"]}]"#);
    let fact = &result.new_facts[0];
    assert_eq!(
        (fact.subject.as_str(), fact.content.as_str(), fact.tags.as_deref()),
        ("a", "cd", Some(["t".to_owned()].as_slice()))
    );
}

#[test]
fn adversarial_output_is_read_in_linear_time_and_bounded_space() {
    let patterns = [
        "{",
        "[",
        "{\"a\":",
        "\"",
        "{\"new_facts\":[",
        "```\n",
        "{'",
        "\\",
        "1/**/",
        "{}",
        "{a",
        "/*",
        "}",
        "{\"a\":{",
        "{ ",
        "' ",
        "a,",
        "\\u00",
        ",  ",
    ];
    for pattern in patterns {
        for prefix in ["", "{\"new_facts\": [", "{\"x\": \""] {
            let text = format!("{prefix}{}", pattern.repeat(60_000 / pattern.len()));
            let start = Instant::now();
            let result = parse(&text);
            // Linear time is below a second even in a debug build on a busy machine; quadratic time is minutes.
            assert!(start.elapsed() < Duration::from_secs(20), "{prefix}{pattern}: {:?}", start.elapsed());
            assert!(result.parse_errors.len() <= 101);
        }
    }
    assert_eq!(parse(&"{".repeat(10_000_000)).parse_errors, [NO_JSON]);
    let many = format!("{{\"new_rules\": [{}]}}", "{\"content\": \"r\"},".repeat(20_000));
    assert_eq!(parse(&many).new_rules.len(), 1000);
}

#[test]
fn idempotency_keys_depend_on_the_statement_and_the_batch() {
    let tenant = TenantId::default();
    let butler = Butler::new("health").unwrap();
    let result = parse(ANSWER);
    let batch = [EpisodeId(Uuid::from_u128(2)), EpisodeId(Uuid::from_u128(1))];
    let sorted = [batch[1], batch[0], batch[0]];
    let fact = &result.new_facts[0];
    let key = idempotency_key(&tenant, &butler, &batch, Action::NewFact(fact));
    assert_eq!(key, idempotency_key(&tenant, &butler, &sorted, Action::NewFact(fact)));
    let regraded = NewFact { importance: Some(1.0), ..fact.clone() };
    assert_eq!(key, idempotency_key(&tenant, &butler, &batch, Action::NewFact(&regraded)));
    let moved = NewFact { subject: "userl".to_owned(), predicate: "ikes".to_owned(), ..fact.clone() };
    let others = [
        idempotency_key(&tenant, &butler, &batch[..1], Action::NewFact(fact)),
        idempotency_key(&tenant, &butler, &batch, Action::NewFact(&moved)),
        idempotency_key(&TenantId::new("b").unwrap(), &butler, &batch, Action::NewFact(fact)),
        idempotency_key(&tenant, &butler, &batch, Action::UpdatedFact(&result.updated_facts[0])),
        idempotency_key(&tenant, &butler, &batch, Action::NewRule(&result.new_rules[0])),
        idempotency_key(&tenant, &butler, &batch, Action::Confirmation(&result.confirmations[0])),
    ];
    assert!(!others.contains(&key));
    assert_eq!(
        key.to_string(),
        "bf71f9ba-f100-5bf5-a9f9-d4dfadf83e8b",
        "if a release changed the key, it would apply actions twice"
    );
}

proptest! {
    #[test]
    fn no_input_makes_the_parser_panic(text in "(\\PC|[{}\\[\\]\"',:`\\\\\n/*]|new_facts|confirmations|```json\n){0,80}") {
        let result = parse(&text);
        prop_assert!(result.answered || !result.parse_errors.is_empty());
    }

    #[test]
    fn a_truncated_answer_loses_only_incomplete_actions(at in 0..ANSWER.len()) {
        let full = parse(ANSWER);
        let part = parse(&ANSWER[..ANSWER.floor_char_boundary(at)]);
        prop_assert!(full.new_facts.starts_with(&part.new_facts));
        prop_assert!(full.updated_facts.starts_with(&part.updated_facts));
        prop_assert!(full.new_rules.starts_with(&part.new_rules));
        prop_assert!(full.confirmations.starts_with(&part.confirmations));
        prop_assert!(!part.parse_errors.is_empty());
    }

    #[test]
    fn every_kept_action_is_valid(items in prop::collection::vec("\\{(\"(subject|predicate|content|importance|tags)\": (\"[a-z ]{0,3}\"|[0-9]{1,3}|null|\\[\\]),? ?){0,5}\\}", 0..5)) {
        for fact in facts(&format!("[{}]", items.join(", "))).new_facts {
            prop_assert!(!fact.subject.is_empty() && !fact.predicate.is_empty() && !fact.content.is_empty());
            prop_assert!(fact.importance.is_none_or(|importance| (1.0..=10.0).contains(&importance)));
        }
    }
}
