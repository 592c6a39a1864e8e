//! What words mean in each language. The words are in one file per language.

use std::collections::HashMap;
use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    German,
    French,
    Spanish,
}

impl Language {
    pub const ALL: [Self; 4] = [Self::English, Self::German, Self::French, Self::Spanish];

    fn words(self) -> &'static str {
        match self {
            Self::English => include_str!("words/en.txt"),
            Self::German => include_str!("words/de.txt"),
            Self::French => include_str!("words/fr.txt"),
            Self::Spanish => include_str!("words/es.txt"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Year,
}

/// A third of a year, month or decade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Early,
    Middle,
    Late,
}

/// One meaning of a word. A word may have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    Month(u32),
    /// A short month name. It counts only with a year or a day: "Jan" is also a name.
    Abbreviation(u32),
    /// Days since Monday.
    Weekday(u32),
    /// The month in which the season begins.
    Season(u32),
    Unit(Unit),
    /// A unit in the plural, which needs a number.
    Units(Unit),
    /// An index of the feasts of the calendar.
    Feast(u32),
    /// Days from today.
    DayOffset(i32),
    /// French "hier", which is "here" in German.
    Yesterday,
    /// "morgen" and "mañana", which are also the morning.
    Tomorrow,
    Number(u32),
    /// The indefinite article, which is a number before "ago".
    One,
    Few,
    Ago,
    Last,
    /// The time that ends now: "the past year", "los últimos meses".
    Past,
    This,
    Next,
    In,
    /// "dans deux semaines", "dentro de dos semanas".
    Later,
    For,
    On,
    Since,
    Until,
    Before,
    After,
    Between,
    From,
    To,
    And,
    Or,
    Of,
    The,
    /// "when she moved"
    When,
    /// A word that stands for a person or thing.
    Pronoun,
    Part(Part),
    /// A word before "last" or "next" that makes it relative to something else: "my last year at school".
    Possessive,
    /// A noun that makes the number before it a count, not a year.
    Counted,
}

impl Sense {
    /// Whether it names a time or a unit of time. The other meanings only say how a time is meant.
    pub fn is_core(self) -> bool {
        let is_unit = matches!(self, Self::Unit(_) | Self::Units(_));
        let is_day = matches!(self, Self::DayOffset(_) | Self::Yesterday | Self::Tomorrow | Self::Weekday(_));
        let is_month = matches!(self, Self::Month(_) | Self::Abbreviation(_));
        is_unit || is_day || is_month || matches!(self, Self::Season(_) | Self::Feast(_))
    }
}

/// One meaning of a word or of several words.
#[derive(Debug)]
pub(super) struct Entry {
    pub language: Language,
    /// The words after the first.
    pub rest: Vec<&'static str>,
    pub sense: Sense,
}

/// The meanings of all words by their first word, those of several words first.
static LEXICON: LazyLock<HashMap<&'static str, Vec<Entry>>> = LazyLock::new(|| {
    let mut lexicon: HashMap<&'static str, Vec<Entry>> = HashMap::new();
    for language in Language::ALL {
        for (sense, phrases) in language.words().lines().filter_map(line) {
            for phrase in phrases.split(',') {
                let mut words = phrase.split_whitespace();
                let Some(first) = words.next() else { continue };
                lexicon.entry(first).or_default().push(Entry { language, rest: words.collect(), sense });
            }
        }
    }
    lexicon.values_mut().for_each(|entries| entries.sort_by_key(|entry| std::cmp::Reverse(entry.rest.len())));
    lexicon
});

/// The meanings of a word in lower case without accents.
pub(super) fn meanings(word: &str) -> &'static [Entry] {
    LEXICON.get(word).map_or(&[], Vec::as_slice)
}

/// Parses a line such as `month 3: march` into its meaning and its words.
fn line(line: &'static str) -> Option<(Sense, &'static str)> {
    let (meaning, words) = line.split_once(':').filter(|_| !line.starts_with('#'))?;
    let (name, number) = meaning.split_once(' ').unwrap_or((meaning, "0"));
    let number: i32 = number.parse().ok()?;
    let index = number.unsigned_abs();
    let sense = match name {
        "month" => Sense::Month(index),
        "abbreviation" => Sense::Abbreviation(index),
        "weekday" => Sense::Weekday(index),
        "season" => Sense::Season(index),
        "feast" => Sense::Feast(index),
        "day-offset" => Sense::DayOffset(number),
        "number" => Sense::Number(index),
        "minute" => Sense::Unit(Unit::Minute),
        "hour" => Sense::Unit(Unit::Hour),
        "day" => Sense::Unit(Unit::Day),
        "week" => Sense::Unit(Unit::Week),
        "weekend" => Sense::Unit(Unit::Weekend),
        "month-unit" => Sense::Unit(Unit::Month),
        "year-unit" => Sense::Unit(Unit::Year),
        "minutes" => Sense::Units(Unit::Minute),
        "hours" => Sense::Units(Unit::Hour),
        "days" => Sense::Units(Unit::Day),
        "weeks" => Sense::Units(Unit::Week),
        "month-units" => Sense::Units(Unit::Month),
        "year-units" => Sense::Units(Unit::Year),
        "early" => Sense::Part(Part::Early),
        "middle" => Sense::Part(Part::Middle),
        "late" => Sense::Part(Part::Late),
        "yesterday" => Sense::Yesterday,
        "tomorrow" => Sense::Tomorrow,
        other => plain(other)?,
    };
    Some((sense, words))
}

fn plain(name: &str) -> Option<Sense> {
    Some(match name {
        "one" => Sense::One,
        "few" => Sense::Few,
        "ago" => Sense::Ago,
        "last" => Sense::Last,
        "past" => Sense::Past,
        "this" => Sense::This,
        "next" => Sense::Next,
        "in" => Sense::In,
        "later" => Sense::Later,
        "for" => Sense::For,
        "on" => Sense::On,
        "since" => Sense::Since,
        "until" => Sense::Until,
        "before" => Sense::Before,
        "after" => Sense::After,
        "between" => Sense::Between,
        "from" => Sense::From,
        "to" => Sense::To,
        "and" => Sense::And,
        "or" => Sense::Or,
        "of" => Sense::Of,
        "the" => Sense::The,
        "when" => Sense::When,
        "pronoun" => Sense::Pronoun,
        "possessive" => Sense::Possessive,
        "counted" => Sense::Counted,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_word_files_is_understood() {
        for language in Language::ALL {
            for text in language.words().lines().filter(|line| !line.starts_with('#')) {
                assert!(line(text).is_some(), "{language:?}: {text}");
                assert!(text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()), "{language:?}: {text}");
            }
        }
    }

    #[test]
    fn every_language_names_all_months_and_weekdays() {
        for language in Language::ALL {
            let has = |sense| LEXICON.values().flatten().any(|e| e.language == language && e.sense == sense);
            assert!((1..=12).all(|month| has(Sense::Month(month))), "{language:?}");
            assert!((0..7).all(|day| has(Sense::Weekday(day))), "{language:?}");
            assert!([3, 6, 9, 12].into_iter().all(|month| has(Sense::Season(month))), "{language:?}");
            assert!((2..=12).all(|number| has(Sense::Number(number))), "{language:?}");
        }
    }
}
