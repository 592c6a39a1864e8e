//! A cache of store statistics: the number of rows, their share of the table, and the frequent terms.
//!
//! A search chooses its path by them (`functions/memory_pool.sql`). They change slowly and take a millisecond or two to
//! measure, so one call measures them now and then, and later calls pass the result back.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use butler_domain::{MemoryType, TenantId};

use super::Retrieve;
use super::info::Pool;

/// A small store may grow to a multiple of its size within seconds, and counting it is cheap.
const FRESH_SMALL: Duration = Duration::from_secs(5);
/// A large store changes its size class slowly, and measuring it takes milliseconds.
const FRESH_LARGE: Duration = Duration::from_secs(60);
/// How many pairs of tenant and scope the cache holds before it is emptied.
const MOST_KEPT: usize = 4096;

type Key = (TenantId, Option<String>, MemoryType);

/// The statistics that recent searches measured.
#[derive(Debug, Default)]
pub struct Pools(Mutex<HashMap<Key, (Instant, Pool)>>);

impl Pools {
    /// The statistics that this call does not have to measure.
    pub(super) fn known(&self, tenant: &TenantId, request: &Retrieve<'_>) -> BTreeMap<&'static str, Pool> {
        let pools = self.lock();
        let mut known = BTreeMap::new();
        let related = (request.related > 0).then_some(&MemoryType::Episode);
        for kind in request.types.iter().chain(related) {
            let key = (tenant.clone(), request.scope.map(str::to_owned), *kind);
            if let Some((measured_at, pool)) = pools.get(&key)
                && measured_at.elapsed() < lifetime(pool)
            {
                known.insert(kind.as_str(), with_terms_of(pool, request.words));
            }
        }
        known
    }

    pub(super) fn learn(&self, tenant: &TenantId, scope: Option<&str>, kind: MemoryType, pool: &Pool) {
        let mut pools = self.lock();
        if pools.len() >= MOST_KEPT {
            pools.clear();
        }
        pools.insert((tenant.clone(), scope.map(str::to_owned), kind), (Instant::now(), pool.clone()));
    }

    /// Empties the cache, after the indexes were trained again.
    pub fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, (Instant, Pool)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lifetime(pool: &Pool) -> Duration {
    if pool.small { FRESH_SMALL } else { FRESH_LARGE }
}

/// The statistics with only those frequent terms that the query may contain: a stem starts like its word.
fn with_terms_of(pool: &Pool, words: Option<&str>) -> Pool {
    let words = words.unwrap_or_default().to_lowercase();
    let may_contain = |term: &str| words.contains(&term[..term.floor_char_boundary(2)]);
    let kept = |terms: &BTreeMap<String, f64>| {
        terms.iter().filter(|(term, _)| may_contain(term)).map(|(term, share)| (term.clone(), *share)).collect()
    };
    let Pool { rows, total, small, lists, trained, terms } = pool;
    Pool {
        rows: *rows,
        total: *total,
        small: *small,
        lists: *lists,
        trained: *trained,
        terms: terms.as_ref().map(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terms_that_may_be_in_the_query_are_passed_on() {
        let terms = |list: &[(&str, f64)]| list.iter().map(|(term, share)| ((*term).to_owned(), *share)).collect();
        let all = terms(&[("peanut", 0.4), ("run", 0.2), ("zebra", 0.1)]);
        let pool = Pool { rows: 9000.0, terms: Some(all), ..Pool::default() };
        let kept = with_terms_of(&pool, Some("Running from peanuts"));
        assert_eq!(kept.terms, Some(terms(&[("peanut", 0.4), ("run", 0.2)])));
        assert_eq!(kept.rows, 9000.0);
        assert_eq!(with_terms_of(&pool, None).terms, Some(BTreeMap::new()));
    }

    #[test]
    fn a_small_store_is_measured_more_often() {
        let (small, large) = (Pool { small: true, ..Pool::default() }, Pool::default());
        assert!(lifetime(&small) < lifetime(&large));
    }
}
