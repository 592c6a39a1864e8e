use butler_testkit::MemoryFixture;
use serde_json::json;

use super::{fact, merge, person, ranking, resolve, rows, set_fact};

fn line(name: &str, tier: &str, score: f64) -> (String, String, f64) {
    (name.to_owned(), tier.to_owned(), score)
}

#[tokio::test]
async fn exact_canonical_name_match_tier_1() {
    let memory = MemoryFixture::new().await;
    person(&memory, "Chloe", &[]).await;
    assert_eq!(ranking(&memory, json!({ "name": "cHLOE" })).await, [line("Chloe", "exact", 100.0)]);
}

#[tokio::test]
async fn a_name_is_found_regardless_of_its_accent_encoding() {
    let memory = MemoryFixture::new().await;
    let composed = person(&memory, "Zo\u{e9}", &["Zoe\u{308}"]).await;
    for (name, tier, score) in
        [("zoe\u{301}", "exact", 100.0), ("zo\u{e9}", "exact", 100.0), ("zo\u{eb}", "alias", 80.0)]
    {
        assert_eq!(ranking(&memory, json!({ "name": name })).await, [line("Zo\u{e9}", tier, score)], "{name:?}");
    }
    let again = json!({ "canonical_name": "Zoe\u{301}", "entity_type": "person" });
    let refused = memory.call("entity_create", again).await.unwrap_err();
    assert!(refused.message.contains(&composed), "{}", refused.message);
}

#[tokio::test]
async fn exact_alias_match_tier_2() {
    let memory = MemoryFixture::new().await;
    person(&memory, "Elizabeth Windsor", &["Lilibet", "Cabbage"]).await;
    assert_eq!(ranking(&memory, json!({ "name": "LILIBET" })).await, [line("Elizabeth Windsor", "alias", 80.0)]);
}

#[tokio::test]
async fn prefix_substring_match_tier_3() {
    let memory = MemoryFixture::new().await;
    person(&memory, "Chloe Martin", &["The Boss"]).await;
    person(&memory, "Anna", &[]).await;
    for part in ["chl", "martin", "e M", "boss", "he b", "o"] {
        assert_eq!(ranking(&memory, json!({ "name": part })).await, [line("Chloe Martin", "prefix", 50.0)], "{part}");
    }
    assert!(resolve(&memory, json!({ "name": "martin boss" })).await.is_empty(), "a match does not span two names");
}

#[tokio::test]
async fn fuzzy_match_tier_4_opt_in() {
    let memory = MemoryFixture::new().await;
    person(&memory, "Katherine Johnson", &["Computer"]).await;
    person(&memory, "Bo", &[]).await;
    let misspelled = json!({ "name": "Katherin Jonson", "enable_fuzzy": true });
    assert_eq!(ranking(&memory, misspelled).await, [line("Katherine Johnson", "fuzzy", 20.0)]);
    let alias = json!({ "name": "Compuder", "enable_fuzzy": true });
    assert_eq!(ranking(&memory, alias).await, [line("Katherine Johnson", "fuzzy", 20.0)], "aliases, too");
    assert!(resolve(&memory, json!({ "name": "Katherin Jonson" })).await.is_empty(), "only with enable_fuzzy");
    assert!(resolve(&memory, json!({ "name": "Bi", "enable_fuzzy": true })).await.is_empty(), "more than 2 characters");
}

#[tokio::test]
async fn a_fuzzy_candidate_found_in_an_earlier_tier_stays_there() {
    let memory = MemoryFixture::new().await;
    person(&memory, "Katherine", &[]).await;
    person(&memory, "Katharine", &[]).await;
    person(&memory, "Katherine Johnson", &[]).await;
    let found = ranking(&memory, json!({ "name": "katherine", "enable_fuzzy": true })).await;
    let expected = [
        line("Katherine", "exact", 100.0),
        line("Katherine Johnson", "prefix", 50.0),
        line("Katharine", "fuzzy", 20.0),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn without_pg_trgm_fuzzy_search_adds_nothing_and_the_other_tiers_work() {
    let memory = MemoryFixture::new().await;
    person(&memory, "Katherine Johnson", &["Kat"]).await;
    memory.db.execute("DROP EXTENSION pg_trgm CASCADE").await;
    assert!(resolve(&memory, json!({ "name": "Katherin Jonson", "enable_fuzzy": true })).await.is_empty());
    for (name, tier) in [("katherine johnson", "exact"), ("kat", "alias"), ("johns", "prefix")] {
        assert_eq!(ranking(&memory, json!({ "name": name, "enable_fuzzy": true })).await[0].1, tier);
    }
    person(&memory, "New Name", &[]).await;
    // After the extension is installed, it works with the next call.
    memory.db.execute("CREATE EXTENSION pg_trgm; SELECT create_entity_trigrams()").await;
    assert_eq!(resolve(&memory, json!({ "name": "Katherin Jonson", "enable_fuzzy": true })).await.len(), 1);
}

#[tokio::test]
async fn graph_neighborhood_scoring_with_context_hints() {
    let memory = MemoryFixture::new().await;
    let chess = person(&memory, "Anna Berg", &[]).await;
    let sailing = person(&memory, "Anna Dahl", &[]).await;
    fact(&memory, &chess, "plays_at", "the chess club with Bob").await;
    fact(&memory, &sailing, "owns", "a boat in the harbour").await;
    // One candidate shares chess, club and bob out of plays, chess, club and bob; the other shares nothing.
    let hints = json!({ "topic": "Chess club", "mentioned_with": ["Bob"] });
    let found = ranking(&memory, json!({ "name": "anna", "context_hints": hints })).await;
    assert_eq!(found, [line("Anna Berg", "prefix", 65.0), line("Anna Dahl", "prefix", 50.0)]);
    let hints = json!({ "topic": "boat" });
    assert_eq!(ranking(&memory, json!({ "name": "anna", "context_hints": hints })).await[0].0, "Anna Dahl");
}

#[tokio::test]
async fn the_neighborhood_consists_of_at_most_500_active_facts() {
    let memory = MemoryFixture::new().await;
    let anna = person(&memory, "Anna", &[]).await;
    let old = fact(&memory, &anna, "plays", "chess").await;
    set_fact(&memory, &old, "validity = 'retracted'").await;
    let hints = json!({ "topic": "chess" });
    assert_eq!(ranking(&memory, json!({ "name": "anna", "context_hints": hints })).await[0].2, 100.0);
    set_fact(&memory, &old, "validity = 'active', created_at = '2020-01-01'").await;
    let sql = format!(
        "INSERT INTO facts (subject, predicate, content, entity_id, scope)
         SELECT 's', 'sails', 'sails', '{anna}', 's' || i FROM generate_series(1, 500) i"
    );
    memory.db.execute(&sql).await;
    assert_eq!(ranking(&memory, json!({ "name": "anna", "context_hints": hints })).await[0].2, 100.0, "the newest 500");
    let sails = json!({ "topic": "sails" });
    assert_eq!(ranking(&memory, json!({ "name": "anna", "context_hints": sails })).await[0].2, 120.0);
}

#[tokio::test]
async fn domain_scores_from_context_hints() {
    let memory = MemoryFixture::new().await;
    let exact = person(&memory, "Anna", &[]).await;
    let other = person(&memory, "Joanna", &[]).await;
    let stranger = person(&memory, "Zoe", &[]).await;
    let hints = json!({ "domain_scores": { other.clone(): 60.123456, exact.clone(): -0.5, stranger: 500 } });
    let found = ranking(&memory, json!({ "name": "anna", "context_hints": hints })).await;
    assert_eq!(found, [line("Joanna", "prefix", 110.1235), line("Anna", "exact", 99.5)]);
}

#[tokio::test]
async fn an_entity_with_a_domain_score_is_always_a_candidate() {
    let memory = MemoryFixture::new().await;
    memory
        .db
        .execute(
            "INSERT INTO entities (canonical_name, entity_type)
             SELECT 'Anna ' || to_char(i, 'FM0000'), 'person' FROM generate_series(1, 1500) i",
        )
        .await;
    let last = person(&memory, "Susanna", &[]).await;
    let plain = resolve(&memory, json!({ "name": "anna" })).await;
    assert_eq!(plain.len(), 100, "the maximum of one call");
    assert_eq!(plain[0]["canonical_name"], "Anna 0001");
    let hints = json!({ "domain_scores": { last: 5 } });
    let found = ranking(&memory, json!({ "name": "anna", "context_hints": hints, "enable_fuzzy": true })).await;
    assert_eq!((found.len(), &found[0]), (100, &line("Susanna", "prefix", 55.0)));
}

#[tokio::test]
async fn resolution_ordering() {
    let memory = MemoryFixture::new().await;
    person(&memory, "Bella Anna", &[]).await;
    person(&memory, "Aella Anna", &[]).await;
    person(&memory, "Hannah", &["anna"]).await;
    person(&memory, "ANNA", &[]).await;
    let found = ranking(&memory, json!({ "name": "Anna" })).await;
    let expected = [
        line("ANNA", "exact", 100.0),
        line("Hannah", "alias", 80.0),
        line("Aella Anna", "prefix", 50.0),
        line("Bella Anna", "prefix", 50.0),
    ];
    assert_eq!(found, expected);
    let first = &resolve(&memory, json!({ "name": "Anna" })).await[1];
    let mut keys: Vec<_> = first.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["aliases", "canonical_name", "entity_id", "entity_type", "name_match", "score"]);
    assert_eq!(first["aliases"], json!(["anna"]));
}

#[tokio::test]
async fn no_candidates_found_is_an_empty_list_and_creates_nothing() {
    let memory = MemoryFixture::new().await;
    assert!(resolve(&memory, json!({ "name": "Nobody", "enable_fuzzy": true })).await.is_empty());
    assert!(rows(&memory, "SELECT id FROM entities").await.is_empty());
}

#[tokio::test]
async fn tombstoned_entities_are_excluded() {
    let memory = MemoryFixture::new().await;
    let source = person(&memory, "Chloe M.", &["Clo"]).await;
    let target = person(&memory, "Chloe Martin", &[]).await;
    merge(&memory, &source, &target).await.unwrap();
    for name in ["Chloe M.", "clo", "chloe", "Cloe M"] {
        let found = resolve(&memory, json!({ "name": name, "enable_fuzzy": true })).await;
        let ids: Vec<_> = found.iter().map(|c| c["entity_id"].as_str().unwrap()).collect();
        assert_eq!(ids, [target.as_str()], "{name}");
    }
}

#[tokio::test]
async fn entity_type_filters() {
    let memory = MemoryFixture::new().await;
    person(&memory, "Paris", &[]).await;
    super::create(&memory, json!({ "canonical_name": "Paris", "entity_type": "place" })).await;
    let places = resolve(&memory, json!({ "name": "paris", "entity_type": "place", "enable_fuzzy": true })).await;
    assert_eq!(places.len(), 1);
    assert_eq!(places[0]["entity_type"], "place");
    assert_eq!(resolve(&memory, json!({ "name": "paris" })).await.len(), 2);
}

#[tokio::test]
async fn wildcards_and_backslashes_are_ordinary_characters() {
    let memory = MemoryFixture::new().await;
    person(&memory, "100% Oat_milk", &[]).await;
    person(&memory, r"back\slash", &[]).await;
    person(&memory, "plain", &[]).await;
    for (name, found) in [
        ("%", 1),
        ("_", 1),
        ("0%", 1),
        ("oat_", 1),
        ("%oat", 0),
        ("p%n", 0),
        ("pl_in", 0),
        (r"\", 1),
        (r"k\s", 1),
        (r"\%", 0),
    ] {
        assert_eq!(resolve(&memory, json!({ "name": name })).await.len(), found, "{name}");
    }
}

#[tokio::test]
async fn case_is_ignored_in_every_script() {
    let memory = MemoryFixture::new().await;
    for name in ["Chloé Müller", "Ærøskøbing", "Ελένη Παπαδοπούλου", "Ольга Петрова", "王芳"]
    {
        person(&memory, name, &[]).await;
        let tier = |name: String| {
            let memory = &memory;
            async move { ranking(memory, json!({ "name": name })).await.first().map(|found| found.1.clone()) }
        };
        assert_eq!(tier(name.to_owned()).await.as_deref(), Some("exact"), "{name}");
        assert_eq!(tier(name.to_lowercase()).await.as_deref(), Some("exact"), "{name}");
        let part: String = name.chars().skip(1).take(3).collect::<String>().to_uppercase();
        assert_eq!(tier(part).await.as_deref(), Some("prefix"), "{name}");
    }
}
