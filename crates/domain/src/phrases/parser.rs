//! Finds the phrases of one language: a time by itself, after a preposition, or as the end of a range.

use chrono::Datelike;

use super::calendar::{Calendar, Span, Which, is_year};
use super::numeric::Kind;
use super::tokens::{After, Token};
use super::words::{Language, Sense};

/// What a phrase means: a window, or why it has no single meaning.
pub(super) type Meaning = Result<(Option<crate::Timestamp>, Option<crate::Timestamp>), &'static str>;

/// A phrase: the tokens from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub start: usize,
    pub end: usize,
    pub meaning: Meaning,
}

/// What a time needs before it to count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
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
    pub needs: Needs,
    pub open: Open,
}

impl Point {
    pub fn new(end: usize, span: Span) -> Self {
        Self { end, span: Ok(span), needs: Needs::Nothing, open: Open::Nothing }
    }

    pub fn unclear(end: usize, reason: &'static str) -> Self {
        Self { end, span: Err(reason), needs: Needs::Nothing, open: Open::Nothing }
    }

    pub fn needing(self, needs: Needs, open: Open) -> Self {
        Self { needs, open, ..self }
    }
}

/// Articles and prepositions in a row, as in "de la". Without a limit, a text of articles would take quadratic time.
const MAX_SKIPPED: usize = 3;

const LAST_OR_COMING: &str = "may mean the last one or the coming one; give the year or a date";
const WEEKLY: &str = "may mean every week; give the dates";
const TWO_TIMES: &str = "names more than one time; ask for one at a time or for a range";
const REVERSED: &str = "ends before it begins";

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
    pub fn find(&mut self, found: &mut Vec<Found>) {
        let mut at = 0;
        while at < self.tokens.len() {
            self.start = at;
            match self.phrase(at) {
                Some((end, meaning)) => {
                    found.push(Found { start: at, end, meaning });
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
            let point = self.point(at).filter(|point| point.needs == Needs::Nothing)?;
            Some((point.end, whole(point)))
        })
    }

    /// "between 2019 and 2021", "from March to May 2023", "March to May 2023".
    fn range(&self, at: usize) -> Option<(usize, Meaning)> {
        let (from, joint) = match self.word(at, Sense::Between) {
            Some(from) => (from, Sense::And),
            None => (self.word(at, Sense::From).unwrap_or(at), Sense::To),
        };
        let left = self.point(from).or_else(|| self.day_number(from))?;
        let to = match self.word(left.end, joint) {
            Some(to) => to,
            None if self.continues(left.end) && self.tokens[left.end].kind == Kind::Dash => left.end + 1,
            None => return None,
        };
        let right = self.point(to)?;
        let dated = matches!(left.open, Open::Month(_)) && right.open == Open::Nothing;
        if from == at && !dated && left.needs != Needs::Nothing {
            return None;
        }
        Some((right.end, self.between(left, right)))
    }

    /// The first day of "from 5 to 10 March": a number whose month comes later.
    fn day_number(&self, at: usize) -> Option<Point> {
        let at = self.skip(at, &[Sense::The, Sense::On]);
        let day = self.number(at).filter(|day| (1..=31).contains(day) && self.continues(at))?;
        Some(Point::unclear(at + 1, TWO_TIMES).needing(Needs::On, Open::MonthDay(0, day)))
    }

    fn between(&self, left: Point, right: Point) -> Meaning {
        if left.open == Open::Weekday || right.open == Open::Weekday {
            return Err(WEEKLY);
        }
        let end = right.span?;
        let last = end.from.with_timezone(&self.calendar.zone).date_naive();
        // "from March to May 2023" begins in 2023, and "from November to March 2023" in 2022.
        let before = |span: &Span| span.from <= end.from;
        let start = match left.open {
            Open::Month(month) => {
                let of_year = |year| self.calendar.months(year, month, 1);
                of_year(last.year()).filter(before).or_else(|| of_year(last.year() - 1))
            }
            Open::MonthDay(0, day) => last.with_day(day).and_then(|day| self.calendar.day(day)),
            Open::MonthDay(month, day) => {
                let of_year = |year| self.calendar.day(chrono::NaiveDate::from_ymd_opt(year, month, day)?);
                of_year(last.year()).filter(before).or_else(|| of_year(last.year() - 1))
            }
            _ => Some(left.span?),
        };
        let start = start.ok_or(REVERSED)?;
        if start.from < end.to { Ok((Some(start.from), Some(end.to))) } else { Err(REVERSED) }
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
        if bound != Sense::Since && matches!(point.open, Open::Month(_)) && self.is_verb(next) {
            return None;
        }
        let open = matches!(point.open, Open::Month(_) | Open::MonthDay(..) | Open::Weekday);
        if open && matches!(bound, Sense::Until | Sense::Before) {
            return Some((point.end, Err(LAST_OR_COMING)));
        }
        let meaning = point.span.map(|span| match bound {
            Sense::Since => (Some(span.from), None),
            Sense::Until => (None, Some(span.to)),
            Sense::Before => (None, Some(span.from)),
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
            Needs::Nothing => place != Sense::For,
            Needs::In => matches!(place, Sense::In | Sense::Later),
            // French "le lundi" is every Monday.
            Needs::On => place == Sense::On && !(self.language == Language::French && point.open == Open::Weekday),
        };
        if !fits {
            return None;
        }
        if point.open == Open::PlainYear
            && let Some(end) = self.another_year(point.end)
        {
            return Some((end, Err(TWO_TIMES)));
        }
        Some((point.end, whole(point)))
    }

    /// The end of "in 2019 and 2021" after its first year.
    fn another_year(&self, at: usize) -> Option<usize> {
        let joint = self.word(at, Sense::And).or_else(|| self.word(at, Sense::Or))?;
        self.plain_year(joint).map(|_| joint + 1)
    }

    /// The latest month that has begun.
    pub fn latest_month(&self, month: u32) -> Option<Span> {
        self.calendar.yearly(Which::Latest, |year| self.calendar.months(year, month, 1))
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
