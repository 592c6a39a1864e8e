//! Just enough of a Rust lexer for the house rules: identifiers, punctuation and string literals, without comments.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// An identifier, keyword or number.
    Word(&'a str),
    /// `::` as one token, every other character on its own.
    Punctuation(&'a str),
    /// The inside of a string literal of any kind, with its escapes.
    Text(&'a str),
}

/// The tokens of a source file, each with its line number.
pub fn tokens(source: &str) -> Vec<(usize, Token<'_>)> {
    let mut lexer = Lexer { source, at: 0, line: 1, tokens: Vec::new() };
    while lexer.at < source.len() {
        lexer.step();
    }
    lexer.tokens
}

/// The functions of a source file: line, name and number of lines. Lines inside a string literal do not count: a long SQL
/// statement or template is one thing.
pub fn functions(source: &str) -> Vec<(usize, &str, usize)> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    for (index, pair) in tokens.windows(2).enumerate() {
        if let [(line, Token::Word("fn")), (_, Token::Word(name))] = pair
            && let Some(lines) = function_lines(&tokens[index..])
        {
            found.push((*line, *name, lines));
        }
    }
    found
}

/// The lines of the function that begins with these tokens; `None` if it has no body.
fn function_lines(tokens: &[(usize, Token<'_>)]) -> Option<usize> {
    let (first, _) = tokens.first()?;
    let (mut braces, mut brackets, mut in_texts) = (0_usize, 0_usize, 0);
    for (line, token) in tokens {
        match token {
            Token::Text(text) => in_texts += text.matches('\n').count(),
            Token::Punctuation("(" | "[") => brackets += 1,
            Token::Punctuation(")" | "]") => brackets = brackets.saturating_sub(1),
            // Not the one of a parameter's type, such as `[u8; 4]`.
            Token::Punctuation(";") if braces == 0 && brackets == 0 => return None,
            Token::Punctuation("{") => braces += 1,
            Token::Punctuation("}") if braces > 1 => braces -= 1,
            Token::Punctuation("}") => return Some(*line - *first + 1 - in_texts),
            _ => {}
        }
    }
    None
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: usize,
    tokens: Vec<(usize, Token<'a>)>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Moves on by a number of bytes and returns them.
    fn skip(&mut self, bytes: usize) -> &'a str {
        let skipped = &self.rest()[..bytes];
        self.line += skipped.matches('\n').count();
        self.at += bytes;
        skipped
    }

    fn step(&mut self) {
        let (rest, line) = (self.rest(), self.line);
        let first = rest.chars().next().unwrap_or(' ');
        if rest.starts_with("//") {
            self.skip(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            self.skip(block_comment(rest));
        } else if let Some((prefix, inside, suffix)) = string(rest) {
            self.skip(prefix);
            let text = self.skip(inside);
            self.skip(suffix);
            self.tokens.push((line, Token::Text(text)));
        } else if first == '\'' {
            self.skip(character(rest));
        } else if is_word(first) {
            // the word of a raw identifier
            let rest = rest.strip_prefix("r#").map_or(rest, |word| {
                self.skip(2);
                word
            });
            let word = self.skip(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            self.tokens.push((line, Token::Word(word)));
        } else if first.is_whitespace() {
            self.skip(first.len_utf8());
        } else {
            let length = if rest.starts_with("::") { 2 } else { first.len_utf8() };
            let sign = self.skip(length);
            self.tokens.push((line, Token::Punctuation(sign)));
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a block comment, which may contain others.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The lengths of what stands before, in and after a string literal: `br##"`, the text, `"##`.
fn string(rest: &str) -> Option<(usize, usize, usize)> {
    let quote = rest.find('"')?;
    let before = &rest[..quote];
    let hashes = before.len() - before.trim_end_matches('#').len();
    let inside = &rest[quote + 1..];
    match &before[..before.len() - hashes] {
        "r" | "br" | "cr" => {
            let end = format!("\"{}", "#".repeat(hashes));
            let length = inside.find(&end).unwrap_or(inside.len());
            Some((quote + 1, length, end.len().min(inside.len() - length)))
        }
        "" | "b" | "c" if hashes == 0 => {
            let mut escaped = false;
            let end = inside.find(|c| {
                let found = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                found
            });
            Some((quote + 1, end.unwrap_or(inside.len()), usize::from(end.is_some())))
        }
        _ => None,
    }
}

/// The length of a character literal, or of the quote before a lifetime.
fn character(rest: &str) -> usize {
    let mut inside = rest.char_indices().skip(1);
    match (inside.next(), inside.next()) {
        (Some((_, '\\')), Some((escaped, _))) => {
            // the escaped character may be a quote itself
            rest.char_indices().find(|(at, c)| *at > escaped && *c == '\'').map_or(rest.len(), |(at, _)| at + 1)
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{Token, functions, tokens};

    fn words(source: &str) -> Vec<&str> {
        let word = |(_, token)| if let Token::Word(word) = token { Some(word) } else { None };
        tokens(source).into_iter().filter_map(word).collect()
    }

    fn texts(source: &str) -> Vec<&str> {
        let text = |(_, token)| if let Token::Text(text) = token { Some(text) } else { None };
        tokens(source).into_iter().filter_map(text).collect()
    }

    #[test]
    fn comments_are_left_out() {
        assert_eq!(words("a // b \" \n c /* d /* e */ f */ g /// h"), ["a", "c", "g"]);
        assert_eq!(texts("// \"a\"\n\"// b\""), ["// b"]);
    }

    #[test]
    fn every_kind_of_string_literal_is_read() {
        assert_eq!(
            texts(r###"("a\"b", b"c", r"d\", r#"e"f"#, br##"g"# h"##, c"i")"###),
            [r#"a\"b"#, "c", r"d\", r#"e"f"#, r##"g"# h"##, "i"]
        );
        assert_eq!(words("r#type(\"text\")"), ["type"]);
    }

    #[test]
    fn characters_and_lifetimes_do_not_begin_a_string() {
        assert_eq!(texts(r#"fn f<'a>(x: &'a str) { g('"', '\'', '\\', '\u{22}', "s") }"#), ["s"]);
    }

    #[test]
    fn paths_are_the_same_however_they_are_spaced() {
        let path = [(1, Token::Word("a")), (1, Token::Punctuation("::")), (1, Token::Word("b"))];
        assert_eq!(tokens("a::b"), path);
        assert_eq!(tokens("a :: /* c */ b"), path);
    }

    #[test]
    fn functions_are_measured_without_the_lines_of_their_texts() {
        let source =
            "trait T {\n fn none(x: [u8; 4]);\n}\nfn a() {\n  let f = || { '}' };\n  fn b() {}\n  ask(\"\n\n\")\n}";
        assert_eq!(functions(source), [(4, "a", 5), (6, "b", 1)]);
    }

    #[test]
    fn lines_are_counted_in_comments_and_strings() {
        let last = tokens("/*\n\n*/ \"\n\" a").last().copied();
        assert_eq!(last, Some((4, Token::Word("a"))));
    }
}
