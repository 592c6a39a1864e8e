//! Edits single members of a JSON file. The order, whitespace and comments of everything else are preserved.

use std::ops::Range;

use serde::Serialize;
use serde_json::{Map, Value};

use super::scan::{Entry, Node, Scanner, SyntaxError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    text: String,
    /// Whether comments and trailing commas are allowed, as in VS Code.
    comments: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("line {line}, column {column}: {reason}")]
    Syntax { line: usize, column: usize, reason: &'static str },
    #[error("`{0}` is not {1}")]
    WrongType(String, &'static str),
}

impl Document {
    /// Parses a JSON object. An empty text counts as an empty object.
    pub fn new(text: &str, comments: bool) -> Result<Self, EditError> {
        let text = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
        let document = Self { text, comments };
        match document.root()? {
            Node { entries: Some(_), is_array: false, .. } => Ok(document),
            _ => Err(EditError::WrongType("the file".to_owned(), "a JSON object")),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    fn root(&self) -> Result<Node, EditError> {
        Scanner::new(&self.text, self.comments).document().map_err(|SyntaxError { at, reason }| {
            let before = &self.text[..at.min(self.text.len())];
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            let column = before[line_start..].chars().count() + 1;
            EditError::Syntax { line: before.matches('\n').count() + 1, column, reason }
        })
    }

    pub fn get(&self, path: &[&str]) -> Option<Value> {
        let root = self.root().ok()?;
        let mut node = &root;
        for key in path {
            node = &node.entries.as_ref()?.iter().find(|entry| entry.key.as_deref() == Some(key))?.value;
        }
        Some(self.value(node))
    }

    fn value(&self, node: &Node) -> Value {
        match &node.entries {
            None => serde_json::from_str(&self.text[node.span.clone()]).unwrap_or_default(),
            Some(items) if node.is_array => items.iter().map(|item| self.value(&item.value)).collect(),
            Some(members) => {
                let member = |entry: &Entry| (entry.key.clone().unwrap_or_default(), self.value(&entry.value));
                Value::Object(members.iter().map(member).collect::<Map<_, _>>())
            }
        }
    }

    /// Sets a member. Missing parent objects are created.
    pub fn set(&mut self, path: &[&str], value: &Value) -> Result<(), EditError> {
        let root = self.root()?;
        let (node, depth) = self.descend(&root, path)?;
        let rest = &path[depth..];
        let Some((key, deeper)) = rest.split_first() else {
            let text = self.rendered(value, depth);
            self.text.replace_range(node.span.clone(), &text);
            return Ok(());
        };
        if node.entries.is_none() || node.is_array {
            return Err(EditError::WrongType(path[..depth].join("."), "an object"));
        }
        let value = deeper
            .iter()
            .rev()
            .fold(value.clone(), |value, key| Value::Object([((*key).to_owned(), value)].into_iter().collect()));
        let member = format!("{}: {}", Value::String((*key).to_owned()), self.rendered(&value, depth + 1));
        self.add(&node.clone(), &member, depth);
        Ok(())
    }

    /// Appends an item to an array. A missing array is created.
    pub fn push(&mut self, path: &[&str], item: &Value) -> Result<(), EditError> {
        let root = self.root()?;
        let (node, depth) = self.descend(&root, path)?;
        if depth < path.len() {
            return self.set(path, &Value::Array(vec![item.clone()]));
        }
        if !node.is_array {
            return Err(EditError::WrongType(path.join("."), "an array"));
        }
        let item = self.rendered(item, depth + 1);
        self.add(&node.clone(), &item, depth);
        Ok(())
    }

    /// Removes a member. A missing member is not an error.
    pub fn remove(&mut self, path: &[&str]) -> Result<(), EditError> {
        let Some((key, parents)) = path.split_last() else { return Ok(()) };
        self.remove_where(parents, |entry, _| entry.key.as_deref() == Some(key))
    }

    /// Removes the items of an array that match.
    pub fn remove_items(&mut self, path: &[&str], matches: impl Fn(&Value) -> bool) -> Result<(), EditError> {
        self.remove_where(path, |_, value| matches(value))
    }

    fn remove_where(&mut self, path: &[&str], matches: impl Fn(&Entry, &Value) -> bool) -> Result<(), EditError> {
        loop {
            let root = self.root()?;
            let (node, depth) = self.descend(&root, path)?;
            let entries = node.entries.as_deref().filter(|_| depth == path.len()).unwrap_or_default();
            let Some(at) = entries.iter().position(|entry| matches(entry, &self.value(&entry.value))) else {
                return Ok(());
            };
            self.cut(node, entries, at);
        }
    }

    /// Follows the path as far as it exists. Returns the deepest node and its depth.
    fn descend<'a>(&self, root: &'a Node, path: &[&str]) -> Result<(&'a Node, usize), EditError> {
        let mut node = root;
        for (depth, key) in path.iter().enumerate() {
            let members = node.entries.as_ref().filter(|_| !node.is_array);
            let members = members.ok_or_else(|| EditError::WrongType(path[..depth].join("."), "an object"))?;
            match members.iter().find(|entry| entry.key.as_deref() == Some(key)) {
                Some(entry) => node = &entry.value,
                None => return Ok((node, depth)),
            }
        }
        Ok((node, path.len()))
    }

    /// Adds an entry after the last one, on its own line.
    fn add(&mut self, node: &Node, entry: &str, depth: usize) {
        let indent = self.indent_unit().repeat(depth + 1);
        let Some(last) = node.entries.as_ref().and_then(|entries| entries.last()) else {
            let outdent = self.indent_unit().repeat(depth);
            let at = node.span.start + 1..node.span.end - 1;
            let inner = self.text[at.clone()].trim_end().to_owned();
            self.text.replace_range(at, &format!("{inner}\n{indent}{entry}\n{outdent}"));
            return;
        };
        let end = last.value.span.end;
        let scanner = Scanner::new(&self.text, self.comments);
        let comma = scanner.skip(end);
        let has_comma = self.text.as_bytes().get(comma) == Some(&b',');
        // Insert after a comment that follows the last entry on its line.
        let after = if has_comma { comma + 1 } else { end };
        let line_end = self.text[after..].find('\n').map_or(self.text.len(), |at| after + at);
        let rest = self.text[after..line_end].trim_start();
        let at = if self.comments && rest.starts_with("//") { line_end } else { after };
        let tail = if has_comma { "," } else { "" };
        self.text.insert_str(at, &format!("\n{indent}{entry}{tail}"));
        if !has_comma {
            self.text.insert(end, ',');
        }
    }

    /// Removes an entry together with its comma and its line.
    fn cut(&mut self, node: &Node, entries: &[Entry], at: usize) {
        let span = entries[at].start..entries[at].value.span.end;
        let scanner = Scanner::new(&self.text, self.comments);
        if entries.len() == 1 {
            let inner = node.span.start + 1..node.span.end - 1;
            let mut rest = self.text[inner.clone()].to_owned();
            rest.replace_range(span.start - inner.start..span.end - inner.start, "");
            let rest = rest.replacen(',', "", 1);
            let kept = if rest.trim().is_empty() { String::new() } else { rest };
            self.text.replace_range(inner, &kept);
            return;
        }
        let comma_after = scanner.skip(span.end);
        let has_comma_after = self.text.as_bytes().get(comma_after) == Some(&b',');
        let comma_before = at.checked_sub(1).map(|before| scanner.skip(entries[before].value.span.end));
        let end = if has_comma_after { comma_after + 1 } else { span.end };
        let line = self.line_of(span.start..end);
        self.text.replace_range(line, "");
        if let Some(comma) = comma_before.filter(|_| !has_comma_after) {
            self.text.replace_range(comma..comma + 1, "");
        }
    }

    /// Extends a span to include the preceding line break and indentation.
    fn line_of(&self, span: Range<usize>) -> Range<usize> {
        let before = self.text[..span.start].trim_end_matches([' ', '\t']);
        let start = if before.ends_with('\n') { before.trim_end_matches(['\n', '\r']).len() } else { span.start };
        start..span.end
    }

    fn rendered(&self, value: &Value, depth: usize) -> String {
        let unit = self.indent_unit();
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        // Serialising into memory cannot fail.
        let _ = value.serialize(&mut serializer);
        String::from_utf8_lossy(&bytes).replace('\n', &format!("\n{}", unit.repeat(depth)))
    }

    /// The indentation that the file uses.
    fn indent_unit(&self) -> String {
        let first = self.text.lines().skip(1).find(|line| !line.trim().is_empty() && line.starts_with([' ', '\t']));
        let unit: String = first.unwrap_or("  ").chars().take_while(|c| *c == ' ' || *c == '\t').collect();
        if unit.is_empty() { "  ".to_owned() } else { unit }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut Document)) -> String {
        let mut document = Document::new(text, true).unwrap();
        edit(&mut document);
        document.text().to_owned()
    }

    #[test]
    fn adding_and_removing_a_member_restores_the_text() {
        for text in [
            "{\n  \"z\": 1,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  },\n  \"a\": [1, 2]\n}\n",
            "{\n\t\"z\": true\n}",
            "{\n    // mine\n    \"mcpServers\": {\n        \"a\": 1 // one\n    }\n}\n",
            "{\n  \"mcpServers\": {\n    \"a\": 1, // one\n  },\n}\n",
        ] {
            let added =
                edited(text, |document| document.set(&["mcpServers", "butler"], &json!({"args": ["mcp"]})).unwrap());
            let document = Document::new(&added, true).unwrap();
            assert_eq!(document.get(&["mcpServers", "butler", "args"]), Some(json!(["mcp"])), "{added}");
            let removed = edited(&added, |document| {
                document.remove(&["mcpServers", "butler"]).unwrap();
                if document.get(&["mcpServers"]) == Some(json!({})) {
                    document.remove(&["mcpServers"]).unwrap();
                }
            });
            assert_eq!(removed, text, "via\n{added}");
        }
    }

    #[test]
    fn an_existing_member_is_replaced_in_place() {
        let text = "{\n  \"a\": {\"b\": 1, \"c\": 2},\n  \"d\": 3\n}";
        let set = edited(text, |document| document.set(&["a", "b"], &json!("x")).unwrap());
        assert_eq!(set, "{\n  \"a\": {\"b\": \"x\", \"c\": 2},\n  \"d\": 3\n}");
    }

    #[test]
    fn arrays_are_created_extended_and_filtered() {
        let created = edited("", |document| {
            document.push(&["hooks", "SessionStart"], &json!({"n": 1})).unwrap();
            document.push(&["hooks", "SessionStart"], &json!({"n": 2})).unwrap();
        });
        assert_eq!(
            Document::new(&created, false).unwrap().get(&["hooks", "SessionStart"]),
            Some(json!([{"n": 1}, {"n": 2}]))
        );
        let filtered = edited(&created, |document| {
            document.remove_items(&["hooks", "SessionStart"], |item| item["n"] == 1).unwrap()
        });
        assert_eq!(Document::new(&filtered, false).unwrap().get(&["hooks"]), Some(json!({"SessionStart": [{"n": 2}]})));
    }

    #[test]
    fn invalid_json_is_rejected_with_line_and_column() {
        let place = |text: &str, comments| match Document::new(text, comments).unwrap_err() {
            EditError::Syntax { line, column, .. } => (line, column),
            other => panic!("{other}"),
        };
        assert_eq!(place("{\n  \"a\": \n}", false), (3, 1));
        assert_eq!(place("{\"a\": 1,}", false), (1, 9));
        assert_eq!(place("{\n// why\n}", false), (2, 1));
        assert_eq!(place("{\"a\": tru}", true), (1, 7));
        assert_eq!(place("{\"a\": 1} x", true), (1, 10));
        assert!(matches!(Document::new("[]", false), Err(EditError::WrongType(..))));
        let mut document = Document::new("{\"a\": 1}", false).unwrap();
        assert!(matches!(document.set(&["a", "b"], &json!(1)), Err(EditError::WrongType(..))));
    }
}
