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

/// The word and the secret of a tenant; more tenants than words share none, since each carries its number.
fn words(index: usize) -> (String, String) {
    let word = WORDS[index % WORDS.len()];
    (format!("{word}{index}"), format!("hush{word}{index}"))
}

impl Tenant {
    pub fn new(index: usize, token: String) -> Self {
        let (word, secret) = words(index);
        Self { name: name(index), token, word, secret, known: Mutex::default() }
    }

    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn name(index: usize) -> String {
    format!("tenant-{index}")
}

/// Every secret in a text, in its order, once each: what the model of the torture was shown.
pub fn secrets_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.starts_with("hush")) {
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
}
