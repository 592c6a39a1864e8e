//! Finds and removes the bearer token in a client's configuration.

use butler_host::session::SERVER_NAME;
use serde_json::json;

use super::Client;
use super::formats::Format;

/// The text that replaces a token in a backup.
const REMOVED: &str = "REMOVED";

/// The header of butler's entry that may contain a token.
pub struct TokenPlace {
    client: Client,
}

impl TokenPlace {
    pub fn of(client: Client) -> Self {
        Self { client }
    }

    /// The token itself; `None` if there is none or the entry names a variable instead.
    pub fn token(&self, text: &str) -> Option<String> {
        let (format, servers) = (self.client.format(), self.client.servers_path());
        let entry = format.entry(text, servers).ok()??;
        let header = match format {
            Format::Json | Format::JsonWithComments => entry["headers"]["Authorization"].as_str()?.to_owned(),
            Format::Toml => entry["http_headers"]["Authorization"].as_str()?.to_owned(),
            // The client may have written the headers in a style of its own, so look for the text.
            Format::Yaml => {
                let own = &text[text.find(&format!("{SERVER_NAME}:"))?..];
                let token = &own[own.find("Bearer ")?..];
                let end = token[7..].find(['"', '\'', '}', ',', '\n']).map_or(token.len(), |end| end + 7);
                token[..end].trim_end().to_owned()
            }
        };
        let token = header.strip_prefix("Bearer ")?;
        let is_reference = ["${", "{env:"].iter().any(|start| token.starts_with(start));
        (!is_reference && token != REMOVED).then(|| token.to_owned())
    }

    /// The text without the token.
    pub fn scrubbed(&self, text: &str) -> String {
        let Some(token) = self.token(text) else { return text.to_owned() };
        let format = self.client.format();
        if matches!(format, Format::Toml | Format::Yaml) {
            return text.replace(&token, REMOVED);
        }
        let header: Vec<&str> =
            self.client.servers_path().iter().copied().chain([SERVER_NAME, "headers", "Authorization"]).collect();
        let Ok(mut document) = format.document(text) else { return text.to_owned() };
        match document.set(&header, &json!(format!("Bearer {REMOVED}"))) {
            Ok(()) => document.text().to_owned(),
            Err(_) => text.to_owned(),
        }
    }
}
