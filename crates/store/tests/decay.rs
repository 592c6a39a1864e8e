//! The decay of confidence in SQL is the decay of confidence in `domain`, to the last threshold.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use chrono::{DateTime, TimeDelta};
use domain::Timestamp;
use domain::decay::{DecayThresholds, effective_confidence};
use testkit::TestDb;

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
        assert_eq!(thresholds.classify(sql), thresholds.classify(rust), "{case:?}");
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
