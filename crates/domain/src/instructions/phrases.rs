//! Finds phrases that give orders, in English, German, French and Spanish.
//!
//! The files in `phrases/` contain the patterns, one in each line, after the kind they show. A pattern is a regular
//! expression over [folded](super::fold) text that matches whole words. A space stands for any gap within a sentence,
//! `<0,3>` for up to three words, `<s>` for the start of a sentence, and `$name` for a list defined above.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::fold::Folded;
use super::{Hit, Kind};

const FILES: [&str; 4] = [
    include_str!("phrases/en.txt"),
    include_str!("phrases/de.txt"),
    include_str!("phrases/fr.txt"),
    include_str!("phrases/es.txt"),
];

/// Words that may precede an order at the start of a sentence.
const OPENING: &str = "please|now|also|and|then|so|but|kindly|just|ok|okay|important|step \\d|\
    bitte|nun|jetzt|und|por favor|ahora|y|sil te plait|sil vous plait|maintenant|et|\
    ai|assistant|agent|model|llm|claude|gpt|chatgpt|bot|butler";

/// Longer than three opening words.
const OPENING_BYTES: usize = 64;

/// Letters with a gap after each: `i g n o r e`.
static SPELLED: LazyLock<Regex> = LazyLock::new(|| regex(r"(?-u:\b)[a-z](?:[ .\n][a-z]){7,}(?-u:\b)"));
/// What spelled words say when they are joined.
static JOINED: LazyLock<Regex> = LazyLock::new(|| {
    let orders = "(?:ignore|disregard|forget|override|bypass)(?:all|any|the|your|my|every)*\
        (?:previous|prior|above|earlier|instruction|rules|everything)|systemprompt|jailbreak|developermode|\
        fromnowon|(?:always|never)(?:reply|respond|answer|say|tell)|youarenow|(?:send|forward)(?:me|the|all|your)";
    regex(&orders.replace('l', "i"))
});

/// A pattern that starts with a literal can skip most of a text, so the start of the sentence is checked afterwards.
struct Phrase {
    kind: Kind,
    regex: Regex,
    starts_sentence: bool,
}

static PHRASES: LazyLock<Vec<Phrase>> = LazyLock::new(|| FILES.iter().flat_map(|file| phrases(file)).collect());

/// The words before an order, from the end of the last sentence on.
static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    let words = OPENING.replace('l', "i").replace(' ', r"[ \n]");
    regex(&format!(r"[.\n](?:(?:{words})[ \n.]){{0,3}}$"))
});

pub(super) fn find(text: &str) -> Vec<Hit> {
    let folded = Folded::of(text);
    let hit = |kind, span| Hit { kind, span: folded.origin(span) };
    let mut hits: Vec<Hit> = Vec::new();
    for phrase in PHRASES.iter() {
        // One reason of each kind is enough.
        if !hits.iter().any(|hit| hit.kind == phrase.kind) {
            hits.extend(phrase.find(&folded.text).map(|span| hit(phrase.kind, span)));
        }
    }
    let spelled =
        SPELLED.find_iter(&folded.text).find(|run| JOINED.is_match(&run.as_str().replace([' ', '.', '\n'], "")));
    hits.extend(spelled.map(|run| hit(Kind::Override, run.range())));
    hits
}

impl Phrase {
    fn find(&self, text: &str) -> Option<Range<usize>> {
        let mut found = self.regex.find_iter(text);
        found.find(|found| !self.starts_sentence || starts_sentence(&text[..found.start()])).map(|found| found.range())
    }
}

fn starts_sentence(before: &str) -> bool {
    let start = before.floor_char_boundary(before.len().saturating_sub(OPENING_BYTES));
    match start {
        0 => BEFORE.is_match(&format!(".{before}")),
        _ => BEFORE.is_match(&before[start..]),
    }
}

/// The patterns of one file.
fn phrases(file: &str) -> Vec<Phrase> {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut phrases = Vec::new();
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((name, words)) = line.strip_prefix('$').and_then(|line| line.split_once(" = ")) {
            names.push((format!("${name}"), define(&names, words)));
        } else if let Some((kind, pattern)) = line.split_once(": ") {
            let pattern = define(&names, pattern);
            let order = pattern.strip_prefix("<s>");
            let regex = regex(&expand(order.unwrap_or(&pattern)));
            phrases.push(Phrase { kind: kind_of(kind), regex, starts_sentence: order.is_some() });
        }
    }
    phrases
}

/// Puts the lists in place of their names. No name may start with another one.
fn define(names: &[(String, String)], pattern: &str) -> String {
    names.iter().fold(pattern.to_owned(), |pattern, (name, words)| pattern.replace(name, words))
}

fn kind_of(name: &str) -> Kind {
    match name {
        "override" => Kind::Override,
        "command" => Kind::Command,
        "roleplay" => Kind::RolePlay,
        "exfiltration" => Kind::Exfiltration,
        other => unreachable!("the phrases have an unknown kind {other}"),
    }
}

fn expand(pattern: &str) -> String {
    static WORDS: LazyLock<Regex> = LazyLock::new(|| regex(r"<(\d,\d+)>"));
    let start = format!("(?:^|[.\n])(?:(?:{OPENING}) ){{0,3}}");
    let pattern = pattern.replace("<s>", &start).replace('l', "i").replace(' ', r"[ \n]").replace(r"\w", "[a-z0-9]");
    let pattern = WORDS.replace_all(&pattern, r"(?:[a-z0-9]+[ \n]){$1}");
    format!(r"(?-u:\b)(?:{pattern})(?:$|(?-u:\b))")
}

fn regex(source: &str) -> Regex {
    Regex::new(source).expect("a standard pattern is valid")
}
