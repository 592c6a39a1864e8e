//! The tokens of all butlers, kept in memory so that authentication needs no database round trip. `host::tokens` keeps
//! the keyring in sync with the databases.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use butler_domain::{Source, Timestamp};
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

/// A valid secret. After a rotation a token has two.
struct Key {
    hash: TokenHash,
    id: Uuid,
    expires_at: Option<Timestamp>,
    /// Until when a secret that was replaced is accepted.
    replaced_at: Option<Timestamp>,
    /// The token or one of its ancestors was revoked.
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

/// Whether tokens exist, as far as the databases that were read can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenState {
    /// Every butler's tokens were read, and there are none.
    None,
    Exist,
    /// The tokens of this butler were not read yet, so it is unknown whether any exist.
    Unknown {
        butler: String,
    },
}

impl Keyring {
    /// Whether a token is known to exist.
    pub fn any(&self) -> bool {
        self.keys().any
    }

    /// Whether tokens exist for these butlers.
    pub fn state<'a>(&self, butlers: impl IntoIterator<Item = &'a str>) -> TokenState {
        if self.any() {
            return TokenState::Exist;
        }
        let rows = lock(&self.rows);
        match butlers.into_iter().find(|butler| !rows.contains_key(*butler)) {
            Some(butler) => TokenState::Unknown { butler: butler.to_owned() },
            None => TokenState::None,
        }
    }

    /// The tokens for all butlers that this butler's database lacks, has as valid although they were revoked elsewhere, or
    /// has with a secret that was replaced elsewhere.
    pub fn missing_in(&self, butler: &str) -> Vec<TokenRow> {
        let rows = lock(&self.rows);
        let Some(own) = rows.get(butler) else { return Vec::new() };
        let for_all = rows.values().flatten().filter(|token| token.butler.is_none());
        let mut tokens: Vec<TokenRow> = merged(for_all).into_values().collect();
        tokens.retain(|token| {
            own.iter().find(|row| row.id == token.id).is_none_or(|known| {
                known.revoked_at.is_some() != token.revoked_at.is_some() || known.rotated_at() < token.rotated_at()
            })
        });
        tokens
    }

    /// Returns the rights of a valid token and records its use.
    pub fn verify(&self, hash: &TokenHash, now: Timestamp) -> Result<Access, Refusal> {
        let keys = self.keys();
        let candidates = keys.by_prefix.get(&prefix(hash)).map_or(&[][..], Vec::as_slice);
        let key = candidates.iter().find(|key| same(&key.hash, hash)).ok_or(Refusal::Unknown)?;
        key.check(now)?;
        lock(&self.used).insert(key.id, now);
        Ok(key.access.clone())
    }

    /// Whether a secret is still accepted, for connections that outlive a request.
    pub fn is_valid(&self, hash: &TokenHash, now: Timestamp) -> bool {
        let keys = self.keys();
        let key = keys.by_prefix.get(&prefix(hash)).and_then(|keys| keys.iter().find(|key| key.hash == *hash));
        key.is_some_and(|key| key.check(now).is_ok())
    }

    /// Returns what a token allows and whether it is valid, without recording a use. `None` if there is no such token.
    pub fn access_of(&self, token: Uuid, now: Timestamp) -> Option<(Access, Result<(), Refusal>)> {
        let keys = self.keys();
        let key = keys.by_prefix.values().flatten().find(|key| key.id == token && key.replaced_at.is_none())?;
        Some((key.access.clone(), key.check(now)))
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
        let any = rows.values().any(|tokens| !tokens.is_empty());
        // A token in one butler's database must not grant access to another butler.
        let trusted = rows.iter().flat_map(|(butler, tokens)| {
            tokens.iter().filter(move |token| token.butler.as_ref().is_none_or(|own| own == butler))
        });
        let tokens = merged(trusted);
        let revoked = revoked(tokens.values());
        let mut keys = Keys { any, ..Keys::default() };
        for token in tokens.values() {
            keys.add(token, revoked.contains(&token.id));
        }
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }
}

/// A token for all butlers is stored in every database; this is what they say together.
fn merged<'a>(rows: impl Iterator<Item = &'a TokenRow>) -> BTreeMap<(Uuid, Option<String>), TokenRow> {
    let mut tokens: BTreeMap<(Uuid, Option<String>), TokenRow> = BTreeMap::new();
    for row in rows {
        tokens.entry((row.id, row.butler.clone())).and_modify(|token| token.merge(row)).or_insert_with(|| row.clone());
    }
    tokens
}

/// The tokens that are revoked or have a revoked ancestor. The databases revoke descendants too, but one of them may be
/// unreachable when their ancestor is revoked.
fn revoked<'a>(tokens: impl Iterator<Item = &'a TokenRow> + Clone) -> HashSet<Uuid> {
    let mut revoked: HashSet<Uuid> =
        tokens.clone().filter(|token| token.revoked_at.is_some()).map(|token| token.id).collect();
    loop {
        let before = revoked.len();
        for token in tokens.clone() {
            if token.parent.is_some_and(|parent| revoked.contains(&parent)) {
                revoked.insert(token.id);
            }
        }
        if revoked.len() == before {
            return revoked;
        }
    }
}

impl Keys {
    /// Adds the secret of a token, and the one before its last rotation.
    fn add(&mut self, token: &TokenRow, revoked: bool) {
        let previous = token.rotation.map(|rotation| (rotation.previous_hash, Some(rotation.previous_until)));
        for (hash, replaced_at) in [(token.hash, None)].into_iter().chain(previous) {
            let access = Access {
                caller: Caller {
                    tenant: CallerTenant::Token(token.tenant.clone()),
                    actor: Some(actor(token)),
                    source: Source::Agent,
                    has_token: true,
                },
                rights: Rights::named(token.rights.iter().map(String::as_str)),
                butler: token.butler.clone(),
                token: Some(token.id),
                secret: Some(hash),
            };
            let key = Key { hash, id: token.id, expires_at: token.expires_at, replaced_at, revoked, access };
            self.by_prefix.entry(prefix(&hash)).or_default().push(key);
        }
    }
}

impl Key {
    fn check(&self, now: Timestamp) -> Result<(), Refusal> {
        if self.revoked {
            return Err(Refusal::Revoked);
        }
        let ended = |end: Option<Timestamp>| end.is_some_and(|end| end <= now);
        if ended(self.expires_at) || ended(self.replaced_at) { Err(Refusal::Expired) } else { Ok(()) }
    }
}

/// The actor in audit events of changes made with this token. Names may be used again, so the id follows.
fn actor(token: &TokenRow) -> String {
    if token.name.is_empty() { format!("token:{}", token.id) } else { format!("token:{}:{}", token.name, token.id) }
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
    use butler_store::tokens::{Rotation, hash};
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
            parent: None,
            rotation: None,
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
        assert!(ring.is_valid(&hash("a"), now));
        ring.set("two", vec![TokenRow { revoked_at: Some(now), ..token.clone() }]);
        assert_eq!(ring.verify(&hash("a"), now).unwrap_err(), Refusal::Revoked);
        assert!(!ring.is_valid(&hash("a"), now));
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
    #[test]
    fn a_token_is_refused_when_an_ancestor_is_revoked_in_any_database() {
        let (ring, now) = (Keyring::default(), SystemClock.now());
        let parent = row("parent", None);
        let child = TokenRow { parent: Some(parent.id), ..row("child", Some("two")) };
        let grandchild = TokenRow { parent: Some(child.id), ..row("grandchild", Some("two")) };
        let in_two = vec![parent.clone(), grandchild, child];
        ring.set("one", vec![parent.clone()]);
        ring.set("two", in_two);
        assert!(ring.verify(&hash("grandchild"), now).is_ok());
        // The database of `two` is unreachable and does not know of the revocation.
        ring.set("one", vec![TokenRow { revoked_at: Some(now), ..parent.clone() }]);
        for token in ["parent", "child", "grandchild"] {
            assert_eq!(ring.verify(&hash(token), now).unwrap_err(), Refusal::Revoked, "{token}");
        }
        assert_eq!(ring.missing_in("two").iter().map(|token| token.id).collect::<Vec<_>>(), [parent.id]);
    }

    #[test]
    fn after_a_rotation_the_old_secret_works_until_the_grace_ends_whatever_other_databases_say() {
        let (ring, now) = (Keyring::default(), SystemClock.now());
        let until = now + TimeDelta::seconds(5);
        let old = row("old", None);
        let rotation = Rotation { at: now, previous_hash: hash("old"), previous_until: until };
        let new = TokenRow { hash: hash("new"), rotation: Some(rotation), ..old.clone() };
        ring.set("one", vec![new.clone()]);
        ring.set("two", vec![old.clone()]);
        for secret in ["old", "new"] {
            assert_eq!(ring.verify(&hash(secret), now).unwrap().token, Some(old.id), "{secret}");
        }
        assert_eq!(ring.verify(&hash("old"), until).unwrap_err(), Refusal::Expired);
        assert!(!ring.is_valid(&hash("old"), until) && ring.is_valid(&hash("new"), until));
        assert_eq!(ring.expiry(old.id), None, "the token itself does not expire");
        assert_eq!((ring.missing_in("one"), ring.missing_in("two")), (Vec::new(), vec![new]));
    }

    #[test]
    fn the_actor_names_the_token_and_its_id() {
        let (ring, now) = (Keyring::default(), SystemClock.now());
        let (named, unnamed) = (TokenRow { name: "lap:top".to_owned(), ..row("a", None) }, row("b", None));
        ring.set("one", vec![named.clone(), unnamed.clone()]);
        let actor = |token: &str| ring.verify(&hash(token), now).unwrap().caller.actor.unwrap();
        assert_eq!(actor("a"), format!("token:lap:top:{}", named.id));
        assert_eq!(actor("b"), format!("token:{}", unnamed.id));
    }
}
