//! Times that a query names by an event: "before the move", "when she worked at Acme". Only a fact can say when that was.

use chrono::TimeDelta;
use chrono_tz::Tz;

use super::Window;
use super::tokens::{After, Token, tokens};
use super::words::{Language, Sense};
use crate::clock::Timestamp;
use crate::dates::GivenDate;

/// An event is named in few words.
const MAX_WORDS: usize = 6;

/// Where the window of a phrase lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
    During,
}

/// A phrase that names a time by an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedEvent {
    side: Side,
    /// The words that tell the event, without articles, prepositions and pronouns.
    pub words: Vec<String>,
    /// The phrase as the query has it.
    pub phrase: String,
}

impl NamedEvent {
    /// Whether a fact has to contain all of the words. Otherwise the first one is the event, and the others are details.
    pub fn needs_all(&self) -> bool {
        self.side == Side::During
    }

    /// The window of an event that began at `at`, a date that was given as `text`.
    pub fn window(&self, at: Timestamp, text: Option<&str>, zone: Tz) -> Window {
        let end = text.and_then(|text| GivenDate::parse(text, zone).ok()).map_or(at, |date| date.end);
        let (from, to) = match self.side {
            Side::Before => (None, Some(at)),
            Side::After => (Some(at), None),
            Side::During => (Some(at), Some(end.max(at + TimeDelta::days(1)))),
        };
        Window { from, to, phrase: self.phrase.clone() }
    }
}

/// Finds the first phrase that names a time by an event.
pub fn named_event(query: &str, zone: Tz) -> Option<NamedEvent> {
    let tokens = tokens(query, zone);
    (0..tokens.len()).find_map(|at| {
        let of_language = |language: &Language| Phrase { tokens: &tokens, language: *language }.at(at, query);
        Language::ALL.iter().find_map(of_language)
    })
}

struct Phrase<'a> {
    tokens: &'a [Token],
    language: Language,
}

impl Phrase<'_> {
    fn at(&self, at: usize, query: &str) -> Option<NamedEvent> {
        let (side, next) = self.side(at)?;
        let mut end = next;
        let mut words = Vec::new();
        while end < self.tokens.len() && end < next + MAX_WORDS && self.tokens[end - 1].after == After::Nothing {
            let token = &self.tokens[end];
            if token.is_core(self.language) || token.word.is_empty() {
                return None;
            }
            if !self.is_any(end, is_filler) {
                words.push(query[token.start..token.end].to_owned());
            }
            end += 1;
        }
        let phrase = query[self.tokens[at].start..self.tokens[end - 1].end].to_owned();
        (!words.is_empty()).then_some(NamedEvent { side, words, phrase })
    }

    /// The preposition at a position with its article, and the position after them. "After lunch" has no article: it names
    /// no single event.
    fn side(&self, at: usize) -> Option<(Side, usize)> {
        let (next, side) =
            self.tokens[at].meanings.iter().filter(|entry| entry.language == self.language).find_map(|entry| {
                let side = match entry.sense {
                    Sense::Before | Sense::Until => Side::Before,
                    Sense::After | Sense::Since => Side::After,
                    // "When did she move?" asks for the time.
                    Sense::When if at > 0 => Side::During,
                    _ => return None,
                };
                let rest = self.tokens.get(at + 1..at + 1 + entry.rest.len())?;
                let is_same = rest.iter().zip(&entry.rest).all(|(token, word)| token.word == *word);
                is_same.then_some((at + 1 + entry.rest.len(), side))
            })?;
        if side == Side::During {
            return Some((side, next));
        }
        // "antes del" and "bis zum" hold the article.
        let has_article = next > at + 1;
        let is_article =
            |sense| matches!(sense, Sense::The | Sense::Possessive) || sense == Sense::On && self.is_romance();
        if self.is_any(next, is_article) && self.tokens[next - 1].after == After::Nothing {
            Some((side, next + 1))
        } else {
            has_article.then_some((side, next))
        }
    }

    /// French "le" and Spanish "el" stand in the table of words as "on", since "le 5 mars" means "on 5 March".
    fn is_romance(&self) -> bool {
        matches!(self.language, Language::French | Language::Spanish)
    }

    fn is_any(&self, at: usize, wanted: impl Fn(Sense) -> bool) -> bool {
        let mut meanings = self.tokens.get(at).map(|token| token.meanings).unwrap_or_default().iter();
        meanings.any(|entry| entry.language == self.language && entry.rest.is_empty() && wanted(entry.sense))
    }
}

/// Whether a word tells nothing about the event.
fn is_filler(sense: Sense) -> bool {
    matches!(
        sense,
        Sense::The
            | Sense::Possessive
            | Sense::Pronoun
            | Sense::In
            | Sense::On
            | Sense::For
            | Sense::From
            | Sense::To
            | Sense::Of
            | Sense::And
            | Sense::After
            | Sense::Before
            | Sense::Since
            | Sense::Until
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(query: &str) -> Option<(String, String)> {
        named_event(query, chrono_tz::UTC).map(|event| (event.phrase, event.words.join(" ")))
    }

    #[test]
    fn an_event_is_named_in_four_languages() {
        for (query, phrase, event) in [
            ("Where did Anna live before the move?", "before the move", "move"),
            ("after her move to Berlin, what did Anna do", "after her move to Berlin", "move Berlin"),
            ("what changed since the wedding", "since the wedding", "wedding"),
            ("Where did Anna live when she worked at Acme?", "when she worked at Acme", "worked at Acme"),
            ("Wo wohnte Anna vor dem Umzug?", "vor dem Umzug", "Umzug"),
            ("Was war bis zum Umzug?", "bis zum Umzug", "Umzug"),
            ("Wo wohnte Anna, als sie bei Acme arbeitete?", "als sie bei Acme arbeitete", "Acme arbeitete"),
            ("Où vivait Anna avant le déménagement ?", "avant le déménagement", "déménagement"),
            ("que sait-on depuis la naissance de Paul", "depuis la naissance de Paul", "naissance Paul"),
            ("¿Dónde vivía Ana antes de la mudanza?", "antes de la mudanza", "mudanza"),
            ("qué pasó después del viaje", "después del viaje", "viaje"),
        ] {
            assert_eq!(words(query), Some((phrase.to_owned(), event.to_owned())), "{query}");
        }
    }

    #[test]
    fn times_questions_and_habits_are_no_events() {
        for query in [
            "When did Anna move to Berlin?",
            "what do I eat after lunch",
            "Anna zog nach Berlin",
            "before the weekend",
            "since the 5th",
            "before the",
            "",
        ] {
            assert_eq!(words(query), None, "{query}");
        }
    }

    #[test]
    fn the_window_ends_or_begins_with_the_event() {
        let at: Timestamp = "2033-05-01T00:00:00Z".parse().unwrap();
        let window = |query| {
            let window = named_event(query, chrono_tz::UTC).unwrap().window(at, Some("2033-05"), chrono_tz::UTC);
            (window.from.map(|at| at.to_rfc3339()), window.to.map(|at| at.to_rfc3339()))
        };
        let may = Some("2033-05-01T00:00:00+00:00".to_owned());
        assert_eq!(window("before the move"), (None, may.clone()));
        assert_eq!(window("since the move"), (may.clone(), None));
        assert_eq!(window("where when she moved"), (may, Some("2033-06-01T00:00:00+00:00".to_owned())));
    }
}
