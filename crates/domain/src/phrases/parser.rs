//! Finds the phrases of one language: a time by itself, after a preposition, or in a range.

use super::calendar::{Calendar, Occurrence, Span, is_year};
use super::numeric::Kind;
use super::tokens::{After, Token};
use super::words::{Language, Sense};

/// What a phrase means: a window, or why it has no single meaning.
pub(super) type Meaning = Result<(Option<crate::Timestamp>, Option<crate::Timestamp>), &'static str>;

/// A phrase: the tokens from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FoundPhrase {
    pub start: usize,
    pub end: usize,
    pub meaning: Meaning,
}

/// What a time needs before it to count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredContext {
    Nothing,
    /// A preposition such as "in": "2023", "March".
    In,
    /// A preposition such as "on": "Monday", "5 March".
    On,
}

/// What a time leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    Nothing,
    /// A plain number as a year: "2019".
    PlainYear,
    /// Nothing, and the time is the last part of another: "the end of 2022".
    Last,
    /// A month without its year.
    Month(u32),
    /// A month and a day without their year.
    MonthDay(u32, u32),
    Weekday,
}

/// A time in the query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub end: usize,
    pub span: Result<Span, &'static str>,
    pub needs: RequiredContext,
    pub open: Open,
}

impl Point {
    pub fn new(end: usize, span: Span) -> Self {
        Self { end, span: Ok(span), needs: RequiredContext::Nothing, open: Open::Nothing }
    }

    pub fn unclear(end: usize, reason: &'static str) -> Self {
        Self { end, span: Err(reason), needs: RequiredContext::Nothing, open: Open::Nothing }
    }

    pub fn needing(self, needs: RequiredContext, open: Open) -> Self {
        Self { needs, open, ..self }
    }
}

/// Articles and prepositions in a row, as in "de la". Without a limit, a text of articles would take quadratic time.
const MAX_SKIPPED: usize = 3;

/// The words before the core of a phrase, as in "since the beginning of the year 2023".
const MAX_LEAD: usize = 10;

const LAST_OR_COMING: &str = "may mean the last one or the coming one; give the year or a date";
const COUNTED_FROM: &str = "is counted from another time";

pub(super) struct Parser<'a> {
    pub tokens: &'a [Token],
    pub language: Language,
    pub calendar: &'a Calendar,
    /// Whether "hier" is French.
    pub french: bool,
    /// The first token of the phrase.
    pub start: usize,
}

impl Parser<'_> {
    /// All phrases of the language.
    pub fn find(&mut self, found: &mut Vec<FoundPhrase>) {
        let mut at = 0;
        let mut core = 0;
        loop {
            // A phrase has a core, such as a month or a number, so only the words near one are parsed.
            core = core.max(at);
            match self.tokens[core..].iter().position(|token| token.is_core(self.language)) {
                Some(distance) => core += distance,
                None => return,
            }
            at = at.max(core.saturating_sub(MAX_LEAD));
            self.start = at;
            match self.phrase(at) {
                Some((end, meaning)) => {
                    found.push(FoundPhrase { start: at, end, meaning });
                    at = end.max(at + 1);
                }
                None => at += 1,
            }
        }
    }

    /// Whether token `at` continues the phrase: no punctuation separates it from the token before.
    pub fn continues(&self, at: usize) -> bool {
        at < self.tokens.len() && (at == self.start || self.tokens[at - 1].after == After::Nothing)
    }

    /// Reads a word of one of its meanings, the longest first. Returns the position after it.
    pub fn eat<T>(&self, at: usize, wanted: impl Fn(Sense) -> Option<T>) -> Option<(usize, T)> {
        if self.continues(at) { self.eat_anyway(at, wanted) } else { None }
    }

    /// Reads a word even after punctuation.
    pub fn eat_anyway<T>(&self, at: usize, wanted: impl Fn(Sense) -> Option<T>) -> Option<(usize, T)> {
        let token = self.tokens.get(at)?;
        token.meanings.iter().filter(|entry| entry.language == self.language).find_map(|entry| {
            let end = at + 1 + entry.rest.len();
            let rest = self.tokens.get(at + 1..end)?;
            let same = rest.iter().zip(&entry.rest).all(|(token, word)| token.word == *word);
            let joined = self.tokens[at..end - 1].iter().all(|token| token.after == After::Nothing);
            if same && joined { Some((end, wanted(entry.sense)?)) } else { None }
        })
    }

    /// Reads a word with exactly this meaning.
    pub fn word(&self, at: usize, sense: Sense) -> Option<usize> {
        self.eat(at, |found| (found == sense).then_some(())).map(|(end, ())| end)
    }

    /// The position after at most [`MAX_SKIPPED`] of these words.
    pub fn skip(&self, mut at: usize, senses: &[Sense]) -> usize {
        for _ in 0..MAX_SKIPPED {
            match self.eat(at, |found| senses.contains(&found).then_some(())) {
                Some((end, ())) => at = end,
                None => break,
            }
        }
        at
    }

    /// The number at a position, in digits.
    pub fn number(&self, at: usize) -> Option<u32> {
        match self.tokens.get(at)?.kind {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }

    /// A plain year, which is not followed by something that it counts.
    pub fn plain_year(&self, at: usize) -> Option<i32> {
        let year = i32::try_from(self.number(at)?).ok().filter(|year| is_year(*year))?;
        let counts = |sense| matches!(sense, Sense::Counted | Sense::Unit(_) | Sense::Units(_)).then_some(());
        let counted = self.tokens[at].after == After::Nothing && self.eat_anyway(at + 1, counts).is_some();
        (!counted).then_some(year)
    }

    fn phrase(&self, at: usize) -> Option<(usize, Meaning)> {
        self.range(at).or_else(|| self.bounded(at)).or_else(|| self.placed(at)).or_else(|| {
            let point = self.point(at).filter(|point| point.needs == RequiredContext::Nothing)?;
            Some((point.end, whole(point)))
        })
    }

    /// "since 2023", "until March 2024", "before 2020", "after last summer".
    fn bounded(&self, at: usize) -> Option<(usize, Meaning)> {
        let is_bound = |sense| matches!(sense, Sense::Since | Sense::Until | Sense::Before | Sense::After);
        let (next, bound) = self.eat(at, |sense| is_bound(sense).then_some(sense))?;
        if bound == Sense::Before
            && let Some(point) = self.ago(at)
        {
            return Some((point.end, whole(point)));
        }
        if bound == Sense::Since
            && let Some((end, span)) = self.duration(next)
        {
            return Some((end, span.map(|span| (Some(span.from), None))));
        }
        let point = self.point(self.skip(next, &[Sense::In, Sense::On]))?;
        let verb = matches!(point.open, Open::MonthDay(..)) && self.is_verb(point.end - 1);
        if verb || (bound != Sense::Since && matches!(point.open, Open::Month(_)) && self.is_verb(next)) {
            return None;
        }
        // "two years before 2020"
        if matches!(bound, Sense::Before | Sense::After) && at > 0 && self.is_unit(at - 1) {
            return Some((point.end, Err(COUNTED_FROM)));
        }
        let open = matches!(point.open, Open::Month(_) | Open::MonthDay(..) | Open::Weekday);
        if open && matches!(bound, Sense::Until | Sense::Before) {
            return Some((point.end, Err(LAST_OR_COMING)));
        }
        let meaning = point.span.map(|span| match bound {
            Sense::Since => (Some(span.from), None),
            Sense::Until => (None, Some(span.to)),
            // "before the end of 2022" is until the end of 2022.
            Sense::Before => (None, Some(if point.open == Open::Last { span.to } else { span.from })),
            _ => (Some(span.to), None),
        });
        Some((point.end, meaning))
    }

    /// "in 2023", "on Monday", "in two weeks", "in the last year".
    fn placed(&self, at: usize) -> Option<(usize, Meaning)> {
        let is_place = |sense| matches!(sense, Sense::In | Sense::On | Sense::Later | Sense::For).then_some(sense);
        let (next, place) = self.eat(at, is_place)?;
        if let Some(point) = self.rolling_after(next, place).or_else(|| self.later(next, place)) {
            return Some((point.end, whole(point)));
        }
        let point = self.point(next)?;
        let fits = match point.needs {
            RequiredContext::Nothing => place != Sense::For,
            RequiredContext::In => matches!(place, Sense::In | Sense::Later),
            // French "le lundi" is every Monday.
            RequiredContext::On => {
                place == Sense::On && !(self.language == Language::French && point.open == Open::Weekday)
            }
        };
        if !fits {
            return None;
        }
        Some(self.listed(point).unwrap_or((point.end, whole(point))))
    }

    /// The latest month that has begun.
    pub fn latest_month(&self, month: u32) -> Option<Span> {
        self.calendar.yearly(Occurrence::Latest, |year| self.calendar.months(year, month, 1))
    }

    fn is_unit(&self, at: usize) -> bool {
        let unit = |sense| matches!(sense, Sense::Unit(_) | Sense::Units(_)).then_some(());
        self.tokens[at].after == After::Nothing && self.eat_anyway(at, unit).is_some()
    }

    /// Whether a word that is also a month or season is more likely a verb: "may" and "march" in lower case, "fall".
    pub fn is_verb(&self, at: usize) -> bool {
        let verb = |token: &Token| matches!(token.word.as_str(), "may" | "march" | "spring" | "fall") && !token.capital;
        self.language == Language::English && self.tokens.get(at).is_some_and(verb)
    }
}

fn whole(point: Point) -> Meaning {
    point.span.map(|span| (Some(span.from), Some(span.to)))
}
