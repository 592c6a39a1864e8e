//! Claude Code's memory files: Markdown in which each bullet or paragraph is a memory about the heading above it.

use butler_domain::Permanence;
use serde_json::Map;

use super::{Parsed, ParsedFact, unique_predicate};

pub(super) fn parse(text: &str, name: &str) -> Parsed {
    let mut reader = Reader { parsed: Parsed::default(), heading: name.to_owned(), open: None };
    let mut fenced = false;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
            reader.append(number, line);
        } else if fenced {
            reader.append(number, line);
        } else if trimmed.is_empty() {
            reader.close();
        } else if let Some(heading) = trimmed.strip_prefix('#') {
            reader.close();
            let heading = heading.trim_start_matches('#').trim();
            reader.heading = if heading.is_empty() { name.to_owned() } else { heading.to_owned() };
        } else if let Some(path) = trimmed.strip_prefix('@').filter(|path| !path.contains(' ')) {
            reader.close();
            reader.parsed.problems.push((number, format!("refers to another file, {path}; import that file as well")));
        } else if let Some(item) = bullet(trimmed) {
            reader.close();
            reader.open = Some((number, item.to_owned()));
        } else {
            reader.append(number, trimmed);
        }
    }
    reader.close();
    reader.parsed
}

/// Whether the text has a heading or a list.
pub(super) fn is_markdown(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| line.starts_with("# ") || line.starts_with("##") || bullet(line).is_some())
}

struct Reader {
    parsed: Parsed,
    heading: String,
    /// The memory being read, with the number of its first line.
    open: Option<(u64, String)>,
}

impl Reader {
    fn append(&mut self, number: u64, line: &str) {
        let (_, text) = self.open.get_or_insert_with(|| (number, String::new()));
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
    }

    fn close(&mut self) {
        let Some((line, content)) = self.open.take().filter(|(_, content)| !content.trim().is_empty()) else { return };
        self.parsed.facts.push(ParsedFact {
            line,
            subject: self.heading.clone(),
            predicate: unique_predicate("note", &content),
            content,
            object: None,
            permanence: Permanence::Stable,
            tags: vec!["claude-code".to_owned()],
            metadata: Map::new(),
        });
    }
}

/// The text of `- item`, `* item`, `+ item` or `1. item`.
fn bullet(line: &str) -> Option<&str> {
    if let Some(item) = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(item.trim());
    }
    let (number, item) = line.split_once(". ")?;
    (!number.is_empty() && number.len() <= 3 && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| item.trim())
}
