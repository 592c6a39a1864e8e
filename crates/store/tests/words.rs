//! Words typed into a list of facts find the same in a large tenant as looking at every fact would, whichever way they are looked for.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use butler_domain::{TenantId, Timestamp};
use butler_store::browse::facts::{self, FactFilter, FactSort};
use butler_store::browse::{Page, palette};
use butler_testkit::TestDb;
use uuid::Uuid;

/// More than a small tenant has (`tenant_is_small`), and more matches of other tenants than are read (`facts_with_words`).
const FACTS: i32 = 4000;

/// `note` is in all facts, `harbour` in a third, `heron` in one of 50, `zebra` in ten, `walrus` in all of the other tenant's and in two here.
async fn stored(db: &TestDb) {
    sqlx::query(
        "INSERT INTO facts (tenant_id, subject, predicate, content, importance, created_at, last_confirmed_at, search_vector)
         SELECT tenant, 's' || n % 100, 'p' || n, content, n % 11, at, at, to_tsvector('pg_catalog.english', content)
         FROM unnest(ARRAY['large', 'other']) AS tenant, generate_series(1, $1) AS n,
              LATERAL (SELECT 'note ' || n || CASE WHEN n % 3 = 0 THEN ' harbour' ELSE '' END || CASE WHEN n % 50 = 0 THEN ' heron' ELSE '' END
                           || CASE WHEN n % 400 = 0 THEN ' zebra' ELSE '' END
                           || CASE WHEN tenant = 'other' OR n IN (30, 3000) THEN ' walrus' ELSE '' END AS content,
                       '2024-01-01 00:00:00+00'::timestamptz + n * interval '1 hour' AS at) c",
    )
    .bind(FACTS)
    .execute(&mut db.connect().await)
    .await
    .unwrap();
    sqlx::query("ANALYZE facts").execute(&mut db.connect().await).await.unwrap();
}

/// Looking at every fact.
async fn expected(db: &TestDb, words: &str, order: &str) -> Vec<Uuid> {
    let ids = sqlx::query_scalar(
        "SELECT id FROM facts WHERE tenant_id = 'large' AND (search_vector @@ typed_query($1)) IS TRUE
         ORDER BY CASE $2 WHEN 'oldest' THEN created_at END, CASE $2 WHEN 'subject' THEN subject END,
                  CASE $2 WHEN 'subject' THEN predicate END, CASE $2 WHEN 'importance' THEN importance END DESC, created_at DESC, id",
    );
    ids.bind(words).bind(order).fetch_all(&mut db.connect().await).await.unwrap()
}

const SORTS: [(FactSort, &str); 5] = [
    (FactSort::Newest, "newest"),
    (FactSort::Oldest, "oldest"),
    (FactSort::Importance, "importance"),
    (FactSort::Subject, "subject"),
    // all were confirmed when they were made
    (FactSort::MostConfident, "newest"),
];

#[tokio::test]
async fn words_in_a_large_tenant_find_what_looking_at_every_fact_would() {
    let db = TestDb::new().await;
    stored(&db).await;
    let tenant = TenantId::new("large").unwrap();
    let now: Timestamp = "2024-09-01T00:00:00Z".parse().unwrap();
    let mut conn = db.database().reader(&tenant).await.unwrap();
    for words in [
        "note",
        "harb",
        "note zebra",
        "zebra",
        "note harbour",
        "heron",
        "walrus",
        "note walrus",
        "har her zeb",
        "note 39",
        "absent",
    ] {
        for (sort, order) in SORTS {
            let expected = expected(&db, words, order).await;
            for offset in [0, 5, 1000] {
                let filter = FactFilter { words: Some(words.to_owned()), sort, ..FactFilter::default() };
                let page = Page { limit: 20, offset, after: None };
                let listed = facts::list(&mut conn, &tenant, &filter, page, now).await.unwrap();
                let ids: Vec<Uuid> = listed.rows.iter().map(|item| item.fact.id.0).collect();
                let wanted: Vec<Uuid> = expected.iter().skip(offset as usize).take(20).copied().collect();
                assert_eq!((listed.total, ids), (expected.len() as i64, wanted), "{words}, {sort:?} from {offset}");
            }
        }
    }
}

#[tokio::test]
async fn the_palette_of_a_large_tenant_shows_the_newest_of_many_alike() {
    let db = TestDb::new().await;
    stored(&db).await;
    let tenant = TenantId::new("large").unwrap();
    let now: Timestamp = "2024-09-01T00:00:00Z".parse().unwrap();
    // after a long pause one more, which is no sample of the others
    sqlx::query(
        "INSERT INTO facts (tenant_id, subject, predicate, content, created_at, last_confirmed_at, search_vector)
         VALUES ('large', 's', 'p', 'note late', '2024-08-31', '2024-08-31', to_tsvector('pg_catalog.english', 'note late'))",
    )
    .execute(&mut db.connect().await)
    .await
    .unwrap();
    let mut conn = db.database().reader(&tenant).await.unwrap();
    for words in ["note", "harb", "zebra", "walrus", "absent"] {
        let found = palette::find(&mut conn, &tenant, words, 5, now).await.unwrap();
        let ids: Vec<Uuid> = found.iter().map(|item| item.id).collect();
        let wanted: Vec<Uuid> = expected(&db, words, "newest").await.into_iter().take(5).collect();
        assert_eq!(ids, wanted, "{words}");
    }
}

#[tokio::test]
async fn the_palette_finds_what_was_frequent_once_and_is_not_among_the_newest() {
    let db = TestDb::new().await;
    stored(&db).await;
    // more than the newest among which frequent words are looked for (`browse_palette`)
    sqlx::query(
        "INSERT INTO facts (tenant_id, subject, predicate, content, created_at, last_confirmed_at, search_vector)
         SELECT 'large', 'late', 'q' || n, 'note late', at, at, to_tsvector('pg_catalog.english', 'note late')
         FROM generate_series(1, 6000) AS n, LATERAL (SELECT '2024-07-01'::timestamptz + n * interval '1 minute' AS at) t",
    )
    .execute(&mut db.connect().await)
    .await
    .unwrap();
    let tenant = TenantId::new("large").unwrap();
    let now: Timestamp = "2024-09-01T00:00:00Z".parse().unwrap();
    let mut conn = db.database().reader(&tenant).await.unwrap();
    let bearing = expected(&db, "harb", "newest").await;
    let found = palette::find(&mut conn, &tenant, "harb", 5, now).await.unwrap();
    assert_eq!(found.len(), 5);
    assert!(found.iter().all(|item| bearing.contains(&item.id)), "{found:?}");
}
