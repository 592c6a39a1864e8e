//! The tenants, and the words that identify what each of them wrote.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::journal::Known;

pub struct Tenant {
    pub name: String,
    pub token: String,
    /// In everything the tenant writes. Other tenants ask for it.
    pub word: String,
    /// Next to the word in everything the tenant writes, and in no query: an answer that contains it contains the tenant's
    /// memory.
    pub secret: String,
    known: Mutex<Known>,
}

const WORDS: [&str; 8] = ["quartz", "walnut", "copper", "velvet", "saffron", "granite", "juniper", "amber"];

/// The prefix of every secret.
const SECRET_PREFIX: &str = "hush";

/// The word and the secret of a tenant. Both contain its number, so they are unique. All secrets have the same length, so
/// none is a prefix of another; the number comes first, so a secret that is cut short still identifies its tenant.
fn words(index: usize) -> (String, String) {
    let word = WORDS[index % WORDS.len()];
    (format!("{word}{index}"), format!("{SECRET_PREFIX}{index:03}{word:x<7}"))
}

impl Tenant {
    pub fn new(index: usize, token: String) -> Self {
        let (word, secret) = words(index);
        Self { name: name(index), token, word, secret, known: Mutex::default() }
    }

    /// Whether a secret in a text is this tenant's. It may be cut short, by a limit or in a snippet.
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

/// The distinct secrets in a text, whole or cut short, in their order.
pub fn secrets_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.starts_with(SECRET_PREFIX)) {
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
    fn no_secret_contains_another() {
        let tenants: Vec<Tenant> = (0..100).map(|index| Tenant::new(index, String::new())).collect();
        for (index, one) in tenants.iter().enumerate() {
            assert_eq!(one.secret.len(), tenants[0].secret.len());
            for other in &tenants[index + 1..] {
                assert!(!one.secret.contains(&other.secret) && !other.secret.contains(&one.secret));
            }
        }
    }

    #[test]
    fn a_secret_that_is_cut_short_still_identifies_its_tenant() {
        // the same word, and one number is a prefix of the other
        let (own, other) = (Tenant::new(1, String::new()), Tenant::new(17, String::new()));
        let cut = &own.secret[..own.secret.len() - 3];
        let text = format!("{} {cut}… learned", own.word);
        assert_eq!(secrets_in(&text), [cut]);
        assert!(own.owns(cut) && own.owns(&own.secret));
        assert!(!other.owns(cut) && !other.owns(&own.secret));
    }
}
