//! Finds payment card numbers: a known prefix and length, the groups that are printed on cards, and a valid checksum.

use std::ops::Range;

/// The shortest and the longest number that a card has.
const DIGITS: std::ops::RangeInclusive<usize> = 13..=19;
/// How numbers are written in groups.
const GROUPINGS: [&[usize]; 5] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 4, 3], &[6, 13]];

pub(super) fn find(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(skipped) = text[at..].iter().position(u8::is_ascii_digit) {
        let groups = groups(text, at + skipped);
        at = groups.last().map_or(text.len(), |group| group.end);
        if starts_alone(&text[..groups[0].start]) && ends_alone(&text[at..]) {
            cards_in(text, &groups, &mut found);
        }
    }
    found
}

/// The groups of digits from this one on, separated by the same single space or dash.
fn groups(text: &[u8], start: usize) -> Vec<Range<usize>> {
    let first = start..start + digits(&text[start..]);
    let mut groups = vec![first];
    let mut separator = None;
    loop {
        let end = groups[groups.len() - 1].end;
        match text.get(end..end + 2) {
            Some([between @ (b' ' | b'-'), digit])
                if digit.is_ascii_digit() && separator.is_none_or(|used| used == *between) =>
            {
                separator = Some(*between);
                groups.push(end + 1..end + 1 + digits(&text[end + 1..]));
            }
            _ => return groups,
        }
    }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Letters before the digits make an IBAN or an id; a dot makes a fraction; a slash makes a path.
fn starts_alone(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., last] => !(last.is_ascii_alphanumeric() || matches!(last, b'.' | b'_' | b'-' | b'+' | b'/' | b'#')),
        [] => true,
    }
}

fn ends_alone(after: &[u8]) -> bool {
    match after {
        [b'.', digit, ..] => !digit.is_ascii_digit(),
        [next, ..] => !(next.is_ascii_alphanumeric() || *next == b'_'),
        [] => true,
    }
}

fn cards_in(text: &[u8], groups: &[Range<usize>], found: &mut Vec<Range<usize>>) {
    let mut first = 0;
    while first < groups.len() {
        let written = |count: &usize| {
            let lengths = groups[first..].iter().take(*count).map(Range::len);
            let known = *count == 1 || GROUPINGS.iter().any(|grouping| lengths.clone().eq(grouping.iter().copied()));
            let span = groups[first].start..groups[(first + *count).min(groups.len()) - 1].end;
            known && first + *count <= groups.len() && is_card(&text[span])
        };
        // The longest first, so that the last group of a long number does not stay behind.
        match [5, 4, 3, 2, 1].iter().copied().find(written) {
            Some(count) => {
                found.push(groups[first].start..groups[first + count - 1].end);
                first += count;
            }
            None => first += 1,
        }
    }
}

fn is_card(written: &[u8]) -> bool {
    if written.len() > 2 * DIGITS.end() {
        return false;
    }
    let digits: Vec<u8> = written.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0').collect();
    DIGITS.contains(&digits.len()) && is_issued(&digits) && has_valid_checksum(&digits) && !is_monotonous(&digits)
}

/// Whether a card network uses this prefix with this length.
fn is_issued(digits: &[u8]) -> bool {
    let prefix = |count: usize| digits[..count].iter().fold(0_u32, |number, digit| number * 10 + u32::from(*digit));
    let (two, three, four) = (prefix(2), prefix(3), prefix(4));
    match digits.len() {
        13 => digits[0] == 4,
        14 => matches!(three, 300..=305) || matches!(two, 36 | 38),
        15 => matches!(two, 34 | 37),
        16 => {
            let visa_or_mastercard = digits[0] == 4 || matches!(two, 51..=55) || matches!(four, 2221..=2720);
            let other = matches!(two, 62 | 65) || matches!(three, 644..=649) || matches!(four, 6011 | 3528..=3589);
            visa_or_mastercard || other
        }
        17 | 18 => two == 62,
        19 => digits[0] == 4 || two == 62,
        _ => false,
    }
}

/// The Luhn checksum.
fn has_valid_checksum(digits: &[u8]) -> bool {
    let weighted = digits.iter().rev().enumerate().map(|(place, digit)| match (place % 2, u32::from(*digit) * 2) {
        (0, _) => u32::from(*digit),
        (_, double) if double > 9 => double - 9,
        (_, double) => double,
    });
    weighted.sum::<u32>().is_multiple_of(10)
}

/// A number such as 4444 4444 4444 4444 is a filler.
fn is_monotonous(digits: &[u8]) -> bool {
    digits.iter().all(|digit| *digit == digits[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A valid number with this prefix and length, so that no card number stands in this file.
    fn card(prefix: &str, length: usize) -> String {
        let body: String = prefix.chars().chain("0917350284619".chars().cycle()).take(length - 1).collect();
        let check = ('0'..='9').find(|check| {
            let digits: Vec<u8> = body.bytes().chain([*check as u8]).map(|byte| byte - b'0').collect();
            has_valid_checksum(&digits)
        });
        body + &check.unwrap().to_string()
    }

    fn count(text: &str) -> usize {
        find(text.as_bytes()).len()
    }

    #[test]
    fn numbers_of_all_networks_are_found() {
        let numbers = [("4", 13), ("4", 16), ("4", 19), ("51", 16), ("2221", 16), ("34", 15), ("37", 15), ("6011", 16)];
        for (prefix, length) in
            numbers.into_iter().chain([("3528", 16), ("36", 14), ("62", 16), ("62", 19), ("645", 16)])
        {
            let card = card(prefix, length);
            assert_eq!(count(&format!("pay with {card}, please")), 1, "{prefix} {length}");
            assert_eq!(count(&format!("{card}7")), 0, "one digit more");
            assert_eq!(count(&format!("A{card} 0.{card} {card}.5")), 0);
        }
    }

    #[test]
    fn printed_groups_are_found_with_what_follows_them() {
        let card = card("4", 16);
        let grouped = [&card[..4], &card[4..8], &card[8..12], &card[12..]];
        let (spaced, dashed) = (grouped.join(" "), grouped.join("-"));
        for text in [&spaced, &dashed, &format!("7 {spaced} 12 27 123"), &format!("{dashed} 12/27")] {
            let found = find(text.as_bytes());
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].len(), 19, "{text}");
        }
        assert_eq!(count(&format!("{} {}", &card[..5], &card[5..])), 0, "no card is written like this");
    }

    #[test]
    fn a_wrong_checksum_is_no_card() {
        let card = card("4", 16);
        let last = card.as_bytes()[15] - b'0';
        for digit in (0..10).filter(|digit| *digit != last) {
            assert_eq!(count(&format!("{}{digit}", &card[..15])), 0);
        }
    }
}
