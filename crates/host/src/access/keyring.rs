//! The tokens of all butlers, in memory: a request costs no round trip. The keeper keeps it in step with the databases.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use butler_domain::Timestamp;
use butler_memory::{Caller, CallerTenant};
use butler_store::tokens::{TokenHash, TokenRow};
use uuid::Uuid;

use super::secret::same;
use super::{Access, Rights};

#[derive(Default)]
pub struct Keyring {
    /// By butler, as its database has them.
    rows: Mutex<BTreeMap<String, Vec<TokenRow>>>,
    keys: RwLock<Arc<Keys>>,
    /// Since they were last written down.
    used: Mutex<HashMap<Uuid, Timestamp>>,
}

#[derive(Default)]
struct Keys {
    /// Whether there is any, be it revoked: revoking the last one must not open the door.
    any: bool,
    /// By the first bytes of the hash; the rest is compared in constant time.
    by_prefix: HashMap<[u8; 8], Vec<Key>>,
}

struct Key {
    hash: TokenHash,
    id: Uuid,
    expires_at: Option<Timestamp>,
    revoked: bool,
    access: Access,
}

/// Why a token does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Unknown,
    Revoked,
    Expired,
}

impl Keyring {
    /// Whether requests need a token.
    pub fn any(&self) -> bool {
        self.keys().any
    }

    pub fn verify(&self, hash: &TokenHash, now: Timestamp) -> Result<Access, Refusal> {
        let keys = self.keys();
        let candidates = keys.by_prefix.get(&prefix(hash)).map_or(&[][..], Vec::as_slice);
        let key = candidates.iter().find(|key| same(&key.hash, hash)).ok_or(Refusal::Unknown)?;
        if key.revoked {
            return Err(Refusal::Revoked);
        }
        if key.expires_at.is_some_and(|end| end <= now) {
            return Err(Refusal::Expired);
        }
        lock(&self.used).insert(key.id, now);
        Ok(key.access.clone())
    }

    /// Whether a token that was let in would still be: for whoever stays longer than a request.
    pub fn holds(&self, token: Uuid, now: Timestamp) -> bool {
        let keys = self.keys();
        let key = keys.by_prefix.values().flatten().find(|key| key.id == token);
        key.is_some_and(|key| !key.revoked && key.expires_at.is_none_or(|end| end > now))
    }

    /// When a token ends; `None`: never, or there is none.
    pub fn expiry(&self, token: Uuid) -> Option<Timestamp> {
        let keys = self.keys();
        keys.by_prefix.values().flatten().find(|key| key.id == token)?.expires_at
    }

    /// What a butler's database has now.
    pub fn set(&self, butler: &str, tokens: Vec<TokenRow>) {
        let mut rows = lock(&self.rows);
        rows.insert(butler.to_owned(), tokens);
        self.rebuild(&rows);
    }

    /// Forgets the butlers that are gone.
    pub fn retain(&self, is_there: impl Fn(&str) -> bool) {
        let mut rows = lock(&self.rows);
        let before = rows.len();
        rows.retain(|butler, _| is_there(butler));
        if rows.len() != before {
            self.rebuild(&rows);
        }
    }

    /// Takes what is to be written down: for each butler, its tokens that were used.
    pub fn take_used(&self) -> Vec<(String, Vec<(Uuid, Timestamp)>)> {
        let used = std::mem::take(&mut *lock(&self.used));
        if used.is_empty() {
            return Vec::new();
        }
        let of = |tokens: &Vec<TokenRow>| -> Vec<(Uuid, Timestamp)> {
            tokens.iter().filter_map(|token| Some((token.id, *used.get(&token.id)?))).collect()
        };
        let rows = lock(&self.rows);
        rows.iter().map(|(butler, tokens)| (butler.clone(), of(tokens))).filter(|(_, uses)| !uses.is_empty()).collect()
    }

    fn keys(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn rebuild(&self, rows: &BTreeMap<String, Vec<TokenRow>>) {
        let mut keys = Keys::default();
        for (butler, tokens) in rows {
            for token in tokens {
                keys.any = true;
                // A database speaks for its own butler, or for all; not for another one.
                if token.butler.as_ref().is_none_or(|own| own == butler) {
                    keys.add(token);
                }
            }
        }
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }
}

impl Keys {
    /// A token for all butlers stands in every database; revoked in one of them, it is revoked.
    fn add(&mut self, token: &TokenRow) {
        let bucket = self.by_prefix.entry(prefix(&token.hash)).or_default();
        if let Some(key) = bucket.iter_mut().find(|key| key.hash == token.hash) {
            key.revoked |= token.revoked_at.is_some();
            key.expires_at = [key.expires_at, token.expires_at].into_iter().flatten().min();
            return;
        }
        bucket.push(Key {
            hash: token.hash,
            id: token.id,
            expires_at: token.expires_at,
            revoked: token.revoked_at.is_some(),
            access: Access {
                caller: Caller { tenant: CallerTenant::Token(token.tenant.clone()), actor: Some(actor(token)) },
                rights: Rights::named(token.rights.iter().map(String::as_str)),
                butler: token.butler.clone(),
                token: Some(token.id),
            },
        });
    }
}

/// As it stands in the audit events of what the token's holder did.
fn actor(token: &TokenRow) -> String {
    if token.name.is_empty() { format!("token:{}", token.id) } else { format!("token:{}", token.name) }
}

fn prefix(hash: &TokenHash) -> [u8; 8] {
    let mut prefix = [0; 8];
    prefix.copy_from_slice(&hash[..8]);
    prefix
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use butler_domain::{Clock, SystemClock, TenantId};
    use butler_store::tokens::hash;
    use chrono::TimeDelta;

    use super::*;

    fn row(token: &str, butler: Option<&str>) -> TokenRow {
        let now = SystemClock.now();
        TokenRow {
            id: butler_domain::ids::new_id(now),
            tenant: TenantId::default(),
            butler: butler.map(str::to_owned),
            name: String::new(),
            hash: hash(token),
            rights: vec!["read".to_owned()],
            created_at: now,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
        }
    }

    #[test]
    fn a_token_revoked_in_one_database_is_revoked_and_keeps_the_door_shut() {
        let (ring, now) = (Keyring::default(), SystemClock.now());
        assert!(!ring.any());
        let token = row("a", None);
        ring.set("one", vec![token.clone()]);
        ring.set("two", vec![token.clone()]);
        assert_eq!(ring.verify(&hash("a"), now).unwrap().token, Some(token.id));
        assert!(ring.holds(token.id, now));
        ring.set("two", vec![TokenRow { revoked_at: Some(now), ..token.clone() }]);
        assert_eq!(ring.verify(&hash("a"), now).unwrap_err(), Refusal::Revoked);
        assert!(!ring.holds(token.id, now));
        ring.retain(|butler| butler == "two");
        assert!(ring.any(), "a revoked token is one");
        ring.retain(|_| false);
        assert!(!ring.any());
    }

    #[test]
    fn a_token_expires_at_its_time_and_a_database_speaks_for_no_other_butler() {
        let (ring, now) = (Keyring::default(), SystemClock.now());
        let end = now + TimeDelta::seconds(5);
        ring.set("one", vec![TokenRow { expires_at: Some(end), ..row("a", Some("one")) }, row("b", Some("two"))]);
        assert_eq!(ring.verify(&hash("a"), end - TimeDelta::microseconds(1)).unwrap().butler.as_deref(), Some("one"));
        assert_eq!(ring.verify(&hash("a"), end).unwrap_err(), Refusal::Expired);
        assert_eq!(ring.verify(&hash("b"), now).unwrap_err(), Refusal::Unknown);
        let used = ring.take_used();
        assert_eq!(used.len(), 1, "{used:?}");
        assert!(ring.take_used().is_empty());
    }
}
