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
                let own = &text[format.span(text, servers)?];
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
            // Other entries may contain the same text. Without a block of its own, the token must not stay anywhere.
            let own = format.span(text, self.client.servers_path()).unwrap_or(0..text.len());
            let scrubbed = text[own.clone()].replace(&token, REMOVED);
            return format!("{}{scrubbed}{}", &text[..own.start], &text[own.end..]);
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

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str = "  other:\n    headers:\n      Authorization: Bearer secret\n";

    #[test]
    fn the_token_of_another_extension_is_not_taken_for_butlers() {
        let goose = TokenPlace::of(Client::Goose);
        let text = format!("extensions:\n  butler-memory:\n    type: stdio\n{OTHER}");
        assert_eq!(goose.token(&text), None);
        assert_eq!(goose.scrubbed(&text), text);
    }

    #[test]
    fn scrubbing_changes_only_the_entry_of_butler() {
        let goose = TokenPlace::of(Client::Goose);
        let text = |token: &str| {
            let own = format!("  butler-memory:\n    headers:\n      Authorization: Bearer {token}\n");
            format!("extensions:\n{own}{OTHER}")
        };
        assert_eq!(goose.token(&text("secret")).as_deref(), Some("secret"));
        assert_eq!(goose.scrubbed(&text("secret")), text(REMOVED));

        let codex = TokenPlace::of(Client::Codex);
        let text = |token: &str| {
            let table = |name: &str, token: &str| {
                format!("[mcp_servers.{name}.http_headers]\nAuthorization = \"Bearer {token}\"\n\n")
            };
            table("butler-memory", token) + &table("other", "secret")
        };
        assert_eq!(codex.token(&text("secret")).as_deref(), Some("secret"));
        assert_eq!(codex.scrubbed(&text("secret")), text(REMOVED));
    }
}
