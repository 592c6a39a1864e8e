//! Finds secrets in text and replaces them before the text is stored, embedded or logged.
//!
//! Every rule has anchors: literals that each of its secrets contains. One Aho-Corasick automaton finds all anchors in
//! a single pass, and only a rule whose anchor occurs runs its regular expression, at that place. Text without secrets
//! therefore costs one scan.

mod cards;
mod contexts;
mod json;
mod providers;
mod randomness;
mod rule;
mod scanner;

#[cfg(test)]
mod benign_tests;
#[cfg(test)]
#[path = "../../testkit/src/planted.rs"]
mod planted;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use scanner::Scanner;

const MARK: &str = "[redacted: ";
/// A replacement can put a boundary in front of a secret that had none before. The next round finds it. Two rounds are
/// enough for real text; the limit keeps the cost linear.
const MAX_ROUNDS: usize = 4;
/// The limit on the compiled size of a configured pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 20;
/// The limit on the length of a configured name, which appears in stored text.
const NAME_CHARS: usize = 40;

/// The standard rules. All redactors share them, because compiling about 80 patterns takes long.
static STANDARD: LazyLock<Scanner> = LazyLock::new(Scanner::new);

/// Replaces secrets in text.
pub struct Redactor {
    /// `None` when redaction is off.
    scanner: Option<&'static Scanner>,
    extra: Vec<(String, Regex)>,
}

/// A text without secrets, and how many were replaced in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    pub text: Cow<'a, str>,
    pub found: usize,
}

/// A secret found in a text. A smaller `rank` is a more specific rule, which names the secret when rules overlap.
struct Hit<'a> {
    span: Range<usize>,
    rank: usize,
    name: &'a str,
}

impl Redactor {
    /// Redacts the secrets of well-known providers, private keys, passwords and card numbers.
    pub fn standard() -> Self {
        Self { scanner: Some(&STANDARD), extra: Vec::new() }
    }

    /// Leaves every text as it is.
    pub fn off() -> Self {
        Self { scanner: None, extra: Vec::new() }
    }

    /// The standard rules and configured ones, each a name and a regular expression. If a pattern has a group, only the
    /// group is replaced.
    pub fn with(extra: &[(String, String)]) -> Result<Self, String> {
        let extra = extra.iter().map(|(name, pattern)| configured(name, pattern)).collect::<Result<_, _>>()?;
        Ok(Self { extra, ..Self::standard() })
    }

    /// Replaces each secret by a mark such as `[redacted: aws key]`. Redacting the result again changes nothing.
    pub fn redact<'a>(&self, text: &'a str) -> Redacted<'a> {
        let mut redacted = Redacted { text: Cow::Borrowed(text), found: 0 };
        for _ in 0..MAX_ROUNDS {
            let hits = self.hits(&redacted.text);
            if hits.is_empty() {
                break;
            }
            redacted.found += hits.len();
            redacted.text = Cow::Owned(replace(&redacted.text, &hits));
        }
        redacted
    }

    /// The secrets in order of position, without overlaps.
    fn hits(&self, text: &str) -> Vec<Hit<'_>> {
        let mut hits = self.scanner.map_or_else(Vec::new, |scanner| scanner.hits(text));
        for (name, pattern) in &self.extra {
            let spans = pattern.captures_iter(text).filter_map(|captures| rule::span(&captures));
            hits.extend(spans.map(|span| Hit { span, rank: usize::MAX, name }));
        }
        if hits.is_empty() {
            return hits;
        }
        let marks = self.marks(text);
        hits.retain(|hit| !hit.span.is_empty() && !is_marked(&marks, &hit.span));
        merged(hits)
    }

    /// Where the text already has marks of this redactor. A mark with an unknown name does not count, so nobody can
    /// protect a secret by writing it into a mark.
    fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let names = || {
            let known = self.scanner.into_iter().flat_map(Scanner::names);
            known.chain(self.extra.iter().map(|(name, _)| name.as_str()))
        };
        let marks = text.match_indices(MARK).filter_map(|(start, _)| {
            let rest = &text[start + MARK.len()..];
            let name = names().find(|name| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(']')))?;
            Some(start..start + MARK.len() + name.len() + 1)
        });
        marks.collect()
    }
}

fn configured(name: &str, pattern: &str) -> Result<(String, Regex), String> {
    let bad_char = |c: char| c.is_control() || matches!(c, '[' | ']');
    if name.trim().is_empty() || name.chars().count() > NAME_CHARS || name.contains(bad_char) {
        return Err(format!("the name `{name}` must have 1 to {NAME_CHARS} characters and no brackets"));
    }
    let regex = RegexBuilder::new(pattern)
        .size_limit(PATTERN_SIZE)
        .build()
        .map_err(|error| format!("the pattern of `{name}` is invalid: {}", reason(&error)))?;
    if regex.is_match("") {
        return Err(format!("the pattern of `{name}` matches the empty text"));
    }
    Ok((name.to_owned(), regex))
}

/// The last line of a regex error. The lines before it repeat the pattern.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Whether a span lies within one of the marks, which are in order.
fn is_marked(marks: &[Range<usize>], span: &Range<usize>) -> bool {
    let before = marks.partition_point(|mark| mark.start <= span.start);
    before > 0 && span.end <= marks[before - 1].end
}

/// Joins overlapping hits into one that covers them all.
fn merged(mut hits: Vec<Hit<'_>>) -> Vec<Hit<'_>> {
    hits.sort_by_key(|hit| (hit.span.start, hit.rank));
    let mut merged: Vec<Hit<'_>> = Vec::with_capacity(hits.len());
    for hit in hits {
        match merged.last_mut() {
            Some(last) if hit.span.start < last.span.end => {
                last.span.end = last.span.end.max(hit.span.end);
                if hit.rank < last.rank {
                    (last.rank, last.name) = (hit.rank, hit.name);
                }
            }
            _ => merged.push(hit),
        }
    }
    merged
}

fn replace(text: &str, hits: &[Hit<'_>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for hit in hits {
        out.push_str(&text[at..hit.span.start]);
        out.push_str(MARK);
        out.push_str(hit.name);
        out.push(']');
        at = hit.span.end;
    }
    out.push_str(&text[at..]);
    out
}
