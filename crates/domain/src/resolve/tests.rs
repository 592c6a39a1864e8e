use proptest::prelude::*;
use serde_json::json;

use super::*;

fn candidate(id: u128, name: &str, name_match: NameMatch, score: f64) -> Candidate {
    let entity_id = EntityId(Uuid::from_u128(id));
    let entity_type = EntityType::Person;
    Candidate { entity_id, canonical_name: name.to_owned(), entity_type, score, name_match, aliases: vec![] }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_owned()).collect()
}

#[test]
fn tiers_and_their_base_scores() {
    let of = |name| NameMatch::of(name, "Chloe Martin", &["Clo", "Ms Martin"]);
    assert_eq!(of("chloe MARTIN"), Some(NameMatch::Exact));
    assert_eq!(of("clo"), Some(NameMatch::Alias));
    assert_eq!(of("Chl"), Some(NameMatch::Prefix));
    assert_eq!(of("mart"), Some(NameMatch::Prefix), "a substring counts too");
    assert_eq!(of("Zoe"), None);
    let scores: Vec<_> = [NameMatch::Exact, NameMatch::Alias, NameMatch::Prefix, NameMatch::Fuzzy]
        .iter()
        .map(|m| m.base_score())
        .collect();
    assert_eq!(scores, [100.0, 80.0, 50.0, 20.0]);
}

#[test]
fn fuzzy_matching_requires_the_option_and_at_least_3_characters() {
    assert!(fuzzy_applies("Zoë", true));
    assert!(!fuzzy_applies("Zo", true));
    assert!(!fuzzy_applies("Chloe", false));
}

#[test]
fn an_empty_or_too_long_name_is_an_error() {
    assert!(entity_name("name", " \0\n").is_err());
    assert!(entity_name("name", &"x".repeat(10_000)).is_err());
    assert_eq!(entity_name("name", " Ada \n Lovelace ").unwrap(), "Ada Lovelace");
}

#[test]
fn graph_neighborhood_scoring_with_context_hints() {
    let hints = Hints::parse(&json!({"topic": "chess club", "mentioned_with": ["Bob"]})).unwrap();
    assert!(hints.needs_neighbourhood());
    let all = hints.neighbourhood_boost(["plays_at the chess", "club with Bob"]);
    assert!((all - 20.0 * 3.0 / 4.0).abs() < 1e-12, "chess, club, bob of chess, club, bob, plays: {all}");
    assert_eq!(hints.neighbourhood_boost(["chess club bob"]), 20.0);
    assert_eq!(hints.neighbourhood_boost::<&str>([]), 0.0);
}

#[test]
fn domain_scores_from_context_hints() {
    let id = EntityId(Uuid::from_u128(5));
    let hints = Hints::parse(&json!({"domain_scores": {id.to_string(): 12.5}, "mood": "ignored"})).unwrap();
    assert_eq!(hints.domain_score(id), 12.5);
    assert_eq!(hints.domain_score(EntityId(Uuid::nil())), 0.0);
    assert!(!hints.needs_neighbourhood());
    assert!(Hints::parse(&json!({"domain_scores": {"x": 1}})).is_err());
    assert!(Hints::parse(&json!({"domain_scores": {id.to_string(): "high"}})).is_err());
    assert!(Hints::parse(&json!({"topic": 5})).is_err());
    assert!(Hints::parse(&json!({"mentioned_with": {"a": 1}})).is_err());
    assert_eq!(Hints::parse(&json!(null)), Ok(Hints::default()));
}

#[test]
fn resolution_ordering() {
    let ranked = rank(vec![
        candidate(1, "Zed", NameMatch::Prefix, 50.0),
        candidate(2, "Ann", NameMatch::Prefix, 50.000_04),
        candidate(3, "Bob", NameMatch::Alias, 80.123_456),
        candidate(3, "Bob", NameMatch::Prefix, 50.0),
    ]);
    let got: Vec<_> = ranked.iter().map(|c| (c.canonical_name.as_str(), c.score)).collect();
    assert_eq!(got, [("Bob", 80.1235), ("Ann", 50.0), ("Zed", 50.0)]);
}

#[test]
fn alias_and_metadata_merging() {
    let merged = merge_aliases("Chloe", &names(&["Clo", "CLO"]), "Chloé M.", &names(&["clo", "CHLOE", "Em", " "]));
    assert_eq!(merged.aliases, names(&["Clo", "Em", "Chloé M."]));
    assert_eq!(merged.added, names(&["Em", "Chloé M."]));
    let map = |v: Value| v.as_object().unwrap().clone();
    let metadata = merge_metadata(&map(json!({"a": 1})), &map(json!({"a": 2, "b": 3, "merged_into": "x"})));
    assert_eq!(Value::Object(metadata), json!({"a": 1, "b": 3}));
}

proptest! {
    #[test]
    fn the_boost_stays_within_0_and_20(topic in "[a-f ]{0,20}", facts in prop::collection::vec("[a-f _]{0,20}", 0..6)) {
        let boost = Hints::parse(&json!({"topic": topic})).unwrap().neighbourhood_boost(&facts);
        prop_assert!((0.0..=NEIGHBOURHOOD_BOOST).contains(&boost));
    }

    #[test]
    fn a_merge_keeps_every_name_exactly_once(
        target in prop::collection::vec("[abAB]{1,2}", 0..6), source in prop::collection::vec("[abAB]{1,2}", 0..6),
    ) {
        let merged = merge_aliases("a", &target, "bb", &source);
        let mut lower: Vec<_> = merged.aliases.iter().map(|a| a.to_lowercase()).collect();
        for name in target.iter().chain(&source) {
            prop_assert!(name.to_lowercase() == "a" || lower.contains(&name.to_lowercase()));
        }
        lower.sort();
        prop_assert!(lower.windows(2).all(|w| w[0] != w[1]));
        let again = merge_aliases("a", &merged.aliases, "bb", &source);
        prop_assert_eq!(&again.aliases, &merged.aliases);
        prop_assert!(again.added.is_empty());
    }
}
