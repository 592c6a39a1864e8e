//! Finds phrases that give orders, in English, German, French and Spanish.
//!
//! The files in `phrases/` contain the patterns, one in each line, after the kind they show. A pattern is a regular
//! expression over [folded](super::fold) text that matches whole words. A space stands for any gap within a sentence,
//! `<0,3>` for up to three words, `<s>` for the start of a sentence, and `$name` for a list defined above.

use std::sync::LazyLock;

use regex::{Regex, RegexSet, RegexSetBuilder};

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

/// The limit on the compiled phrases, in bytes. They are fixed, so this only has to be large enough.
const SET_SIZE: usize = 1 << 28;
/// The limit on the cache of the automaton, in bytes. A small cache is flushed too often.
const CACHE_SIZE: usize = 1 << 24;

/// Letters with a gap after each: `i g n o r e`.
static SPELLED: LazyLock<Regex> = LazyLock::new(|| regex(r"(?-u:\b)[a-z](?:[ .\n][a-z]){7,}(?-u:\b)"));
/// What spelled words say when they are joined.
static JOINED: LazyLock<Regex> = LazyLock::new(|| {
    let orders = "(?:ignore|disregard|forget|override|bypass)(?:all|any|the|your|my|every)*\
        (?:previous|prior|above|earlier|instruction|rules|everything)|systemprompt|jailbreak|developermode|\
        fromnowon|(?:always|never)(?:reply|respond|answer|say|tell)|youarenow|(?:send|forward)(?:me|the|all|your)";
    regex(&orders.replace('l', "i"))
});

struct Phrases {
    /// All patterns in one automaton, which says in one pass which of them match.
    set: RegexSet,
    patterns: Vec<(Kind, Regex)>,
}

static PHRASES: LazyLock<Phrases> = LazyLock::new(|| {
    let sources: Vec<(Kind, String)> = FILES.iter().flat_map(|file| sources(file)).collect();
    let mut set = RegexSetBuilder::new(sources.iter().map(|(_, source)| source));
    let set = set.size_limit(SET_SIZE).dfa_size_limit(CACHE_SIZE).build().expect("the phrases are valid");
    Phrases { set, patterns: sources.iter().map(|(kind, source)| (*kind, regex(source))).collect() }
});

pub(super) fn find(text: &str) -> Vec<Hit> {
    let folded = Folded::of(text);
    let hit = |kind, span| Hit { kind, span: folded.origin(span) };
    let matching = PHRASES.set.matches(&folded.text);
    let mut hits: Vec<Hit> = matching
        .iter()
        .map(|index| &PHRASES.patterns[index])
        .filter_map(|(kind, pattern)| pattern.find(&folded.text).map(|found| hit(*kind, found.range())))
        .collect();
    let spelled =
        SPELLED.find_iter(&folded.text).find(|run| JOINED.is_match(&run.as_str().replace([' ', '.', '\n'], "")));
    hits.extend(spelled.map(|run| hit(Kind::Override, run.range())));
    hits
}

/// The patterns of one file as regular expressions.
fn sources(file: &str) -> Vec<(Kind, String)> {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut sources = Vec::new();
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((name, words)) = line.strip_prefix('$').and_then(|line| line.split_once(" = ")) {
            names.push((format!("${name}"), define(&names, words)));
        } else if let Some((kind, pattern)) = line.split_once(": ") {
            sources.push((kind_of(kind), expand(&define(&names, pattern))));
        }
    }
    sources
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
    format!(r"(?:^|(?-u:\b))(?:{pattern})(?:$|(?-u:\b))")
}

fn regex(source: &str) -> Regex {
    Regex::new(source).expect("a standard pattern is valid")
}
