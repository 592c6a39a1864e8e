//! Runs all standard rules over a text in one pass.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

use super::rule::Rule;
use super::{Hit, cards, contexts, providers};

const CARD: &str = "card number";

pub(super) struct Scanner {
    anchors: AhoCorasick,
    /// For each anchor the index of its rule.
    rule_of: Vec<usize>,
    /// A pattern is compiled when the first text has one of its anchors. All of them take too long for a hook.
    rules: Vec<(&'static Rule, OnceLock<Regex>)>,
}

impl Scanner {
    pub fn new() -> Self {
        let rules: Vec<_> =
            providers::RULES.iter().chain(contexts::RULES).map(|rule| (rule, OnceLock::new())).collect();
        let (mut anchors, mut rule_of) = (Vec::<&str>::new(), Vec::new());
        for (index, (rule, _)) in rules.iter().enumerate() {
            anchors.extend(rule.anchors);
            rule_of.extend(rule.anchors.iter().map(|_| index));
        }
        let anchors = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(anchors)
            .expect("the automaton of the standard anchors is small");
        Self { anchors, rule_of, rules }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|(rule, _)| rule.name).chain([CARD])
    }

    /// Whether the text has a word that a rule looks for.
    pub fn has_anchor(&self, text: &str) -> bool {
        self.anchors.is_match(text)
    }

    /// The secrets in the text, in no particular order. They may overlap.
    pub fn hits<'a>(&'a self, text: &str) -> Vec<Hit<'a>> {
        let mut hits = Vec::new();
        for anchor in self.anchors.find_overlapping_iter(text) {
            let rank = self.rule_of[anchor.pattern().as_usize()];
            let (rule, regex) = &self.rules[rank];
            let span = rule.find(regex.get_or_init(|| rule.compile()), text, anchor.start());
            hits.extend(span.map(|span| Hit { span, rank, name: rule.name }));
        }
        let cards = cards::find(text.as_bytes()).into_iter();
        hits.extend(cards.map(|span| Hit { span, rank: self.rules.len(), name: CARD }));
        hits
    }
}
