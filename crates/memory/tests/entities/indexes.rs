//! The number of rows that a resolution reads according to the server's statistics.

use butler_domain::TenantId;
use butler_store::Session;
use butler_store::entities::{NameQuery, candidates};
use butler_testkit::MemoryFixture;

const MANY: usize = 20_000;
/// The upper limit of rows read: those that match, once or twice per tier, and few others.
const READ: i64 = 40;

/// Names whose parts are rare enough to distinguish an index from a scan.
async fn fill(memory: &MemoryFixture, tenant: &str) {
    let sql = format!(
        "INSERT INTO entities (tenant_id, canonical_name, entity_type, aliases)
         SELECT '{tenant}', 'Person ' || md5(i::text), 'person', ARRAY['nick' || i] FROM generate_series(1, {MANY}) i"
    );
    memory.db.execute(&sql).await;
}

struct Cost {
    found: usize,
    scans: i64,
    rows: i64,
}

/// The rows that this session's transaction has read, from the statistics that the server has not flushed yet.
async fn counted(session: &mut Session) -> (i64, i64) {
    let sql = "SELECT seq_scan, seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'entities'";
    session.run(|pg| sqlx::query_as(sql).fetch_one(pg)).await.expect("the counters")
}

/// Runs in one transaction, during which the server does not flush its statistics.
async fn cost(memory: &MemoryFixture, name: &str, fuzzy: bool) -> Cost {
    let tenant = TenantId::default();
    let mut conn = memory.db.database().tenant(&tenant).await.expect("a connection");
    let mut tx = conn.begin().await.expect("a transaction");
    let before = counted(&mut tx).await;
    let query = NameQuery { name, entity_type: None, fuzzy, known: &[], with_facts: false };
    let found = candidates(&mut tx, &tenant, &query).await.expect("candidates").len();
    let after = counted(&mut tx).await;
    Cost { found, scans: after.0 - before.0, rows: after.1 - before.1 }
}

#[tokio::test]
async fn exact_alias_and_prefix_resolution_use_indexes() {
    let memory = MemoryFixture::new().await;
    fill(&memory, "default").await;
    // Once right after loading and once after ANALYZE.
    for statistics in ["SELECT 1", "ANALYZE entities"] {
        memory.db.execute(statistics).await;
        // The md5 of 1 and 2: complete, its beginning, and a part from the middle.
        for name in [
            "person C4CA4238A0B923820DCC509A6F75849B",
            "NICK19999",
            "person c81e728d9d4c",
            "b923820dcc",
            "zz",
            "nick1999",
        ] {
            let cost = cost(&memory, name, false).await;
            assert_eq!(cost.scans, 0, "{name} after {statistics}");
            assert!(cost.rows <= READ, "{name} read {} rows after {statistics}", cost.rows);
            assert_eq!(cost.found > 0, name != "zz", "{name}");
        }
        let fuzzy = cost(&memory, "person eccbc87e4b5ce2fe28308fd9f2a7baf4", true).await;
        assert_eq!(fuzzy.scans, 0);
        assert!((1..=20).contains(&fuzzy.found) && fuzzy.rows < 2_000, "{} rows after {statistics}", fuzzy.rows);
    }
}

#[tokio::test]
async fn resolving_a_part_of_most_names_reads_a_bounded_number_of_rows() {
    let memory = MemoryFixture::new().await;
    fill(&memory, "default").await;
    for name in ["person", "e", "ick"] {
        let cost = cost(&memory, name, false).await;
        assert_eq!((cost.scans, cost.found), (0, 100), "{name}");
        assert!(cost.rows < 1_500, "{name} read {} rows", cost.rows);
    }
}

#[tokio::test]
async fn a_small_tenant_does_not_read_the_names_of_a_large_one() {
    let memory = MemoryFixture::new().await;
    fill(&memory, "large").await;
    super::person(&memory, "Person c4ca42", &["nick1"]).await;
    memory.db.execute("ANALYZE entities").await;
    for name in ["Person c4ca42", "nick1", "person", "c4"] {
        let cost = cost(&memory, name, true).await;
        assert_eq!((cost.scans, cost.found), (0, 1), "{name}");
        assert!(cost.rows <= READ, "{name} read {} rows", cost.rows);
    }
}
