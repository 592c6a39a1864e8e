//! The system prompt of a session: the butler's own prompt, followed by the context from memory.

use std::fs;
use std::path::Path;

/// The files with a butler's own system prompt. The second is used only if its text differs.
const FILES: [&str; 2] = ["CLAUDE.md", "AGENTS.md"];

/// Reads the butler's own system prompt from the directory of its configuration.
pub fn own_prompt(folder: &Path) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for file in FILES {
        match fs::read_to_string(folder.join(file)) {
            Ok(text) if !text.trim().is_empty() && !texts.contains(&text) => texts.push(text),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(file = %folder.join(file).display(), %error, "cannot read a file of the system prompt")
            }
        }
    }
    (!texts.is_empty()).then(|| texts.iter().map(|text| text.trim_end()).collect::<Vec<_>>().join("\n\n"))
}

/// Joins the butler's own prompt and the context.
pub(super) fn system(own: Option<&str>, context: Option<&str>) -> Option<String> {
    match (own, context) {
        (Some(own), Some(context)) => Some(format!("{own}\n\n{context}")),
        (Some(text), None) | (None, Some(text)) => Some(text.to_owned()),
        (None, None) => None,
    }
}
