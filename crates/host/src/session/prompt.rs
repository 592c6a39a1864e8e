//! What a session is told before its prompt: who the butler is, then what it remembers.

use std::fs;
use std::path::Path;

/// The files that hold a butler's own system prompt; the second only if it says something else.
const FILES: [&str; 2] = ["CLAUDE.md", "AGENTS.md"];

/// From the folder of the butler's configuration.
pub fn own_prompt(folder: &Path) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for file in FILES {
        match fs::read_to_string(folder.join(file)) {
            Ok(text) if !text.trim().is_empty() && !texts.contains(&text) => texts.push(text),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(file = %folder.join(file).display(), %error, "left out of the system prompt"),
        }
    }
    (!texts.is_empty()).then(|| texts.iter().map(|text| text.trim_end()).collect::<Vec<_>>().join("\n\n"))
}

/// The butler's own words, then memory's.
pub(super) fn system(own: Option<&str>, context: Option<&str>) -> Option<String> {
    match (own, context) {
        (Some(own), Some(context)) => Some(format!("{own}\n\n{context}")),
        (Some(text), None) | (None, Some(text)) => Some(text.to_owned()),
        (None, None) => None,
    }
}
