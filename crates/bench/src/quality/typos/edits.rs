//! Typing errors: substituted, exchanged, missing and additional letters.

use crate::facts::Dice;

const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";

/// The word with this many typing errors at any letters. A capital first letter stays a capital.
pub fn misspelled(word: &str, errors: usize, dice: &mut Dice) -> String {
    let right: Vec<char> = word.to_lowercase().chars().collect();
    loop {
        let mut wrong = right.clone();
        for _ in 0..errors {
            edit(&mut wrong, dice);
        }
        // An edit can change nothing, and two edits can undo each other or amount to one.
        if distance(&right, &wrong) == errors {
            let typed: String = wrong.into_iter().collect();
            return if word.starts_with(char::is_uppercase) { capital(&typed) } else { typed };
        }
    }
}

fn edit(word: &mut Vec<char>, dice: &mut Dice) {
    let at = dice.below(word.len());
    let letter = char::from(dice.pick(LETTERS));
    match dice.below(4) {
        0 => word[at] = letter,
        1 if at + 1 < word.len() => word.swap(at, at + 1),
        2 => {
            word.remove(at);
        }
        _ => word.insert(at, letter),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The number of substitutions, exchanges of neighbours, deletions and insertions between two words.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let same = usize::from(a[i - 1] != b[j - 1]);
                    let mut least = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + same);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(rows[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_of_neighbours_is_one_error() {
        let distance =
            |a: &str, b: &str| super::distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!((distance("typsecript", "typescript"), distance("cello", "cells"), distance("", "ab")), (1, 1, 2));
    }

    #[test]
    fn every_misspelling_has_the_errors_asked_for_and_some_change_the_first_letter() {
        let typos = |errors: usize| -> Vec<String> {
            (0..100).map(|seed| misspelled("Gronning", errors, &mut Dice::new(seed))).collect()
        };
        let letters = |word: &str| word.to_lowercase().chars().collect::<Vec<char>>();
        for errors in [1, 2] {
            assert!(typos(errors).iter().all(|typo| distance(&letters("Gronning"), &letters(typo)) == errors));
        }
        let first = typos(2).iter().filter(|typo| !typo.starts_with('G')).count();
        assert!((5..50).contains(&first), "{first} of 100 change the first letter");
    }
}
