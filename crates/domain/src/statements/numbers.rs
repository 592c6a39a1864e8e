//! Reads quantities, dates and times of day from words.

use std::collections::BTreeSet;

use super::tables::{DATES, NUMBERS, STOP_WORDS, UNITS};
use super::tokens::{Token, stem};

/// A number with its unit or with the thing it counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    /// In normal form: digits, and a point before decimals.
    pub value: String,
    /// A unit in normal form, such as `kg`.
    pub unit: Option<&'static str>,
    /// The word after it, if that is no unit: "cat" of "two cats".
    pub of: Option<String>,
    /// The place of its word in the statement.
    pub(super) place: usize,
}

/// The numbers, dates and identifiers of a statement. `used` tells which words they are.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) quantities: Vec<Quantity>,
    pub(super) dates: BTreeSet<String>,
    /// Words of letters and digits, such as "B12".
    pub(super) identifiers: BTreeSet<String>,
    pub(super) has_article: bool,
    pub(super) used: Vec<bool>,
}

pub(super) fn numbers(tokens: &[Token]) -> Numbers {
    let mut found = Numbers { used: vec![false; tokens.len()], ..Numbers::default() };
    let mut at = 0;
    while at < tokens.len() {
        at += found.read(tokens, at).max(1);
    }
    found
}

impl Numbers {
    /// Reads what starts at this word and returns how many words it has.
    fn read(&mut self, tokens: &[Token], at: usize) -> usize {
        let token = &tokens[at];
        if let Some(date) = named_date(tokens, at) {
            self.dates.insert(date.to_owned());
            self.used[at] = true;
            return 1;
        }
        if token.text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return self.digits(tokens, at);
        }
        if token.text.chars().any(|c| c.is_ascii_digit()) {
            self.identifiers.insert(token.text.clone());
            self.used[at] = true;
            return 1;
        }
        let Some((value, length)) = spelled(tokens, at) else { return 0 };
        if value == 1 {
            // "a cat" and "one cat" say the same; "a" is mostly no number at all.
            self.has_article = true;
            return 1;
        }
        self.quantity(tokens, at, length, value.to_string(), None)
    }

    fn digits(&mut self, tokens: &[Token], at: usize) -> usize {
        let text = tokens[at].text.as_str();
        let split =
            text.char_indices().find(|(_, c)| c.is_alphabetic() || *c == '°').map_or(text.len(), |(place, _)| place);
        let (digits, suffix) = text.split_at(split);
        self.used[at] = true;
        if let Some(parts) = date_parts(digits).filter(|_| suffix.is_empty()) {
            self.dates.extend(parts);
            return 1;
        }
        let next = tokens.get(at + 1).map(|token| token.text.as_str());
        let half_day = [Some(suffix), next].into_iter().flatten().find(|word| matches!(*word, "am" | "pm"));
        let time = (suffix.is_empty() || half_day == Some(suffix)).then(|| time_of_day(digits, half_day)).flatten();
        if let Some(time) = time {
            self.dates.insert(time);
            let words = if half_day.is_some() && suffix.is_empty() { 2 } else { 1 };
            self.used[at + words - 1] = true;
            return words;
        }
        let value = number(digits);
        let is_day = value.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day));
        if is_day && matches!(suffix, "" | "st" | "nd" | "rd" | "th") && is_beside_month(tokens, at) {
            self.dates.insert(format!("day {value}"));
            return 1;
        }
        if suffix.is_empty()
            && digits.len() == 4
            && (digits.starts_with("19") || digits.starts_with("20"))
            && next.is_none_or(|next| !UNITS.contains_key(next))
        {
            self.dates.insert(format!("year {digits}"));
            return 1;
        }
        match suffix {
            "" | "st" | "nd" | "rd" | "th" => self.quantity(tokens, at, 1, value, None),
            "k" => self.quantity(tokens, at, 1, multiplied(&value, 1000), None),
            unit => match UNITS.get(unit) {
                Some(unit) => self.quantity(tokens, at, 1, value, Some(unit)),
                None => {
                    self.identifiers.insert(text.to_owned());
                    1
                }
            },
        }
    }

    fn quantity(
        &mut self,
        tokens: &[Token],
        at: usize,
        length: usize,
        mut value: String,
        mut unit: Option<&'static str>,
    ) -> usize {
        let mut end = at + length;
        let word = |place: usize| tokens.get(place).map(|token| token.text.as_str());
        if let Some(factor) = word(end).and_then(multiplier).filter(|_| length == 1 && unit.is_none()) {
            value = multiplied(&value, factor);
            end += 1;
        }
        if unit.is_none() {
            unit = word(end).and_then(|word| UNITS.get(word)).copied();
            end += usize::from(unit.is_some());
        }
        if unit.is_none() && at > 0 && matches!(tokens[at - 1].text.as_str(), "$" | "€" | "£") {
            unit = UNITS.get(&tokens[at - 1].text).copied();
            self.used[at - 1] = true;
        }
        let of = word(end)
            .filter(|of| unit.is_none() && tokens[end].clause == tokens[at].clause && !STOP_WORDS.contains(*of))
            .map(stem);
        self.used[at..end].fill(true);
        self.quantities.push(Quantity { value, unit, of, place: at });
        end - at
    }
}

/// A month, a weekday or a word such as "today". Names of months that are also words of their own need a capital letter
/// that the start of a sentence does not explain, or a number beside them.
fn named_date(tokens: &[Token], at: usize) -> Option<&'static str> {
    const AMBIGUOUS: [&str; 12] =
        ["may", "march", "mar", "mars", "sun", "sat", "mon", "dec", "jan", "august", "sept", "hier"];
    let token = &tokens[at];
    let date = DATES.get(&token.text).copied()?;
    let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|place| tokens.get(place));
    let numbered = beside.into_iter().any(|token| token.text.starts_with(|c: char| c.is_ascii_digit()));
    let certain = !AMBIGUOUS.contains(&token.text.as_str()) || numbered || (token.capital && !token.starts_sentence);
    certain.then_some(date)
}

fn is_beside_month(tokens: &[Token], at: usize) -> bool {
    let is_month = |place: usize| {
        tokens.get(place).is_some() && named_date(tokens, place).is_some_and(|date| date.starts_with("month"))
    };
    let skips = |place: usize| tokens.get(place).is_some_and(|token| matches!(token.text.as_str(), "of" | "de"));
    is_month(at + 1) || (skips(at + 1) && is_month(at + 2)) || at.checked_sub(1).is_some_and(is_month)
}

/// The parts of `2024-03-05`, `5.3.2024` or `25/12/2024`. Whether `3/5/2024` means March or May is unknown.
fn date_parts(digits: &str) -> Option<Vec<String>> {
    let separator = digits.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '.' | '/'))?;
    let parts: Vec<&str> = digits.split(separator).collect();
    let read: Vec<u32> = parts.iter().map_while(|part| part.parse().ok()).collect();
    let [first, second, third] = read[..] else { return None };
    let (year, month, day) = match separator {
        '-' => (first, second, third),
        '.' => (third, second, first),
        _ if first > 12 => (third, second, first),
        _ if second > 12 => (third, first, second),
        _ => return (third >= 1000).then(|| vec![format!("date {digits}")]),
    };
    let plausible = (1000..3000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    plausible.then(|| vec![format!("year {year}"), format!("month {month}"), format!("day {day}")])
}

fn time_of_day(digits: &str, half_day: Option<&str>) -> Option<String> {
    let (hour, minute) = match digits.split_once([':', '.']) {
        Some((hour, minute)) if minute.len() == 2 => (hour, minute),
        None if half_day.is_some() => (digits, "00"),
        _ => return None,
    };
    if half_day.is_none() && !digits.contains(':') {
        return None;
    }
    let (hour, minute) = (hour.parse::<u8>().ok()?, minute.parse::<u8>().ok()?);
    let hour = match half_day {
        Some("pm") if hour < 12 => hour + 12,
        Some("am") if hour == 12 => 0,
        _ => hour,
    };
    (hour < 25 && minute < 60).then(|| format!("time {hour:02}:{minute:02}"))
}

/// A number without separators of thousands and with a point before its decimals. What is no number, such as a version
/// of three parts, stays as it is.
fn number(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let groups: Vec<&str> = digits.split(['.', ',']).collect();
    let grouped = groups.len() > 1
        && (1..4).contains(&groups[0].len())
        && groups[0] != "0"
        && groups[1..].iter().all(|group| group.len() == 3);
    let plain = |whole: &str| match whole.trim_start_matches('0') {
        "" => "0".to_owned(),
        trimmed => trimmed.to_owned(),
    };
    match &groups[..] {
        [whole] => format!("{sign}{}", plain(whole)),
        _ if grouped => format!("{sign}{}", groups.concat()),
        [whole, decimals] if decimals.bytes().all(|b| b == b'0') => format!("{sign}{}", plain(whole)),
        [whole, decimals] => format!("{sign}{}.{decimals}", plain(whole)),
        [whole @ .., decimals] if decimals.len() != 3 && whole[1..].iter().all(|group| group.len() == 3) => {
            format!("{sign}{}.{decimals}", whole.concat())
        }
        _ => format!("{sign}{digits}"),
    }
}

fn multiplier(word: &str) -> Option<u64> {
    NUMBERS.get(word).and_then(|value| value.parse().ok()).filter(|value| *value >= 100)
}

fn multiplied(value: &str, factor: u64) -> String {
    match value.parse::<f64>() {
        #[expect(clippy::cast_precision_loss, reason = "the factors are powers of ten that a double holds exactly")]
        Ok(number) => format!("{}", number * factor as f64),
        Err(_) => value.to_owned(),
    }
}

/// A number in words, such as "twenty-one", "einundzwanzig" or "two hundred", and how many words it has.
fn spelled(tokens: &[Token], at: usize) -> Option<(u64, usize)> {
    let value = |place: usize| tokens.get(place).and_then(|token| small_number(&token.text));
    let first = value(at)?;
    let (mut sum, mut length) = (first, 1);
    if (20..100).contains(&first) && first.is_multiple_of(10) {
        let joined = usize::from(tokens.get(at + 1).is_some_and(|token| matches!(token.text.as_str(), "y" | "et")));
        if let Some(unit) = value(at + 1 + joined).filter(|unit| (1..10).contains(unit)) {
            (sum, length) = (first + unit, 2 + joined);
        }
    }
    if let Some(factor) = tokens.get(at + length).and_then(|token| multiplier(&token.text)).filter(|f| *f > sum) {
        (sum, length) = (sum.saturating_mul(factor), length + 1);
    }
    Some((sum, length))
}

fn small_number(word: &str) -> Option<u64> {
    let listed = |word: &str| NUMBERS.get(word).and_then(|value| value.parse::<u64>().ok());
    listed(word).or_else(|| {
        let (unit, tens) = word.split_once("und")?;
        let unit = listed(unit).filter(|unit| (1..10).contains(unit))?;
        listed(tens).filter(|tens| (20..100).contains(tens)).map(|tens| tens + unit)
    })
}
