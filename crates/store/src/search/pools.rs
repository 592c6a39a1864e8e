//! What is known about the stores that are searched: how many rows, which share of the table, which terms are frequent.
//!
//! The way a search takes is chosen by it (`functions/memory_pool.sql`). It changes slowly and costs a millisecond or two to learn, so a call
//! learns it now and then, in the same statement, and the others pass it back. Nothing is written for it.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use butler_domain::{MemoryType, TenantId};
use serde_json::{Map, Value};

use super::Retrieve;

/// A store of this size may be several times larger in a moment; it is cheap to count.
const FRESH_SMALL: Duration = Duration::from_secs(5);
/// A large one changes its size class slowly, and a look at it costs milliseconds.
const FRESH_LARGE: Duration = Duration::from_secs(60);
/// The same number as `small_store_rows()`: up to it a store is searched exactly.
const SMALL_ROWS: f64 = 1500.0;
/// Tenants times scopes remembered at once; beyond it everything is learnt anew.
const REMEMBERED: usize = 4096;

type Key = (TenantId, Option<String>, MemoryType);

#[derive(Debug, Default)]
pub struct Pools(Mutex<HashMap<Key, (Instant, Value)>>);

impl Pools {
    /// What a call need not learn.
    pub(super) fn known(&self, tenant: &TenantId, request: &Retrieve<'_>) -> Value {
        let pools = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut known = Map::new();
        for kind in request.types {
            let key = (tenant.clone(), request.scope.map(str::to_owned), *kind);
            if let Some((learnt, pool)) = pools.get(&key)
                && learnt.elapsed() < lifetime(pool)
            {
                known.insert(kind.as_str().to_owned(), relevant(pool, request.words));
            }
        }
        Value::Object(known)
    }

    pub(super) fn learn(&self, tenant: &TenantId, scope: Option<&str>, kind: MemoryType, info: &Value) {
        let mut pools = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if pools.len() >= REMEMBERED {
            pools.clear();
        }
        let kept = ["rows", "total", "lists", "trained", "terms"];
        let pool = kept.iter().filter_map(|key| Some(((*key).to_owned(), info.get(*key)?.clone()))).collect();
        pools.insert((tenant.clone(), scope.map(str::to_owned), kind), (Instant::now(), Value::Object(pool)));
    }

    /// After the indexes were trained anew.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
    }
}

fn lifetime(pool: &Value) -> Duration {
    let rows = pool.get("rows").and_then(Value::as_f64).unwrap_or(0.0);
    if rows <= SMALL_ROWS { FRESH_SMALL } else { FRESH_LARGE }
}

/// Of the frequent terms only those that may be in the query: a stem begins like its word.
fn relevant(pool: &Value, words: Option<&str>) -> Value {
    let words = words.unwrap_or_default().to_lowercase();
    let named = |term: &str| words.contains(&term[..term.floor_char_boundary(2)]);
    let Value::Object(pool) = pool else { return pool.clone() };
    let passed = pool.iter().map(|(key, value)| match value {
        Value::Object(terms) if key == "terms" => {
            let kept = terms.iter().filter(|(term, _)| named(term)).map(|(term, share)| (term.clone(), share.clone()));
            (key.clone(), Value::Object(kept.collect()))
        }
        _ => (key.clone(), value.clone()),
    });
    Value::Object(passed.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_terms_that_may_be_in_the_query_are_passed_on() {
        let pool = json!({"rows": 9000, "terms": {"peanut": 0.4, "run": 0.2, "zebra": 0.1}});
        let kept = relevant(&pool, Some("Running from peanuts"));
        assert_eq!(kept["terms"], json!({"peanut": 0.4, "run": 0.2}));
        assert_eq!(relevant(&pool, None)["terms"], json!({}));
    }

    #[test]
    fn a_small_store_is_as_small_as_in_the_database() {
        let function = include_str!("../../functions/small_store_rows.sql");
        assert!(function.contains(&format!("SELECT {SMALL_ROWS} ")), "{function}");
    }

    #[test]
    fn a_small_store_is_counted_more_often() {
        assert!(lifetime(&json!({"rows": 10})) < lifetime(&json!({"rows": 10_000})));
    }
}
