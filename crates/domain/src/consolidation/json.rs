//! A lenient JSON reader for the output of language models. It accepts comments, trailing and missing commas, single
//! quotes, unquoted words, unescaped quotes and truncated text. It runs in linear time and without recursion, so deep
//! nesting cannot exhaust the stack.

#[cfg(test)]
mod tests;

/// Deeper nesting is skipped; an answer needs only depth 4, for the tags of an action.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Json>),
    /// The entries in their order, including duplicate keys.
    Object(Vec<(String, Json)>),
}

/// The result of [`read_object`].
#[derive(Debug, PartialEq)]
pub(super) struct ParsedObject {
    pub value: Json,
    /// Byte offset after the object.
    pub end: usize,
    /// Whether the text ended inside the object.
    pub cut_off: bool,
    /// The kinds of syntax errors that were repaired, each with the byte offset of its first occurrence.
    pub repairs: Vec<(usize, &'static str)>,
}

/// Reads the object whose `{` is at `start`. If the text ends inside it, containers up to `keep_depth` keep their
/// complete items, and deeper containers are dropped, because an incomplete action cannot be used.
pub(super) fn read_object(text: &str, start: usize, keep_depth: usize) -> ParsedObject {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: start, stack: Vec::new(), repairs: Vec::new() };
    let mut done = None;
    while done.is_none() && reader.at < reader.bytes.len() {
        done = reader.step();
    }
    let cut_off = done.is_none();
    let value = done.unwrap_or_else(|| reader.salvage(keep_depth));
    ParsedObject { value, end: reader.at.min(text.len()), cut_off, repairs: reader.repairs }
}

impl ParsedObject {
    /// Whether text was skipped to make sense of the object. It may then have swallowed the beginning of another one.
    pub fn is_doubtful(&self) -> bool {
        self.repairs.iter().any(|(_, what)| *what == UNEXPECTED)
    }
}

const UNEXPECTED: &str = "unexpected text";

enum Frame {
    Array(Vec<Json>),
    Object { entries: Vec<(String, Json)>, key: Option<String> },
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Frame>,
    repairs: Vec<(usize, &'static str)>,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn repaired(&mut self, what: &'static str) {
        if !self.repairs.iter().any(|(_, known)| *known == what) {
            self.repairs.push((self.at, what));
        }
    }

    /// Consumes one token. Returns the root object if the token closes it.
    fn step(&mut self) -> Option<Json> {
        let byte = self.peek(0)?;
        match byte {
            _ if byte.is_ascii_whitespace() => self.at += 1,
            b'/' if matches!(self.peek(1), Some(b'/' | b'*')) => self.comment(),
            b',' => self.comma(),
            b'}' | b']' => return self.close(byte),
            _ => match self.stack.last() {
                Some(Frame::Object { key: None, .. }) => self.key(byte),
                _ => self.value(byte),
            },
        }
        None
    }

    fn comment(&mut self) {
        self.repaired("comment");
        let rest = &self.bytes[self.at + 2..];
        let length = if self.peek(1) == Some(b'/') {
            rest.iter().position(|b| *b == b'\n')
        } else {
            rest.windows(2).position(|w| w == b"*/").map(|i| i + 2)
        };
        self.at = length.map_or(self.bytes.len(), |length| self.at + 2 + length);
    }

    fn comma(&mut self) {
        if matches!(self.stack.last(), Some(Frame::Object { key: Some(_), .. })) {
            self.repaired("missing value");
            self.put(Json::Null);
        }
        let after = self.bytes[self.at + 1..].iter().find(|b| !b.is_ascii_whitespace());
        if matches!(after, Some(b'}' | b']' | b',')) {
            self.repaired("trailing comma");
        }
        self.at += 1;
    }

    /// Closes the innermost container of this kind and all containers open inside it. A closer without a matching
    /// opener is skipped.
    fn close(&mut self, closer: u8) -> Option<Json> {
        let matches = |frame: &Frame| matches!(frame, Frame::Array(_)) == (closer == b']');
        if !self.stack.iter().any(matches) {
            self.repaired(UNEXPECTED);
            self.at += 1;
            return None;
        }
        self.at += 1;
        while let Some(frame) = self.stack.pop() {
            let is_target = matches(&frame);
            if matches!(frame, Frame::Object { key: Some(_), .. }) {
                self.repaired("missing value");
            }
            let value = finished(frame);
            if self.stack.is_empty() {
                return Some(value);
            }
            self.put(value);
            if is_target {
                break;
            }
            self.repaired("missing bracket");
        }
        None
    }

    fn key(&mut self, byte: u8) {
        let key = match byte {
            b'"' | b'\'' => match self.string(byte) {
                Some(key) => key,
                None => return,
            },
            _ if is_word(byte) => {
                self.repaired("unquoted key");
                self.word(is_word)
            }
            _ => {
                self.repaired(UNEXPECTED);
                self.skip_char();
                return;
            }
        };
        while self.peek(0).is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
        if self.peek(0) == Some(b':') {
            self.at += 1;
            if let Some(Frame::Object { key: slot, .. }) = self.stack.last_mut() {
                *slot = Some(key);
            }
        } else if self.at < self.bytes.len() {
            self.repaired("key without a value");
        }
    }

    fn value(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' if self.stack.len() >= MAX_DEPTH => {
                self.repaired("nesting too deep");
                self.skip_nested();
                self.put(Json::Null);
            }
            b'{' => {
                self.at += 1;
                self.stack.push(Frame::Object { entries: Vec::new(), key: None });
            }
            b'[' => {
                self.at += 1;
                self.stack.push(Frame::Array(Vec::new()));
            }
            b'"' | b'\'' => {
                if let Some(text) = self.string(byte) {
                    self.put(Json::String(text));
                }
            }
            b':' => {
                self.repaired(UNEXPECTED);
                self.at += 1;
            }
            _ => self.bare(),
        }
    }

    /// Reads a number, a literal or a word that should have been quoted. It is discarded at the end of the text, where
    /// it may be incomplete.
    fn bare(&mut self) {
        let start = self.at;
        let word = self.word(|b| !matches!(b, b',' | b'}' | b']' | b'{' | b'[' | b'"' | b'\n'));
        if self.at >= self.bytes.len() {
            return;
        }
        let value = match word.trim() {
            "true" | "True" => Json::Bool(true),
            "false" | "False" => Json::Bool(false),
            "null" | "None" => Json::Null,
            other => match other.parse::<f64>().ok().filter(|n| n.is_finite()) {
                Some(number) => Json::Number(number),
                None => {
                    let end = std::mem::replace(&mut self.at, start);
                    self.repaired("unquoted text");
                    self.at = end;
                    Json::String(other.to_owned())
                }
            },
        };
        self.put(value);
    }

    /// Reads up to a comment or the first byte for which `belongs` is false. Consumes at least one character, so that
    /// the reader always advances.
    fn word(&mut self, belongs: impl Fn(u8) -> bool) -> String {
        let rest = &self.bytes[self.at..];
        let comment = |i: usize| rest[i] == b'/' && matches!(rest.get(i + 1), Some(b'/' | b'*'));
        let length = (0..rest.len()).find(|i| !belongs(rest[*i]) || comment(*i)).unwrap_or(rest.len());
        let start = self.at;
        self.at += length;
        if length == 0 {
            self.skip_char();
        }
        self.text[start..self.at].to_owned()
    }

    fn skip_char(&mut self) {
        self.at += 1;
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    /// Reads a string. Returns `None` if the text ends inside it.
    fn string(&mut self, quote: u8) -> Option<String> {
        if quote == b'\'' {
            self.repaired("single quotes");
        }
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.bytes[self.at..];
            let Some(plain) = rest.iter().position(|b| *b == quote || *b == b'\\') else {
                self.at = self.bytes.len();
                return None;
            };
            out.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            if self.bytes[self.at] == b'\\' {
                match self.escape() {
                    Some(c) => out.push(c),
                    None => {
                        self.at = self.bytes.len();
                        return None;
                    }
                }
            } else if self.ends_string() {
                self.at += 1;
                return Some(out);
            } else {
                self.repaired("unescaped quote");
                self.at += 1;
                out.push(char::from(quote));
            }
        }
    }

    /// Whether the quote at the current position ends the string. It does so only if JSON can continue after it;
    /// otherwise it belongs to the text, as in `"he said "no" to me"`.
    fn ends_string(&self) -> bool {
        let rest = &self.bytes[self.at + 1..];
        let Some(blank) = rest.iter().position(|b| !b.is_ascii_whitespace()) else { return true };
        match rest[blank] {
            b',' | b':' | b'}' | b']' => true,
            b'/' => matches!(rest.get(blank + 1), Some(b'/' | b'*')),
            // A comma is missing between two lines.
            b'"' | b'\'' => rest[..blank].contains(&b'\n'),
            _ => false,
        }
    }

    /// Reads one escape sequence. An unknown escape stands for the character itself, an unpaired surrogate for the
    /// replacement character.
    fn escape(&mut self) -> Option<char> {
        let escaped = self.text[self.at + 1..].chars().next()?;
        self.at += 1 + escaped.len_utf8();
        Some(match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => self.unicode_escape(),
            other => other,
        })
    }

    fn unicode_escape(&mut self) -> char {
        let Some(first) = self.hex4() else { return char::REPLACEMENT_CHARACTER };
        if (0xD800..0xDC00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            let before = self.at;
            self.at += 2;
            if let Some(second) = self.hex4().filter(|low| (0xDC00..0xE000).contains(low)) {
                let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            }
            self.at = before;
        }
        char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let code = u32::from_str_radix(&self.text[self.at..self.at + 4], 16).ok()?;
        self.at += 4;
        Some(code)
    }

    /// Skips a container that is nested too deeply, including brackets inside its strings.
    fn skip_nested(&mut self) {
        let mut depth = 0usize;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b'"' => {
                    self.string(b'"');
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn put(&mut self, value: Json) {
        match self.stack.last_mut() {
            Some(Frame::Array(items)) => items.push(value),
            Some(Frame::Object { entries, key }) => {
                if let Some(key) = key.take() {
                    entries.push((key, value));
                }
            }
            None => {}
        }
    }

    /// Closes the containers that are open at the end of the text and drops those deeper than `keep_depth`.
    fn salvage(&mut self, keep_depth: usize) -> Json {
        self.stack.truncate(keep_depth);
        loop {
            let Some(value) = self.stack.pop().map(finished) else { return Json::Null };
            if self.stack.is_empty() {
                return value;
            }
            self.put(value);
        }
    }
}

fn finished(frame: Frame) -> Json {
    match frame {
        Frame::Array(items) => Json::Array(items),
        Frame::Object { entries, key: None } => Json::Object(entries),
        Frame::Object { mut entries, key: Some(key) } => {
            entries.push((key, Json::Null));
            Json::Object(entries)
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}
