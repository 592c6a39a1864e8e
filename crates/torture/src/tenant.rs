//! The tenants: what they write, and how one recognises what is theirs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::journal::Known;

pub struct Tenant {
    pub name: String,
    pub token: String,
    /// In all it writes; others ask for it.
    pub word: String,
    /// Beside the word in all it writes; nobody ever says it: whoever reads it in an answer reads another's memory.
    pub secret: String,
    known: Mutex<Known>,
}

const WORDS: [&str; 8] = ["quartz", "walnut", "copper", "velvet", "saffron", "granite", "juniper", "amber"];

/// What a secret begins with.
const SECRET: &str = "hush";

/// The word and the secret of a tenant; more tenants than words share none, since each carries its number. All secrets are
/// of one length, so none is the beginning of another, and the number comes first, so one that was cut short still tells
/// whose it is.
fn words(index: usize) -> (String, String) {
    let word = WORDS[index % WORDS.len()];
    (format!("{word}{index}"), format!("{SECRET}{index:03}{word:x<7}"))
}

impl Tenant {
    pub fn new(index: usize, token: String) -> Self {
        let (word, secret) = words(index);
        Self { name: name(index), token, word, secret, known: Mutex::default() }
    }

    /// Whether a secret found in a text is this tenant's own; a limit or a snippet may have cut it short.
    pub fn owns(&self, found: &str) -> bool {
        self.secret.starts_with(found)
    }

    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn name(index: usize) -> String {
    format!("tenant-{index}")
}

/// Every secret in a text, whole or cut short, in its order, once each: what the model of the torture was shown.
pub fn secrets_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.starts_with(SECRET)) {
        if !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Tenant, secrets_in};

    #[test]
    fn each_secret_is_found_once_in_what_its_tenant_writes() {
        let (a, b) = (Tenant::new(0, String::new()), Tenant::new(9, String::new()));
        let text = format!("<episode>{} {} says</episode> {}, {}", a.word, a.secret, b.secret, a.secret);
        assert_eq!(secrets_in(&text), [&a.secret, &b.secret]);
    }

    #[test]
    fn no_secret_is_another_one_or_its_beginning() {
        let tenants: Vec<Tenant> = (0..100).map(|index| Tenant::new(index, String::new())).collect();
        for (index, one) in tenants.iter().enumerate() {
            assert_eq!(one.secret.len(), tenants[0].secret.len());
            for other in &tenants[index + 1..] {
                assert!(!one.secret.contains(&other.secret) && !other.secret.contains(&one.secret));
            }
        }
    }

    #[test]
    fn a_secret_that_was_cut_short_is_its_tenants_and_nobody_elses() {
        // the same word, and one number is the beginning of the other
        let (own, other) = (Tenant::new(1, String::new()), Tenant::new(17, String::new()));
        let cut = &own.secret[..own.secret.len() - 3];
        let text = format!("{} {cut}… learned", own.word);
        assert_eq!(secrets_in(&text), [cut]);
        assert!(own.owns(cut) && own.owns(&own.secret));
        assert!(!other.owns(cut) && !other.owns(&own.secret));
    }
}
