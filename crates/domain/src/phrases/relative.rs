//! Times relative to now: "last week", "two weeks ago", "in the last three months".

use super::calendar::{Occurrence, Span};
use super::parser::{Parser, Point};
use super::tokens::After;
use super::words::{Language, Sense, Unit};

const NO_NUMBER: &str = "does not say how many";

const OPEN_NUMBER: &str = "gives only a minimum or maximum";

/// A number of units, or none if it is vague.
type Count = Option<u32>;

impl Parser<'_> {
    /// "last week", "this summer", "next Friday", "la semaine dernière", "the last three months".
    pub fn relative(&self, at: usize) -> Option<Point> {
        let before = |sense| at > 0 && self.follows(at, sense);
        if before(Sense::Possessive) {
            return None;
        }
        self.rolling(at).or_else(|| {
            let (end, direction, noun, noun_at) = self.directed(at)?;
            let occurrence = match direction {
                Sense::Last => Occurrence::Last,
                Sense::This => Occurrence::This,
                _ => Occurrence::Next,
            };
            if self.is_other(end) || self.is_clause(end, noun_at, noun, occurrence) {
                return None;
            }
            let span = match noun {
                // "the next week" is relative to what was told before.
                Sense::Unit(_)
                    if occurrence == Occurrence::Next && before(Sense::The) && self.language == Language::English =>
                {
                    None
                }
                Sense::Unit(unit) => self.calendar.unit(unit, offset(occurrence)),
                noun => self.named(noun, occurrence),
            };
            Some(Point::new(end, span?))
        })
    }

    /// Whether the words before `end` are about something else, such as "last year of school".
    fn is_other(&self, end: usize) -> bool {
        self.language == Language::English && self.word(end, Sense::Of).is_some()
    }

    /// Whether "this" begins a clause, as in "this may be" and "does this fall under".
    fn is_clause(&self, end: usize, noun_at: usize, noun: Sense, occurrence: Occurrence) -> bool {
        occurrence == Occurrence::This && self.is_verb(noun_at) && (noun == Sense::Month(5) || self.continues(end))
    }

    /// The offset of "last year" and the like, for a given unit.
    pub fn relative_unit(&self, at: usize, unit: Unit) -> Option<(usize, i32)> {
        let (end, direction, noun, _) = self.directed(at)?;
        let direction = match direction {
            Sense::Last => -1,
            Sense::This => 0,
            _ => 1,
        };
        (noun == Sense::Unit(unit)).then_some((end, direction))
    }

    /// A direction with its noun, in the order of the language. Returns the end, both, and the position of the noun.
    fn directed(&self, at: usize) -> Option<(usize, Sense, Sense, usize)> {
        if let Some((next, direction)) = self.eat(at, direction)
            && (self.language != Language::French || direction == Sense::This)
            && let Some((end, noun)) = self.eat(next, noun)
        {
            return Some((end, direction, noun, next));
        }
        if matches!(self.language, Language::English | Language::German) {
            return None;
        }
        let (next, noun) = self.eat(at, noun)?;
        let (end, direction) = self.eat(next, direction).filter(|(_, direction)| *direction != Sense::This)?;
        Some((end, direction, noun, at))
    }

    /// "the last three months", "the past year", "les trois derniers mois", "los últimos tres meses".
    fn rolling(&self, at: usize) -> Option<Point> {
        let direction = |sense| matches!(sense, Sense::Last | Sense::Past | Sense::Next).then_some(sense);
        // "une dernière semaine" is the final one.
        let early = self.count(at).filter(|(_, count)| self.language != Language::English && *count != Some(1));
        let (next, direction) = self.eat(early.map_or(at, |(next, _)| next), direction)?;
        if direction == Sense::Past && !self.is_adjective(at) {
            return None;
        }
        let (next, count) = match early.or_else(|| self.count(next)) {
            Some((_, count)) if early.is_some() => (next, Some(count)),
            Some((next, count)) => (next, Some(count)),
            None => (next, None),
        };
        let (end, (unit, plural)) = self.eat(next, unit)?;
        let count = match count {
            Some(count) => count,
            None if plural || (direction == Sense::Past && self.language == Language::French) => None,
            None if self.word(end, Sense::Of).is_some() => return None,
            None if direction == Sense::Past => Some(1),
            None => return None,
        };
        Some(match count {
            Some(count) => Point::new(end, self.calendar.rolling(count, unit, direction == Sense::Next)?),
            None => Point::unclear(end, NO_NUMBER),
        })
    }

    /// Whether "past" is no preposition, as it is in "he walked past two houses".
    fn is_adjective(&self, at: usize) -> bool {
        let leads = [Sense::The, Sense::In, Sense::For];
        self.language != Language::English || at == 0 || leads.into_iter().any(|sense| self.follows(at, sense))
    }

    /// "for the last year", "in the last week": English only, elsewhere it is the calendar's year or week.
    pub fn rolling_after(&self, at: usize, place: Sense) -> Option<Point> {
        if self.language != Language::English || !matches!(place, Sense::In | Sense::For) {
            return None;
        }
        let at = self.word(at, Sense::The)?;
        let (next, direction) = self.eat(at, |sense| matches!(sense, Sense::Last | Sense::Next).then_some(sense))?;
        let (end, (unit, plural)) = self.eat(next, unit).or_else(|| self.eat(self.count(next)?.0, unit))?;
        if plural || self.count(next).is_some() {
            return self.rolling(at);
        }
        let other = self.is_other(end) || unit == Unit::Weekend;
        (!other).then(|| self.calendar.rolling(1, unit, direction == Sense::Next).map(|span| Point::new(end, span)))?
    }

    /// "two weeks ago", "vor zwei Wochen", "il y a deux semaines", "hace dos semanas".
    pub fn ago(&self, at: usize) -> Option<Point> {
        let (end, count, unit) = match self.language {
            Language::English => {
                let (next, count, unit) = self.counted(at)?;
                let end = self.word(next, Sense::Ago)?;
                if at > 0 && matches!(self.tokens[at - 1].word.as_str(), "than" | "over") {
                    return Some(Point::unclear(end, OPEN_NUMBER));
                }
                (end, count, unit)
            }
            Language::German => self.counted(self.word(at, Sense::Before)?)?,
            Language::French | Language::Spanish => self.counted(self.word(at, Sense::Ago)?)?,
        };
        self.away(end, count, unit, -1)
    }

    /// "in two weeks", "dans deux semaines", after its preposition.
    pub fn later(&self, at: usize, place: Sense) -> Option<Point> {
        let romance = matches!(self.language, Language::French | Language::Spanish);
        if place != if romance { Sense::Later } else { Sense::In } {
            return None;
        }
        // "days in a year" is not about the next year.
        if !romance && self.word(at, Sense::One).is_some() {
            return None;
        }
        let (end, count, unit) = self.counted(at)?;
        // "bake it in 30 minutes" is a duration.
        if matches!(unit, Unit::Minute | Unit::Hour) {
            return None;
        }
        self.away(end, count, unit, 1)
    }

    fn away(&self, end: usize, count: Count, unit: Unit, sign: i32) -> Option<Point> {
        let Some(count) = count else { return Some(Point::unclear(end, NO_NUMBER)) };
        let offset = i32::try_from(count).ok().filter(|count| *count > 0)? * sign;
        Some(Point::new(end, self.calendar.around(offset, unit)?))
    }

    /// The time since "two weeks" in "seit zwei Wochen", "depuis deux semaines", "desde hace dos semanas".
    pub fn duration(&self, at: usize) -> Option<(usize, Result<Span, &'static str>)> {
        let at = self.word(at, Sense::Ago).unwrap_or(at);
        let (end, count, unit) = self.counted(at)?;
        if self.word(end, Sense::Ago).is_some() {
            return None;
        }
        Some((
            end,
            match count {
                Some(count) => Ok(self.calendar.rolling(count, unit, false)?),
                None => Err(NO_NUMBER),
            },
        ))
    }

    fn counted(&self, at: usize) -> Option<(usize, Count, Unit)> {
        let (next, count) = self.count(at)?;
        let (end, (unit, _)) = self.eat(next, unit)?;
        Some((end, count, unit))
    }

    /// A number in digits or words, an article, or a word such as "few".
    fn count(&self, at: usize) -> Option<(usize, Count)> {
        if !self.continues(at) {
            return None;
        }
        if let Some(number) = self.number(at) {
            return Some((at + 1, Some(number)));
        }
        // "a couple of", "a few"
        let next = self.word(at, Sense::One).unwrap_or(at);
        let count = |sense| match sense {
            Sense::Number(number) => Some(Some(number)),
            Sense::Few => Some(None),
            _ => None,
        };
        self.eat(next, count).or_else(|| self.eat(at, count)).or_else(|| (next > at).then_some((next, Some(1))))
    }

    /// Whether the word before a position has a meaning.
    fn follows(&self, at: usize, sense: Sense) -> bool {
        let token = &self.tokens[at - 1];
        let has = |entry: &super::words::Entry| entry.language == self.language && entry.sense == sense;
        token.after == After::Nothing && token.meanings.iter().any(|entry| entry.rest.is_empty() && has(entry))
    }
}

fn direction(sense: Sense) -> Option<Sense> {
    matches!(sense, Sense::Last | Sense::This | Sense::Next).then_some(sense)
}

fn noun(sense: Sense) -> Option<Sense> {
    let is_noun =
        matches!(sense, Sense::Unit(_) | Sense::Month(_) | Sense::Season(_) | Sense::Feast(_) | Sense::Weekday(_));
    is_noun.then_some(sense)
}

/// A unit, and whether it is in the plural.
fn unit(sense: Sense) -> Option<(Unit, bool)> {
    match sense {
        Sense::Unit(unit) => Some((unit, false)),
        Sense::Units(unit) => Some((unit, true)),
        _ => None,
    }
}

fn offset(occurrence: Occurrence) -> i32 {
    match occurrence {
        Occurrence::Last => -1,
        Occurrence::This | Occurrence::Latest => 0,
        Occurrence::Next => 1,
    }
}
