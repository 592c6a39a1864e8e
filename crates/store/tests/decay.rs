//! The decay of confidence in SQL is the decay of confidence in `domain`, to the last threshold.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use butler_domain::decay::{DecayThresholds, effective_confidence};
use butler_domain::{TenantId, Timestamp};
use butler_store::browse::Page;
use butler_store::browse::facts::{self, FactFilter, FactSort};
use butler_testkit::TestDb;
use chrono::{DateTime, TimeDelta};

/// What the database makes of many rows at once.
async fn in_sql(db: &TestDb, cases: &[(f64, f64, Option<Timestamp>)], now: Timestamp) -> Vec<f64> {
    let (confidences, rest): (Vec<f64>, Vec<_>) = cases.iter().map(|(c, r, at)| (*c, (*r, *at))).unzip();
    let (rates, times): (Vec<f64>, Vec<Option<Timestamp>>) = rest.into_iter().unzip();
    sqlx::query_scalar(
        "SELECT effective_confidence(c, r, t, $4)
         FROM unnest($1::float8[], $2::float8[], $3::timestamptz[]) WITH ORDINALITY AS x (c, r, t, n) ORDER BY n",
    )
    .bind(confidences)
    .bind(rates)
    .bind(times)
    .bind(now)
    .fetch_all(&mut db.connect().await)
    .await
    .unwrap()
}

fn at(micros: i64) -> Timestamp {
    DateTime::UNIX_EPOCH + TimeDelta::microseconds(micros)
}

/// A cheap stream of numbers; the cases are many, so that one statement tests them all.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[tokio::test]
async fn the_sweep_uses_the_same_effective_confidence_as_every_reader() {
    let db = TestDb::new().await;
    let now = at(2_000_000_000_000_000);
    let mut numbers = Numbers(7);
    let rates = [0.0, 0.002, 0.008, 0.01, 0.03, 0.1];
    let cases: Vec<_> = (0..20_000)
        .map(|i| {
            let days = numbers.next() * [1.0, 40.0, 400.0, 20_000.0][i % 4];
            let confirmed = (i % 50 != 0).then(|| at(2_000_000_000_000_000 - (days * 86_400_000_000.0) as i64));
            (numbers.next(), rates[i % rates.len()], confirmed)
        })
        .collect();
    let thresholds = DecayThresholds::default();
    for (case, sql) in cases.iter().zip(in_sql(&db, &cases, now).await) {
        let rust = effective_confidence(case.0, case.1, case.2, now);
        assert!((sql - rust).abs() <= f64::EPSILON * rust.max(1e-200), "{case:?}: {sql} and {rust}");
        let below = |confidence: f64| (confidence < thresholds.retrieval, confidence < thresholds.expiry);
        assert_eq!(below(sql), below(rust), "{case:?}");
    }
}

#[tokio::test]
async fn no_number_makes_the_database_fail() {
    let db = TestDb::new().await;
    let extremes = [0.0, 5e-324, 1e-300, 1e-40, 0.05, 0.2, 1.0];
    let rates = [0.0, 5e-324, 1e-101, 1e-12, 0.1, 1e9, 1e308];
    let now = at(4_000_000_000_000_000);
    let times = [None, Some(at(0)), Some(now), Some(now - TimeDelta::microseconds(1)), Some(now + TimeDelta::days(9))];
    let times = &times;
    let cases: Vec<_> =
        extremes.iter().flat_map(|c| rates.iter().flat_map(move |r| times.iter().map(move |t| (*c, *r, *t)))).collect();
    for (case, sql) in cases.iter().zip(in_sql(&db, &cases, now).await) {
        let rust = effective_confidence(case.0, case.1, case.2, now);
        assert!((sql - rust).abs() < 1e-39, "{case:?}: {sql} and {rust}");
    }
}

/// Facts of a tenant as (confidence, rate, confirmed), made at moments a second apart.
async fn stored(db: &TestDb, tenant: &str, facts: &[(f64, f64, Option<Timestamp>)]) {
    let (confidences, rest): (Vec<f64>, Vec<_>) = facts.iter().map(|(c, r, at)| (*c, (*r, *at))).unzip();
    let (rates, times): (Vec<f64>, Vec<Option<Timestamp>>) = rest.into_iter().unzip();
    sqlx::query(
        "INSERT INTO facts (tenant_id, subject, predicate, content, confidence, decay_rate, last_confirmed_at, created_at, importance)
         SELECT $1, 's' || n, 'p', 'c', c, r, t, '2024-01-01 00:00:00+00'::timestamptz + n * interval '1 second', n % 11
         FROM unnest($2::float8[], $3::float8[], $4::timestamptz[]) WITH ORDINALITY AS x (c, r, t, n)",
    )
    .bind(tenant)
    .bind(confidences)
    .bind(rates)
    .bind(times)
    .execute(&mut db.connect().await)
    .await
    .unwrap();
}

/// A life's facts: five rates, many confirmed at the same moment, some never, some worth nothing.
fn ordinary(now: Timestamp) -> Vec<(f64, f64, Option<Timestamp>)> {
    let mut numbers = Numbers(11);
    let rates = [0.0, 0.002, 0.008, 0.03, 0.1];
    (0..400)
        .map(|i| {
            let days = if i % 7 == 0 { 50 } else { (numbers.next() * 300.0) as i64 };
            let confirmed = (i % 41 != 0).then(|| now - TimeDelta::days(days) - TimeDelta::milliseconds(i % 3));
            let confidence = [1.0, 1.0, 0.7, 0.5, 0.0, numbers.next()][i as usize % 6];
            (confidence, rates[i as usize % rates.len()], confirmed)
        })
        .collect()
}

#[tokio::test]
async fn lists_by_confidence_and_above_one_are_what_looking_at_every_fact_would_give() {
    let db = TestDb::new().await;
    let now = at(1_750_000_000_000_000);
    // one tenant has more rates than are looked at one by one
    let many_rates: Vec<_> = (0..200).map(|i| (1.0, f64::from(i) / 1000.0, Some(now - TimeDelta::days(20)))).collect();
    for (name, facts) in [("few", ordinary(now)), ("many", many_rates)] {
        stored(&db, name, &facts).await;
        let tenant = TenantId::new(name).unwrap();
        let mut conn = db.database().reader(&tenant).await.unwrap();
        for min_confidence in [0.0, 0.05, 0.2, 0.5, 0.7, 0.999, 1.0] {
            let every = facts.iter().map(|(c, r, t)| effective_confidence(*c, *r, *t, now));
            let expected: Vec<f64> =
                every.filter(|effective| min_confidence == 0.0 || *effective >= min_confidence).collect();
            for sort in [FactSort::MostConfident, FactSort::LeastConfident, FactSort::Newest, FactSort::Importance] {
                let filter = FactFilter { min_confidence, sort, ..FactFilter::default() };
                let mut seen = Vec::new();
                for offset in (0..500).step_by(100) {
                    let page = Page { limit: 100, offset, after: None };
                    let listed = facts::list(&mut conn, &tenant, &filter, page, now).await.unwrap();
                    assert_eq!(listed.total, expected.len() as i64, "{name}, {sort:?}, at least {min_confidence}");
                    seen.extend(listed.rows);
                }
                let mut ids: Vec<_> = seen.iter().map(|item| item.fact.id).collect();
                ids.sort();
                ids.dedup();
                assert_eq!(ids.len(), expected.len(), "{name}, {sort:?}, at least {min_confidence}: each once");
                let key = |item: &facts::FactItem| match sort {
                    FactSort::MostConfident => -item.effective_confidence,
                    FactSort::LeastConfident => item.effective_confidence,
                    FactSort::Importance => -item.fact.importance,
                    _ => -(item.fact.created_at.timestamp() as f64),
                };
                for pair in seen.windows(2) {
                    assert!(key(&pair[0]) <= key(&pair[1]), "{name}, {sort:?}, at least {min_confidence}: {pair:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_histogram_of_confidence_puts_each_fact_where_its_confidence_is() {
    let db = TestDb::new().await;
    let now = at(1_750_000_000_000_000);
    // on the very edges, too: 0.05, 0.1, … of facts that never decay
    let edges = (0..=20).map(|twentieth| (f64::from(twentieth) / 20.0, 0.0, Some(now)));
    let facts: Vec<_> = ordinary(now).into_iter().chain(edges).collect();
    stored(&db, "t", &facts).await;
    let tenant = TenantId::new("t").unwrap();
    let mut conn = db.database().reader(&tenant).await.unwrap();
    let figures = butler_store::browse::figures::confidence(&mut conn, &tenant, None, 0.05, now).await.unwrap();
    let mut expected = [0; 20];
    for (confidence, rate, confirmed) in &facts {
        let effective = effective_confidence(*confidence, *rate, *confirmed, now);
        // an edge has no exact binary form: what lies on it counts as above
        expected[((effective * 20.0 + 1e-9) as usize).min(19)] += 1;
    }
    assert_eq!(figures.facts, expected);
}
