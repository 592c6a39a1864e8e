//! Single times: dates, months, years, seasons, feasts, decades, quarters and parts of them.

use chrono::{Datelike, NaiveDate};

use super::calendar::{Occurrence, Span};
use super::numeric::Kind;
use super::parser::{Open, Parser, Point, RequiredContext};
use super::tokens::After;
use super::words::{Language, Part, Sense, Unit};

const WHICH_SEASON: &str = "does not say which year";
const MORNING: &str = "may mean tomorrow or the morning";
const HERE: &str = "may mean yesterday (French) or here (German)";
const MAYBE_VERSION: &str = "may be a version; write it as 2023-03-05";

/// Words before a number that make it a name instead of a date.
const LABELS: [&str; 24] = [
    "version", "v", "release", "room", "raum", "zimmer", "salle", "sala", "ticket", "issue", "number", "no", "nr",
    "id", "build", "model", "port", "page", "seite", "invoice", "rechnung", "order", "case", "code",
];

impl Parser<'_> {
    /// The time at a position, after any articles.
    pub fn point(&self, at: usize) -> Option<Point> {
        if let Some(point) = self.simple(at) {
            return Some(point);
        }
        let romance = matches!(self.language, Language::French | Language::Spanish);
        let articles: &[Sense] = if romance { &[Sense::The, Sense::On] } else { &[Sense::The] };
        let next = self.skip(at, articles);
        if next > at { self.simple(next) } else { None }
    }

    fn simple(&self, at: usize) -> Option<Point> {
        if !self.continues(at) {
            return None;
        }
        self.near_day(at).or_else(|| self.part(at)).or_else(|| self.undivided(at))
    }

    /// A time that is not a part of another.
    fn undivided(&self, at: usize) -> Option<Point> {
        if !self.continues(at) {
            return None;
        }
        self.numeric(at)
            .or_else(|| self.relative(at))
            .or_else(|| self.ago(at))
            .or_else(|| self.weekday(at))
            .or_else(|| self.day_of_month(at))
            .or_else(|| self.month(at))
            .or_else(|| self.season(at))
            .or_else(|| self.feast(at))
            .or_else(|| self.year(at))
    }

    fn numeric(&self, at: usize) -> Option<Point> {
        let labelled = at > 0 && LABELS.contains(&self.tokens[at - 1].word.as_str());
        match self.tokens[at].kind {
            Kind::Date(span) => Some(Point::new(at + 1, span)),
            Kind::LikelyDate(span) => (!labelled).then(|| Point::new(at + 1, span)),
            Kind::PossibleDate(_) if labelled => None,
            Kind::PossibleDate(_) if at == self.start && self.is_dotted(at) => {
                Some(Point::unclear(at + 1, MAYBE_VERSION))
            }
            Kind::PossibleDate(span) => {
                let needs = if self.is_dotted(at) { RequiredContext::On } else { RequiredContext::In };
                Some(Point::new(at + 1, span).needing(needs, Open::Nothing))
            }
            Kind::Unclear(reason) => Some(Point::unclear(at + 1, reason)),
            Kind::Decade(year) => Some(Point::new(at + 1, self.calendar.years(year, 10)?)),
            Kind::ShortDecade(year) if at > self.start => Some(Point::new(at + 1, self.calendar.years(year, 10)?)),
            Kind::Quarter(quarter) => self.quarter(at + 1, quarter),
            _ => None,
        }
    }

    /// Whether a possible date has the form 1.2.2023, not 2019-2021.
    fn is_dotted(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        token.end - token.start < "2019-2021".len()
    }

    fn quarter(&self, at: usize, quarter: u32) -> Option<Point> {
        let of_year = |year| self.calendar.months(year, 3 * quarter - 2, 3);
        match self.year_after(at) {
            Some((end, year)) => Some(Point::new(end, of_year(year)?)),
            None if self.number_follows(at) => None,
            None => Some(
                Point::new(at, self.calendar.yearly(Occurrence::Latest, of_year)?)
                    .needing(RequiredContext::In, Open::Nothing),
            ),
        }
    }

    /// "yesterday", "today", "the day after tomorrow".
    fn near_day(&self, at: usize) -> Option<Point> {
        let near = |sense| match sense {
            Sense::DayOffset(days) => Some(Ok(days)),
            Sense::Yesterday | Sense::Tomorrow => Some(Err(sense)),
            _ => None,
        };
        let (end, day) = self.eat(at, near)?;
        let before = if at > 0 { self.tokens[at - 1].word.as_str() } else { "" };
        match (day, self.language) {
            (Ok(days), _) => Some(Point::new(end, self.calendar.day_offset(days)?)),
            (Err(Sense::Yesterday), _) if self.french => Some(Point::new(end, self.calendar.day_offset(-1)?)),
            (Err(Sense::Yesterday), _) => (self.tokens.len() == 1).then(|| Point::unclear(end, HERE)),
            (_, Language::German)
                if matches!(before, "guten" | "heute" | "gestern" | "jeden" | "am" | "der" | "den" | "diesen") =>
            {
                None
            }
            (_, Language::German) if !self.tokens[at].capital => Some(Point::new(end, self.calendar.day_offset(1)?)),
            (_, Language::German) => (at == 0).then(|| Point::unclear(end, MORNING)),
            _ => (!matches!(before, "la" | "de" | "cada" | "esta" | "una")).then(|| Point::unclear(end, MORNING)),
        }
    }

    /// "early 2023", "mid-March", "the end of last year".
    fn part(&self, at: usize) -> Option<Point> {
        let (next, part) = self.eat(at, |sense| if let Sense::Part(part) = sense { Some(part) } else { None })?;
        let inner = self.undivided(self.skip(next, &[Sense::Of, Sense::The]))?;
        let span = self.calendar.part(inner.span.ok()?, part)?;
        let verb = matches!(inner.open, Open::Month(_)) && self.is_verb(inner.end - 1);
        let open = match inner.open {
            Open::Month(month) => Open::Month(month),
            _ if part == Part::Late => Open::Last,
            _ => Open::Nothing,
        };
        Some(
            Point::new(inner.end, span)
                .needing(if verb { RequiredContext::In } else { RequiredContext::Nothing }, open),
        )
    }

    fn weekday(&self, at: usize) -> Option<Point> {
        let (end, day) = self.eat(at, |sense| if let Sense::Weekday(day) = sense { Some(day) } else { None })?;
        // "Monday, 5 March 2023" is the date.
        if let Some(date) = self.date_after_weekday(end) {
            return Some(date);
        }
        let span = self.calendar.weekday(Occurrence::Latest, day)?;
        Some(Point::new(end, span).needing(RequiredContext::On, Open::Weekday))
    }

    fn date_after_weekday(&self, at: usize) -> Option<Point> {
        if at >= self.tokens.len() || !matches!(self.tokens[at - 1].after, After::Nothing | After::Comma) {
            return None;
        }
        let rest = Parser { start: at, ..*self };
        let at = rest.skip(at, &[Sense::The, Sense::On]);
        let date = match self.tokens.get(at)?.kind {
            Kind::Date(span) | Kind::LikelyDate(span) | Kind::PossibleDate(span) => Some(Point::new(at + 1, span)),
            _ => rest.day_of_month(at),
        };
        date.map(|date| date.needing(RequiredContext::Nothing, Open::Nothing))
    }

    /// "5 March 2023", "March 5, 2023", "the 5th of March", "5. März", "5 de marzo".
    fn day_of_month(&self, at: usize) -> Option<Point> {
        let (end, month, day, marked) = self.day_then_month(at).or_else(|| self.month_then_day(at))?;
        if let Some((end, year)) = self.year_after_day(end) {
            return Some(Point::new(end, self.calendar.day(NaiveDate::from_ymd_opt(year, month, day)?)?));
        }
        let of_year = |year| self.calendar.day(NaiveDate::from_ymd_opt(year, month, day)?);
        let span = self.calendar.yearly(Occurrence::Latest, of_year)?;
        let needs = if marked { RequiredContext::Nothing } else { RequiredContext::On };
        Some(Point::new(end, span).needing(needs, Open::MonthDay(month, day)))
    }

    /// The last value says whether the form can only be a date.
    fn day_then_month(&self, at: usize) -> Option<(usize, u32, u32, bool)> {
        let token = &self.tokens[at];
        let (day, ordinal) = match token.kind {
            Kind::Number(day) => (day, self.language == Language::German && token.after == After::Dot),
            Kind::Ordinal(day) => (day, true),
            _ => return None,
        };
        if !(1..=31).contains(&day) {
            return None;
        }
        if token.after == After::Dot && self.language == Language::German {
            let (end, (month, _)) = self.eat_anyway(at + 1, month_name)?;
            return Some((end, month, day, true));
        }
        let next = self.skip(at + 1, &[Sense::Of]);
        let (end, (month, _)) = self.eat(next, month_name)?;
        Some((end, month, day, ordinal || (self.language == Language::Spanish && next > at + 1)))
    }

    fn month_then_day(&self, at: usize) -> Option<(usize, u32, u32, bool)> {
        let (end, (month, short)) = self.eat(at, month_name).filter(|_| self.language == Language::English)?;
        let dotted = short && self.tokens[end - 1].after == After::Dot;
        let next = if dotted { end } else { self.skip(end, &[Sense::The]) };
        if !dotted && !self.continues(next) {
            return None;
        }
        match self.tokens.get(next)?.kind {
            Kind::Number(day @ 1..=31) => Some((next + 1, month, day, false)),
            Kind::Ordinal(day @ 1..=31) => Some((next + 1, month, day, !self.is_verb(at))),
            _ => None,
        }
    }

    fn month(&self, at: usize) -> Option<Point> {
        // "the month of March"
        let named = self.word(at, Sense::Unit(Unit::Month)).map(|end| self.skip(end, &[Sense::Of]));
        let at = named.filter(|at| self.eat(*at, month_name).is_some()).unwrap_or(at);
        let (end, (month, short)) = self.eat(at, month_name)?;
        let dotted = short && self.tokens[end - 1].after == After::Dot;
        let year = if dotted { self.plain_year(end).map(|year| (end + 1, year)) } else { self.year_after_month(end) };
        if let Some((end, year)) = year {
            let point = Point::new(end, self.calendar.months(year, month, 1)?);
            let verb = self.is_verb(at) && at > 0 && self.continues(end);
            return Some(if verb { point.needing(RequiredContext::In, Open::Nothing) } else { point });
        }
        if short || self.number_follows(end) {
            return None;
        }
        Some(Point::new(end, self.latest_month(month)?).needing(RequiredContext::In, Open::Month(month)))
    }

    fn season(&self, at: usize) -> Option<Point> {
        let (end, month) = self.eat(at, |sense| if let Sense::Season(month) = sense { Some(month) } else { None })?;
        if let Some((end, year)) = self.year_after(end) {
            return Some(Point::new(end, self.calendar.months(year, month, 3)?));
        }
        let plain = !self.is_verb(at) && !self.number_follows(end);
        plain.then(|| Point::unclear(end, WHICH_SEASON).needing(RequiredContext::In, Open::Nothing))
    }

    fn feast(&self, at: usize) -> Option<Point> {
        let (end, feast) = self.eat(at, |sense| if let Sense::Feast(feast) = sense { Some(feast) } else { None })?;
        let (end, year) = self.year_after(end)?;
        Some(Point::new(end, self.calendar.feast(year, feast)?))
    }

    /// "2023", "the year 2023", "les années 1990", "los años 90".
    fn year(&self, at: usize) -> Option<Point> {
        let next = self.word(at, Sense::Unit(Unit::Year)).unwrap_or(at);
        if let Some(year) = self.plain_year(next).filter(|_| self.continues(next)) {
            let span = self.calendar.years(year, 1)?;
            return Some(Point::new(next + 1, span).needing(RequiredContext::In, Open::PlainYear));
        }
        let next = self.word(at, Sense::Units(Unit::Year)).filter(|next| self.continues(*next))?;
        let decade = match self.number(next)? {
            year @ 20..=90 if year % 10 == 0 => 1900 + year,
            year @ 1900..=2100 if year % 10 == 0 => year,
            _ => return None,
        };
        Some(Point::new(next + 1, self.calendar.years(i32::try_from(decade).ok()?, 10)?))
    }

    fn year_after_day(&self, at: usize) -> Option<(usize, i32)> {
        match self.tokens[at - 1].after {
            After::Comma => self.plain_year(at).map(|year| (at + 1, year)),
            _ => self.year_after(at),
        }
    }

    /// "March, 2023" counts if nothing follows the number.
    fn year_after_month(&self, at: usize) -> Option<(usize, i32)> {
        match self.tokens[at - 1].after {
            After::Comma => self.plain_year(at).filter(|_| !self.continues(at + 1)).map(|year| (at + 1, year)),
            _ => self.year_after(at),
        }
    }

    /// "2023", "of 2023", "last year", "de l'année dernière".
    fn year_after(&self, at: usize) -> Option<(usize, i32)> {
        let at = self.skip(at, &[Sense::Of, Sense::The]);
        let at = self.word(at, Sense::Unit(Unit::Year)).filter(|next| self.plain_year(*next).is_some()).unwrap_or(at);
        if let Some(year) = self.plain_year(at).filter(|_| self.continues(at)) {
            return Some((at + 1, year));
        }
        let (end, offset) = self.relative_unit(at, Unit::Year)?;
        Some((end, self.calendar.today.year() + offset))
    }

    /// Whether a number follows that is no year that we know.
    fn number_follows(&self, at: usize) -> bool {
        self.continues(at) && self.number(at).is_some_and(|number| number > 31)
    }

    /// The span of a named time: a month, season, feast or weekday.
    pub fn named(&self, sense: Sense, occurrence: Occurrence) -> Option<Span> {
        let calendar = self.calendar;
        match sense {
            Sense::Month(month) => calendar.yearly(occurrence, |year| calendar.months(year, month, 1)),
            Sense::Season(month) => calendar.yearly(occurrence, |year| calendar.months(year, month, 3)),
            Sense::Feast(feast) => calendar.yearly(occurrence, |year| calendar.feast(year, feast)),
            Sense::Weekday(day) => calendar.weekday(occurrence, day),
            _ => None,
        }
    }
}

/// A month, and whether its name is abbreviated.
fn month_name(sense: Sense) -> Option<(u32, bool)> {
    match sense {
        Sense::Month(month) => Some((month, false)),
        Sense::Abbreviation(month) => Some((month, true)),
        _ => None,
    }
}
