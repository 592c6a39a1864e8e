//! A JSON scanner that records the position of every value.

use std::ops::Range;

use serde::de::IgnoredAny;

/// Maximum nesting depth, which bounds the recursion.
const MAX_DEPTH: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub span: Range<usize>,
    /// The entries of an object or array; `None` for a scalar.
    pub entries: Option<Vec<Entry>>,
    pub is_array: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: Option<String>,
    /// Where the entry starts: at its key in an object, at its value in an array.
    pub start: usize,
    pub value: Node,
}

#[derive(Debug)]
pub struct SyntaxError {
    pub at: usize,
    pub reason: &'static str,
}

pub struct Scanner<'a> {
    text: &'a str,
    comments: bool,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str, comments: bool) -> Self {
        Self { text, comments }
    }

    pub fn document(&self) -> Result<Node, SyntaxError> {
        // Some editors write a byte order mark.
        let start = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
        let node = self.node(self.skip(start), 0)?;
        match self.skip(node.span.end) {
            end if end == self.text.len() => Ok(node),
            at => Err(SyntaxError { at, reason: "unexpected text after the end of the document" }),
        }
    }

    /// Returns the next position that is not whitespace or, where allowed, a comment.
    pub fn skip(&self, mut at: usize) -> usize {
        loop {
            let rest = &self.text[at..];
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            at += rest.len() - trimmed.len();
            let comment = match trimmed.get(..2) {
                Some("//") if self.comments => trimmed.find('\n').unwrap_or(trimmed.len()),
                Some("/*") if self.comments => trimmed.find("*/").map_or(trimmed.len(), |end| end + 2),
                _ => return at,
            };
            at += comment;
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn node(&self, at: usize, depth: usize) -> Result<Node, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(SyntaxError { at, reason: "nested too deeply" });
        }
        match self.byte(at) {
            Some(b'{') => self.entries(at, b'}', depth),
            Some(b'[') => self.entries(at, b']', depth),
            Some(_) => {
                let end = self.plain_end(at);
                match serde_json::from_str::<IgnoredAny>(&self.text[at..end]) {
                    Ok(_) => Ok(Node { span: at..end, entries: None, is_array: false }),
                    Err(_) => Err(SyntaxError { at, reason: "expected a value" }),
                }
            }
            None => Err(SyntaxError { at, reason: "unexpected end of file" }),
        }
    }

    /// Returns the end of a string, number or keyword.
    fn plain_end(&self, at: usize) -> usize {
        if self.byte(at) != Some(b'"') {
            let ends = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | '}' | ']' | ':' | '/');
            return self.text[at..].find(ends).map_or(self.text.len(), |end| at + end);
        }
        let mut escaped = false;
        for (offset, byte) in self.text.bytes().enumerate().skip(at + 1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => return offset + 1,
                _ => {}
            }
        }
        self.text.len()
    }

    fn entries(&self, start: usize, close: u8, depth: usize) -> Result<Node, SyntaxError> {
        let is_array = close == b']';
        let mut entries = Vec::new();
        let mut at = self.skip(start + 1);
        loop {
            if self.byte(at) == Some(close) && (entries.is_empty() || self.comments) {
                break;
            }
            let entry = if is_array {
                Entry { key: None, start: at, value: self.node(at, depth + 1)? }
            } else {
                self.member(at, depth)?
            };
            at = self.skip(entry.value.span.end);
            entries.push(entry);
            match self.byte(at) {
                Some(b',') => at = self.skip(at + 1),
                Some(byte) if byte == close => break,
                _ => return Err(SyntaxError { at, reason: "expected a comma or the end of the object or array" }),
            }
        }
        Ok(Node { span: start..at + 1, entries: Some(entries), is_array })
    }

    fn member(&self, at: usize, depth: usize) -> Result<Entry, SyntaxError> {
        let expected = SyntaxError { at, reason: "expected a quoted key" };
        if self.byte(at) != Some(b'"') {
            return Err(expected);
        }
        let end = self.plain_end(at);
        let Ok(key) = serde_json::from_str::<String>(&self.text[at..end]) else { return Err(expected) };
        let colon = self.skip(end);
        if self.byte(colon) != Some(b':') {
            return Err(SyntaxError { at: colon, reason: "expected a colon" });
        }
        Ok(Entry { key: Some(key), start: at, value: self.node(self.skip(colon + 1), depth + 1)? })
    }
}
