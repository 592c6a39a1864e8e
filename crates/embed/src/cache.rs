//! An LRU cache of vectors by text.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use crate::Vector;

/// Limits the memory of long texts, which the number of entries alone does not.
const MAX_BYTES: usize = 16 << 20;

pub struct Cache {
    entries: usize,
    inner: Mutex<Inner>,
}

struct Inner {
    vectors: LruCache<String, Vector>,
    bytes: usize,
    hits: u64,
    misses: u64,
}

/// (hits, misses, entries)
pub type Counters = (u64, u64, usize);

impl Cache {
    /// Creates a cache of at most `entries` texts. With 0 it stores nothing.
    pub fn new(entries: usize) -> Cache {
        let inner = Inner { vectors: LruCache::unbounded(), bytes: 0, hits: 0, misses: 0 };
        Cache { entries, inner: Mutex::new(inner) }
    }

    /// Looks up a text and counts a hit or a miss.
    pub fn get(&self, text: &str) -> Option<Vector> {
        let mut inner = self.lock();
        let found = inner.vectors.get(text).cloned();
        match found {
            Some(_) => inner.hits += 1,
            None => inner.misses += 1,
        }
        found
    }

    /// Looks up a text without counting, because [`get`](Self::get) has already counted it.
    pub fn peek(&self, text: &str) -> Option<Vector> {
        self.lock().vectors.peek(text).cloned()
    }

    pub fn insert(&self, text: String, vector: Vector) {
        if self.entries == 0 {
            return;
        }
        let mut inner = self.lock();
        inner.bytes += cost(&text, &vector);
        if let Some((old, replaced)) = inner.vectors.push(text, vector) {
            inner.bytes -= cost(&old, &replaced);
        }
        while inner.vectors.len() > self.entries || inner.bytes > MAX_BYTES {
            let Some((text, vector)) = inner.vectors.pop_lru() else { break };
            inner.bytes -= cost(&text, &vector);
        }
    }

    pub fn counters(&self) -> Counters {
        let inner = self.lock();
        (inner.hits, inner.misses, inner.vectors.len())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A poisoned lock is safe to use: no code under the lock can panic between two related changes.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cost(text: &str, vector: &Vector) -> usize {
    text.len() + size_of_val(&**vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector() -> Vector {
        Vector::from(vec![0.5; 384])
    }

    #[test]
    fn hits_and_misses_are_counted() {
        let cache = Cache::new(2);
        assert!(cache.get("a").is_none());
        cache.insert("a".into(), vector());
        assert!(cache.get("a").is_some());
        assert!(cache.peek("b").is_none());
        assert_eq!(cache.counters(), (1, 1, 1));
    }

    #[test]
    fn the_least_recently_used_text_is_evicted_first() {
        let cache = Cache::new(2);
        cache.insert("a".into(), vector());
        cache.insert("b".into(), vector());
        cache.get("a");
        cache.insert("c".into(), vector());
        assert!(cache.peek("a").is_some() && cache.peek("c").is_some());
        assert!(cache.peek("b").is_none());
    }

    #[test]
    fn the_total_size_of_the_texts_is_limited() {
        let cache = Cache::new(1000);
        for n in 0..20 {
            cache.insert(format!("{n}{}", "x".repeat(1 << 20)), vector());
        }
        let (_, _, entries) = cache.counters();
        assert!((1..=16).contains(&entries), "{entries} entries of a MiB each");
        assert!(cache.lock().bytes <= MAX_BYTES);
        cache.insert("19".to_owned() + &"x".repeat(1 << 20), vector());
        let inner = cache.lock();
        assert_eq!(inner.bytes, inner.vectors.iter().map(|(t, v)| cost(t, v)).sum::<usize>());
    }

    #[test]
    fn a_cache_with_capacity_zero_stores_nothing() {
        let cache = Cache::new(0);
        cache.insert("a".into(), vector());
        assert!(cache.get("a").is_none());
    }
}
