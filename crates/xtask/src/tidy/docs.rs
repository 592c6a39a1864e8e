//! Every `pub` item of the library crates has a doc line, and so has every `pub` method of a `pub` type.

use super::rust::{Token, tokens};

/// The rest of the program builds on the items of these crates.
const FOLDERS: [&str; 3] = ["crates/domain/src/", "crates/store/src/", "crates/memory/src/"];
/// The constants of a tool say what it is.
const TOOLS: &str = "crates/memory/src/tools/";
const KINDS: [&str; 7] = ["fn", "struct", "enum", "trait", "const", "static", "type"];

pub const REASON: &str = "a pub item needs a doc line";

pub fn applies(path: &str) -> bool {
    let in_tests = path.contains("/tests/") || path.ends_with("tests.rs");
    !in_tests && !path.starts_with(TOOLS) && FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// The `pub` items without a doc line, each with its line number. Not counted are fields, what `#[cfg(test)]` marks,
/// and the methods of a type that this file declares with a narrower visibility.
pub fn find(source: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = source.lines().collect();
    let tokens = tokens(source);
    let narrow = narrow_types(&tokens);
    let mut found = Vec::new();
    // The line of the last token before the item and its attributes: the doc line is below it.
    let mut before = 0;
    let mut at = 0;
    while let Some(&(line, token)) = tokens.get(at) {
        let rest = &tokens[at..];
        if let Some(length) = attribute(rest) {
            let is_test = is_cfg_test(&rest[..length]);
            at += length;
            if is_test {
                at += length_to(&tokens[at..], &["}", ";"]);
                before = tokens[at - 1].0;
            }
            continue;
        }
        if token == Token::Word("impl") && is_of(rest, &narrow) {
            at += length_to(rest, &["}", ";"]);
            before = tokens[at - 1].0;
            continue;
        }
        if let Some(name) = public_item(rest) {
            let above = lines.get(before..line - 1).unwrap_or_default();
            if !above.iter().any(|line| line.trim_start().starts_with("///")) {
                found.push((line, name));
            }
        }
        before = line;
        at += 1;
    }
    found
}

/// The types that are not plainly `pub`.
fn narrow_types<'a>(tokens: &[(usize, Token<'a>)]) -> Vec<&'a str> {
    let word = |index: usize| match tokens.get(index) {
        Some((_, Token::Word(word))) => *word,
        _ => "",
    };
    let is_narrow = |at: &usize| ["struct", "enum"].contains(&word(*at)) && (*at == 0 || word(*at - 1) != "pub");
    (0..tokens.len()).filter(is_narrow).map(|at| word(at + 1)).filter(|name| !name.is_empty()).collect()
}

/// Whether the header of an `impl` block names one of these types.
fn is_of(block: &[(usize, Token<'_>)], types: &[&str]) -> bool {
    let mut header = block.iter().map(|(_, token)| *token).take_while(|token| *token != Token::Punctuation("{"));
    header.any(|token| matches!(token, Token::Word(word) if types.contains(&word)))
}

/// The name of the item that begins here, if it is `pub`.
fn public_item<'a>(tokens: &[(usize, Token<'a>)]) -> Option<&'a str> {
    let mut words = Vec::new();
    for (_, token) in tokens.iter().take(4) {
        let Token::Word(word) = token else { break };
        words.push(*word);
    }
    match words[..] {
        ["pub", "const" | "async" | "unsafe", "fn", name] => Some(name),
        ["pub", kind, name, ..] if KINDS.contains(&kind) => Some(name),
        _ => None,
    }
}

/// The length of the attribute that begins here.
fn attribute(tokens: &[(usize, Token<'_>)]) -> Option<usize> {
    match tokens {
        [(_, Token::Punctuation("#")), rest @ ..] if matches!(rest.first(), Some((_, Token::Punctuation("[")))) => {
            Some(1 + length_to(rest, &["]"]))
        }
        _ => None,
    }
}

fn is_cfg_test(attribute: &[(usize, Token<'_>)]) -> bool {
    let words: Vec<Token<'_>> =
        attribute.iter().map(|(_, token)| *token).filter(|token| matches!(token, Token::Word(_))).collect();
    words == [Token::Word("cfg"), Token::Word("test")]
}

/// The number of tokens up to the first of `ends` that is outside of brackets or closes the last one.
fn length_to(tokens: &[(usize, Token<'_>)], ends: &[&str]) -> usize {
    let mut depth = 0_usize;
    for (index, (_, token)) in tokens.iter().enumerate() {
        let Token::Punctuation(sign) = token else { continue };
        match *sign {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && ends.contains(sign) {
            return index + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::{applies, find};

    fn names(source: &str) -> Vec<&str> {
        find(source).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn a_pub_item_without_a_doc_line_is_found() {
        let source = "
            pub fn a() {}
            pub const fn b() {}
            pub async fn c() {}
            #[derive(Debug)]
            #[error(
                \"broken\"
            )]
            pub enum D { A }
            pub const E: u8 = 1;
            pub type F = u8;
            impl D {
                pub fn g(&self) {}
            }";
        assert_eq!(names(source), ["a", "b", "c", "D", "E", "F", "g"]);
        assert_eq!(find(source)[0], (2, "a"));
    }

    #[test]
    fn a_doc_line_counts_above_and_between_attributes() {
        assert!(
            names("//! A file.\n/// A.\n#[derive(Debug)]\npub struct A;\n#[derive(Debug)]\n/// B.\npub struct B;")
                .is_empty()
        );
        assert_eq!(names("//! A file.\npub struct A;\n// No doc line.\npub struct B;"), ["A", "B"]);
        assert_eq!(names("/// A.\npub struct A; pub struct B;"), ["B"]);
    }

    #[test]
    fn what_is_not_reachable_needs_no_doc_line() {
        for source in [
            "pub(crate) fn a() {}",
            "/// A.\npub struct A {\n    pub b: u8,\n    pub r#type: u8,\n}",
            "pub use a::b;\npub mod c;",
            "pub(super) struct A<T>(T);\nimpl<T> A<T> {\n    pub fn b() { c() }\n    pub fn d() {}\n}",
            "#[cfg(test)]\nmod tests {\n    pub fn a() {}\n    pub struct B;\n}",
            "#[cfg(test)]\nmod tests;\n/// A.\npub fn a() {}",
            "macro_rules! id { ($name:ident) => { pub struct $name(u8); } }",
        ] {
            assert!(names(source).is_empty(), "{source}");
        }
        assert_eq!(names("#[cfg(test)]\nmod tests;\npub fn a() {}"), ["a"]);
        assert_eq!(names("struct A;\nimpl A { pub fn b() {} }\npub fn c() {}"), ["c"]);
    }

    #[test]
    fn the_rule_is_for_the_library_crates() {
        for path in ["crates/domain/src/a.rs", "crates/store/src/a/b.rs", "crates/memory/src/a.rs"] {
            assert!(applies(path), "{path}");
        }
        for path in ["crates/host/src/a.rs", "crates/memory/src/tools/a.rs", "crates/domain/src/a/tests.rs"] {
            assert!(!applies(path), "{path}");
        }
    }
}
