//! How many lists of the approximate index a search reads.

use butler_testkit::TestDb;

#[tokio::test]
async fn a_part_of_a_table_reads_as_many_lists_as_all_of_it_or_few_more() {
    let db = TestDb::new().await;
    let mut pg = db.connect().await;
    let mut probes = async |rows: f64, trained: i64| -> i32 {
        sqlx::query_scalar("SELECT vector_probes($1, 1000000, 1000, $2)")
            .bind(rows)
            .bind(trained)
            .fetch_one(&mut pg)
            .await
            .unwrap()
    };
    assert_eq!(probes(1_000_000.0, 1_000_000).await, 46);
    assert_eq!(probes(200_000.0, 1_000_000).await, 46, "a fifth");
    assert_eq!(probes(62_500.0, 1_000_000).await, 46, "a sixteenth");
    assert_eq!(probes(40_000.0, 1_000_000).await, 52, "a twenty-fifth");
    // 0: all of the tenant's rows are compared
    assert_eq!(probes(10_000.0, 1_000_000).await, 0, "a hundredth");
    assert_eq!(probes(1500.0, 1_000_000).await, 0, "few rows");
    assert_eq!(probes(200_000.0, 200_000).await, 0, "an index that knows a fifth of the table");
}
