//! The words of a tenant's memories, and the correction of misspelled words.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use butler_domain::{TenantId, Timestamp};
use butler_store::browse::Page;
use butler_store::browse::facts::{self, FactFilter};
use butler_store::browse::palette::{self, FoundKind};
use butler_testkit::TestDb;
use sqlx::{Connection, PgConnection};

const CONTENTS: [&str; 6] = [
    "Solveig Grønning bakes with cardamom",
    "Migrated the billing service to TypeScript",
    "Karin Lindqvist marinated the salmon",
    "Peanuts are dangerous for Zoë",
    "The company moved to Reykjavík",
    "The mail arrives at noon",
];

async fn insert(conn: &mut PgConnection, tenant: &str, contents: &[&str]) {
    sqlx::query(
        "INSERT INTO facts (tenant_id, subject, predicate, content, search_vector)
         SELECT $1, 'note', 'p' || md5(c), c, memory_search_vector(c) FROM unnest($2::text[]) AS c",
    )
    .bind(tenant)
    .bind(contents)
    .execute(conn)
    .await
    .unwrap();
}

async fn stored() -> TestDb {
    let db = TestDb::new().await;
    insert(&mut db.connect().await, "default", &CONTENTS).await;
    db
}

/// The near words of each typed one, best first.
async fn near(db: &TestDb, tenant: &str, typed: &[&str]) -> Vec<(String, f64)> {
    sqlx::query_as("SELECT word, factor FROM near_words($1, $2)")
        .bind(tenant)
        .bind(typed)
        .fetch_all(&mut db.connect().await)
        .await
        .unwrap()
}

async fn best(db: &TestDb, typed: &str) -> Option<String> {
    near(db, "default", &[typed]).await.into_iter().next().map(|(word, _)| word)
}

async fn words(db: &TestDb, tenant: &str) -> Vec<String> {
    sqlx::query_scalar("SELECT word FROM words WHERE tenant_id = $1 ORDER BY word")
        .bind(tenant)
        .fetch_all(&mut db.connect().await)
        .await
        .unwrap()
}

const SLIPS: [(&str, &str); 9] = [
    ("Gronning", "grønning"),
    ("Lindquist", "lindqvist"),
    ("typsecript", "typescript"),
    ("cardamon", "cardamom"),
    ("reykjavik", "reykjavík"),
    ("slamon", "salmon"),
    ("pnuts", "peanuts"),
    ("dangeruos", "dangerous"),
    ("biling", "billing"),
];

#[tokio::test]
async fn a_misspelled_word_is_near_the_right_one() {
    let db = stored().await;
    for (typed, word) in SLIPS {
        assert_eq!(best(&db, typed).await.as_deref(), Some(word), "{typed}");
    }
    for (_, factor) in near(&db, "default", &SLIPS.map(|(typed, _)| typed)).await {
        assert!(factor > 0.0 && factor < 1.0, "{factor}");
    }
    let accent = near(&db, "default", &["gronning"]).await[0].1;
    let slip = near(&db, "default", &["gronnimg"]).await[0].1;
    assert!(accent > slip, "a missing accent is less than a slip");
}

#[tokio::test]
async fn a_word_without_accents_stands_for_the_tenants_words_that_only_differ_by_accents() {
    let db = stored().await;
    let mut pg = db.connect().await;
    let mut accented = async |tenant: &str| -> Vec<String> {
        let typed = ["gronning", "reykjavik", "salmon", "grøn"];
        sqlx::query_scalar("SELECT concat_ws(' ', typed, word, factor) FROM accented_words($1, $2)")
            .bind(tenant)
            .bind(&typed[..])
            .fetch_all(&mut pg)
            .await
            .unwrap()
    };
    assert_eq!(accented("default").await, ["gronning grønning 0.95", "reykjavik reykjavík 0.95"]);
    assert!(accented("other").await.is_empty());
    insert(&mut db.connect().await, "default", &["Gronning, as typed"]).await;
    assert_eq!(accented("default").await, ["reykjavik reykjavík 0.95"]);
}

#[tokio::test]
async fn words_that_the_memories_contain_in_any_form_are_not_corrected() {
    let db = stored().await;
    insert(&mut db.connect().await, "default", &["I wish for a form"]).await;
    assert_eq!(best(&db, "wisch").await.as_deref(), Some("wish"));
    assert!(listed(&db, "with typescript").await.len() == 1, "a stop word is left out");
    for typed in
        ["with", "from", "salmon", "marinating", "marinates", "companies", "bakes", "baking", "grønning", "TypeScript"]
    {
        assert_eq!(best(&db, typed).await, None, "{typed}");
    }
}

#[tokio::test]
async fn words_that_are_only_slightly_alike_are_not_near() {
    let db = stored().await;
    for typed in ["tail", "moon", "nook", "harbour", "manager", "mai", "ab", "", "%_%%", "'; --"] {
        let near = near(&db, "default", &[typed]).await;
        let tolerated = ["mail", "noon"];
        assert!(near.iter().all(|(word, _)| tolerated.contains(&word.as_str())), "{typed}: {near:?}");
    }
    assert!(near(&db, "default", &[]).await.is_empty());
}

#[tokio::test]
async fn a_large_vocabulary_is_searched_by_its_index() {
    let db = stored().await;
    db.execute(
        "INSERT INTO facts (subject, predicate, content)
         SELECT 'note', 'n' || n, translate(md5(n::text), '0123456789', 'ghijklmnop') FROM generate_series(1, 3000) AS n",
    )
    .await;
    for (typed, word) in SLIPS {
        assert_eq!(best(&db, typed).await.as_deref(), Some(word), "{typed}");
    }
    let threshold: String = sqlx::query_scalar(
        "SELECT current_setting('pg_trgm.similarity_threshold') FROM near_words('default', ARRAY['typsecript'])",
    )
    .fetch_one(&mut db.connect().await)
    .await
    .unwrap();
    assert_eq!(threshold, "0.3", "the setting of the connection is left as it was");
}

#[tokio::test]
async fn every_way_of_writing_keeps_the_vocabulary() {
    let db = TestDb::new().await;
    for (statement, expected) in [
        ("INSERT INTO episodes (butler, content) VALUES ('b', 'Walked along the harbour')", "harbour"),
        (
            "INSERT INTO facts (subject, predicate, content) VALUES ('Torvald', 'favourite_drink', 'elderflower')",
            "torvald",
        ),
        ("SELECT 1", "favourite"),
        ("SELECT 1", "elderflower"),
        ("INSERT INTO rules (content) VALUES ('Always confirm')", "confirm"),
        ("UPDATE rules SET content = 'Never interrupt'", "interrupt"),
        (
            "INSERT INTO entities (canonical_name, entity_type, aliases) VALUES ('Ångström Labs', 'organization', '{Spectra}')",
            "ångström",
        ),
        ("SELECT 1", "spectra"),
        ("UPDATE entities SET aliases = '{Prisma}'", "prisma"),
    ] {
        db.execute(statement).await;
        let words = words(&db, "default").await;
        assert!(words.iter().any(|word| word == expected), "{expected} is not in {words:?}");
    }
    db.execute("INSERT INTO episodes (butler, content) SELECT 'b', 'The harbour again, 12345 times: 東京都庁舎 a1b2c3' FROM generate_series(1, 3)").await;
    let words = words(&db, "default").await;
    assert_eq!(words.iter().filter(|word| *word == "harbour").count(), 1, "each word once: {words:?}");
    assert!(words.iter().all(|word| word.chars().all(char::is_alphabetic) && word.chars().count() >= 4), "{words:?}");
}

#[tokio::test]
async fn a_long_text_notes_the_words_of_its_beginning() {
    let db = TestDb::new().await;
    let text = format!("peanut {} walnut", "word ".repeat(200_000));
    insert(&mut db.connect().await, "default", &[&text]).await;
    assert_eq!(words(&db, "default").await, ["note", "peanut", "word"]);
}

#[tokio::test]
async fn tenants_do_not_see_each_others_words() {
    let db = stored().await;
    insert(&mut db.connect().await, "other", &["Nothing alike"]).await;
    assert!(near(&db, "other", &["Gronning", "typsecript"]).await.is_empty());
    assert_eq!(words(&db, "other").await, ["alike", "note", "nothing"]);
}

/// With a unique index on words, each of the two would wait for the other.
#[tokio::test]
async fn two_writers_of_the_same_new_words_do_not_wait_for_each_other() {
    let db = TestDb::new().await;
    let (mut one, mut two) = (db.connect().await, db.connect().await);
    let mut first = one.begin().await.unwrap();
    let mut second = two.begin().await.unwrap();
    let both = async {
        insert(&mut first, "default", &["zebra crossing"]).await;
        insert(&mut second, "default", &["walrus island"]).await;
        insert(&mut first, "default", &["walrus"]).await;
        insert(&mut second, "default", &["zebra"]).await;
        first.commit().await.unwrap();
        second.commit().await.unwrap();
    };
    tokio::time::timeout(Duration::from_secs(30), both).await.expect("neither waits");
    let mut words = words(&db, "default").await;
    words.dedup();
    assert_eq!(words, ["crossing", "island", "note", "walrus", "zebra"]);
    assert_eq!(best(&db, "walrsu").await.as_deref(), Some("walrus"));
    assert_eq!(near(&db, "default", &["walrsu"]).await.len(), 1, "a word that two wrote at once counts once");
}

#[tokio::test]
async fn without_pg_trgm_memories_are_stored_and_nothing_is_corrected() {
    let db = stored().await;
    db.execute("DROP EXTENSION pg_trgm CASCADE").await;
    insert(&mut db.connect().await, "default", &["A new harbour"]).await;
    assert!(near(&db, "default", &["harbuor"]).await.is_empty());
    assert!(listed(&db, "harbuor").await.is_empty());
    assert_eq!(listed(&db, "harbour").await, ["A new harbour"]);
    db.execute("CREATE EXTENSION pg_trgm").await;
    db.database().migrate().await.unwrap();
    assert_eq!(best(&db, "harbuor").await.as_deref(), Some("harbour"));
}

#[tokio::test]
async fn slips_are_counted_as_the_usual_algorithm_counts_them() {
    let db = TestDb::new().await;
    let mut words: Vec<String> = [
        "",
        "a",
        "ab",
        "ba",
        "abc",
        "acb",
        "bca",
        "cardamom",
        "cardamon",
        "caradmon",
        "crdaamom",
        "zoë",
        "zoe",
        "lindqvist",
    ]
    .map(str::to_owned)
    .to_vec();
    // All words of four letters from an alphabet of two.
    words.extend((0..16).map(|n| (0..4).map(|bit| if n >> bit & 1 == 0 { 'a' } else { 'b' }).collect::<String>()));
    let rows: Vec<(String, String, Option<i32>)> =
        sqlx::query_as("SELECT a, b, edit_distance(a, b, 2) FROM unnest($1::text[]) AS a, unnest($1::text[]) AS b")
            .bind(&words)
            .fetch_all(&mut db.connect().await)
            .await
            .unwrap();
    for (one, other, counted) in rows {
        let expected = i32::try_from(strsim::osa_distance(&one, &other)).ok().filter(|distance| *distance <= 2);
        assert_eq!(counted, expected, "{one} and {other}");
    }
}

fn now() -> Timestamp {
    "2030-01-15T12:00:00Z".parse().unwrap()
}

/// The contents of the list of facts for what a person typed.
async fn listed(db: &TestDb, typed: &str) -> Vec<String> {
    let tenant = TenantId::default();
    let mut conn = db.database().reader(&tenant).await.unwrap();
    let filter = FactFilter { words: Some(typed.to_owned()), ..FactFilter::default() };
    let page = Page { limit: 20, offset: 0, after: None };
    let listed = facts::list(&mut conn, &tenant, &filter, page, now()).await.unwrap();
    assert_eq!(listed.total as usize, listed.rows.len());
    listed.rows.into_iter().map(|item| item.fact.content).collect()
}

#[tokio::test]
async fn the_list_of_facts_finds_what_was_misspelled() {
    let db = stored().await;
    for (typed, content) in [
        ("Gronning", CONTENTS[0]),
        ("gronn", CONTENTS[0]),
        ("cardamon", CONTENTS[0]),
        ("solveig cardamon", CONTENTS[0]),
        ("karin Lindquist", CONTENTS[2]),
        ("typsecript", CONTENTS[1]),
    ] {
        assert_eq!(listed(&db, typed).await, [content], "{typed}");
    }
    assert!(listed(&db, "gronning typsecript").await.is_empty(), "all words are required");
    assert!(listed(&db, "xylophone").await.is_empty());
    insert(&mut db.connect().await, "default", &["Paul Gronning sails"]).await;
    assert_eq!(listed(&db, "Gronning").await, ["Paul Gronning sails"], "what is there as typed is not corrected");
}

#[tokio::test]
async fn the_palette_finds_what_was_misspelled_below_what_is_exact() {
    let db = stored().await;
    db.execute(
        "INSERT INTO entities (canonical_name, entity_type) VALUES ('Solveig Grønning', 'person');
         INSERT INTO rules (content, search_vector) VALUES ('Ask Grønning first', memory_search_vector('Ask Grønning first'));
         INSERT INTO episodes (butler, content, search_vector, expires_at)
             VALUES ('general', 'Met Grønning', memory_search_vector('Met Grønning'), NULL)",
    )
    .await;
    let tenant = TenantId::default();
    let mut conn = db.database().reader(&tenant).await.unwrap();
    let exact = palette::find(&mut conn, &tenant, "Grønning", 5, now()).await.unwrap();
    let misspelled = palette::find(&mut conn, &tenant, "Gronning", 5, now()).await.unwrap();
    for kind in [FoundKind::Fact, FoundKind::Rule, FoundKind::Episode, FoundKind::Entity] {
        let exact = exact.iter().find(|item| item.kind == kind).unwrap();
        let misspelled = misspelled.iter().find(|item| item.kind == kind).unwrap();
        assert_eq!(misspelled.id, exact.id, "{kind:?}");
        assert!(misspelled.score < exact.score, "{kind:?}: {} is not below {}", misspelled.score, exact.score);
    }
    assert!(palette::find(&mut conn, &tenant, "xylophone", 5, now()).await.unwrap().is_empty());
}
