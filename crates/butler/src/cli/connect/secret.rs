//! Finds and removes the bearer token in a client's configuration.

use butler_host::session::SERVER_NAME;
use serde_json::json;

use super::Client;
use super::json::Document;

/// The text that replaces a token in a backup.
const REMOVED: &str = "Bearer REMOVED";

/// The header of butler's entry that may contain a token.
pub struct TokenPlace {
    path: [&'static str; 4],
    comments: bool,
}

impl TokenPlace {
    pub fn of(client: Client) -> Self {
        let path = [client.servers_key(), SERVER_NAME, "headers", "Authorization"];
        Self { path, comments: client.allows_comments() }
    }

    /// The token itself; `None` if there is none or the entry names a variable instead.
    pub fn token(&self, text: &str) -> Option<String> {
        let header = Document::new(text, self.comments).ok()?.get(&self.path)?;
        let token = header.as_str()?.strip_prefix("Bearer ")?;
        let is_reference = token.starts_with("${") && token.ends_with('}');
        (!is_reference && header != REMOVED).then(|| token.to_owned())
    }

    /// The text without the token.
    pub fn scrubbed(&self, text: &str) -> String {
        let Ok(mut document) = Document::new(text, self.comments) else { return text.to_owned() };
        if self.token(text).is_none() || document.set(&self.path, &json!(REMOVED)).is_err() {
            return text.to_owned();
        }
        document.text().to_owned()
    }
}
