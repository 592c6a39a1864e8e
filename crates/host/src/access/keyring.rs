//! The tokens of all butlers, kept in memory so that authentication needs no database round trip. `host::tokens` keeps
//! the keyring in sync with the databases.

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
    /// The tokens in each butler's database.
    rows: Mutex<BTreeMap<String, Vec<TokenRow>>>,
    keys: RwLock<Arc<Keys>>,
    /// Last use of each token, not yet stored in a database.
    used: Mutex<HashMap<Uuid, Timestamp>>,
}

#[derive(Default)]
struct Keys {
    /// Whether any token exists, even a revoked one: revoking the last token must not disable authentication.
    any: bool,
    /// Keys by the first bytes of the hash; the whole hash is then compared in constant time.
    by_prefix: HashMap<[u8; 8], Vec<Key>>,
}

struct Key {
    hash: TokenHash,
    id: Uuid,
    expires_at: Option<Timestamp>,
    revoked: bool,
    access: Access,
}

/// Why a token is not accepted.
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

    /// Returns the rights of a valid token and records its use.
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

    /// Whether a token is still valid, for connections that outlive a request.
    pub fn is_valid(&self, token: Uuid, now: Timestamp) -> bool {
        let keys = self.keys();
        let key = keys.by_prefix.values().flatten().find(|key| key.id == token);
        key.is_some_and(|key| !key.revoked && key.expires_at.is_none_or(|end| end > now))
    }

    /// When a token expires; `None` if it never does or is unknown.
    pub fn expiry(&self, token: Uuid) -> Option<Timestamp> {
        let keys = self.keys();
        keys.by_prefix.values().flatten().find(|key| key.id == token)?.expires_at
    }

    /// Replaces the tokens of one butler.
    pub fn set(&self, butler: &str, tokens: Vec<TokenRow>) {
        let mut rows = lock(&self.rows);
        rows.insert(butler.to_owned(), tokens);
        self.rebuild(&rows);
    }

    /// Drops the tokens of butlers that no longer exist.
    pub fn retain(&self, exists: impl Fn(&str) -> bool) {
        let mut rows = lock(&self.rows);
        let before = rows.len();
        rows.retain(|butler, _| exists(butler));
        if rows.len() != before {
            self.rebuild(&rows);
        }
    }

    /// Takes the recorded uses, by butler, so that they can be stored.
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
                // A token in one butler's database must not grant access to another butler.
                if token.butler.as_ref().is_none_or(|own| own == butler) {
                    keys.add(token);
                }
            }
        }
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }
}

impl Keys {
    /// Adds a token. A token for all butlers is stored in every database; if one of them has revoked it, it is revoked.
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

/// The actor in audit events of changes made with this token.
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
    fn a_token_revoked_in_one_database_is_revoked_and_authentication_stays_enabled() {
        let (ring, now) = (Keyring::default(), SystemClock.now());
        assert!(!ring.any());
        let token = row("a", None);
        ring.set("one", vec![token.clone()]);
        ring.set("two", vec![token.clone()]);
        assert_eq!(ring.verify(&hash("a"), now).unwrap().token, Some(token.id));
        assert!(ring.is_valid(token.id, now));
        ring.set("two", vec![TokenRow { revoked_at: Some(now), ..token.clone() }]);
        assert_eq!(ring.verify(&hash("a"), now).unwrap_err(), Refusal::Revoked);
        assert!(!ring.is_valid(token.id, now));
        ring.retain(|butler| butler == "two");
        assert!(ring.any(), "a revoked token counts");
        ring.retain(|_| false);
        assert!(!ring.any());
    }

    #[test]
    fn a_token_expires_on_time_and_is_ignored_in_another_butlers_database() {
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
