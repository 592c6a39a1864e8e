//! Understands words of time in a query, such as "last summer" or "vor zwei Wochen", without an LLM.
//!
//! Only an unambiguous phrase counts. A wrong window hides the right memories, and a missed one only leaves the search as
//! wide as it was.

mod calendar;
mod events;
mod numeric;
mod parser;
mod points;
mod ranges;
mod relative;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

use chrono_tz::Tz;
use serde::Serialize;

use crate::clock::Timestamp;
use calendar::Calendar;
pub use events::{NamedEvent, named_event};
use parser::{FoundPhrase, Parser};
use tokens::{Token, tokens};
use words::Language;

/// More ignored phrases would not help a reader of `explain`.
const MAX_IGNORED: usize = 16;

/// A window of time that a query asks about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Window {
    /// Its first moment. Null if it has no beginning.
    pub from: Option<Timestamp>,
    /// The first moment after it. Null if it has no end.
    pub to: Option<Timestamp>,
    /// The words that were understood.
    pub phrase: String,
}

/// A phrase that looks like a time but has no single meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Ignored {
    pub phrase: String,
    pub reason: String,
}

/// What a query says about time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Understood {
    /// The window it asks about. Null if it names none, or several.
    pub window: Option<Window>,
    /// Phrases that look like time but were not used, with the reason.
    pub ignored: Vec<Ignored>,
}

/// Finds the window of time that a query asks about, as seen at `now` in `zone`. Weeks begin on Monday, and seasons are
/// those of the northern hemisphere.
pub fn understand(query: &str, now: Timestamp, zone: Tz) -> Understood {
    let tokens = tokens(query, zone);
    let mut found = Vec::new();
    let calendar = Calendar::new(now, zone);
    let french = is_french(&tokens);
    for language in Language::ALL {
        Parser { tokens: &tokens, language, calendar: &calendar, french, start: 0 }.find(&mut found);
    }
    let mut windows = Vec::new();
    let mut ignored = Vec::new();
    for found in without_overlap(found) {
        let phrase = query[tokens[found.start].start..tokens[found.end - 1].end].to_owned();
        match found.meaning {
            Ok((from, to)) => windows.push(Window { from, to, phrase }),
            Err(reason) => ignored.push(Ignored { phrase, reason: reason.to_owned() }),
        }
    }
    let window = combined(&windows);
    if window.is_none() {
        let reason = "the query also names another time; ask for one at a time or for a range";
        ignored.extend(windows.into_iter().map(|w| Ignored { phrase: w.phrase, reason: reason.to_owned() }));
    }
    ignored.truncate(MAX_IGNORED);
    Understood { window, ignored }
}

/// Whether "hier" means yesterday: the query has a word that only French has, and none that only German has.
fn is_french(tokens: &[Token]) -> bool {
    const FRENCH: [&str; 24] = [
        "je", "j", "tu", "il", "elle", "nous", "vous", "ils", "qu", "que", "quoi", "qui", "est", "ai", "avons", "avec",
        "le", "la", "les", "mon", "ma", "c", "depuis", "fait",
    ];
    const GERMAN: [&str; 16] = [
        "ich", "du", "wir", "ist", "sind", "was", "wer", "wie", "wo", "gibt", "und", "der", "die", "das", "nicht",
        "ein",
    ];
    let has = |words: &[&str]| tokens.iter().any(|token| words.contains(&token.word.as_str()));
    has(&["hier"]) && has(&FRENCH) && !has(&GERMAN)
}

/// Keeps the longest of phrases that overlap. Several languages may find the same one.
fn without_overlap(mut found: Vec<FoundPhrase>) -> Vec<FoundPhrase> {
    found.sort_by_key(|f| (f.start, std::cmp::Reverse(f.end), f.meaning.is_err()));
    let mut kept: Vec<FoundPhrase> = Vec::new();
    for next in found {
        match kept.last_mut() {
            Some(last) if next.start < last.end => {
                let same = (last.start, last.end) == (next.start, next.end);
                if same && last.meaning.is_ok() && next.meaning.is_ok() && last.meaning != next.meaning {
                    last.meaning = Err("means different times in different languages");
                } else if next.end - next.start > last.end - last.start {
                    *last = next;
                }
            }
            _ => kept.push(next),
        }
    }
    kept
}

/// The one window that all of them describe: "since 2020" and "until 2022", or one inside the other.
fn combined(windows: &[Window]) -> Option<Window> {
    let (first, rest) = windows.split_first()?;
    rest.iter().try_fold(first.clone(), |all, next| {
        let from = all.from.max(next.from);
        let to = [all.to, next.to].into_iter().flatten().min();
        let opposite = all.from.is_some() != next.from.is_some() && all.to.is_some() != next.to.is_some();
        let nested = (from, to) == (all.from, all.to) || (from, to) == (next.from, next.to);
        let empty = from.zip(to).is_some_and(|(from, to)| from >= to);
        let phrase = if all.phrase == next.phrase { all.phrase } else { format!("{}, {}", all.phrase, next.phrase) };
        ((opposite || nested) && !empty).then_some(Window { from, to, phrase })
    })
}
