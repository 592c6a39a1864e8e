//! A line diff of a file.

use crate::printer::{Colour, Printer};

/// Number of unchanged lines to show around a change.
const CONTEXT_LINES: usize = 2;

#[derive(Debug, PartialEq, Eq)]
pub enum DiffLine<'a> {
    Unchanged(&'a str),
    Removed(&'a str),
    Added(&'a str),
    /// Omitted unchanged lines.
    Omitted,
}

/// Prints the changed lines, with `***` in place of each secret.
pub fn show(printer: Printer, before: &str, after: &str, secrets: &[String]) {
    let masked = |text: &str| secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "***"));
    for line in lines(before, after) {
        printer.line(match line {
            DiffLine::Unchanged(text) => printer.on_out(&format!("  {}", masked(text)), Colour::Dim),
            DiffLine::Removed(text) => printer.on_out(&format!("- {}", masked(text)), Colour::Red),
            DiffLine::Added(text) => printer.on_out(&format!("+ {}", masked(text)), Colour::Green),
            DiffLine::Omitted => printer.on_out("  ⋯", Colour::Dim),
        });
    }
}

pub fn lines<'a>(before: &'a str, after: &'a str) -> Vec<DiffLine<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let same_end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (old.len() - same_end, new.len() - same_end);
    let middle = diff(&old[start..old_end], &new[start..new_end]);
    let mut all: Vec<DiffLine<'_>> = old[..start].iter().map(|line| DiffLine::Unchanged(line)).collect();
    all.extend(middle);
    all.extend(old[old_end..].iter().map(|line| DiffLine::Unchanged(line)));
    without_distant_lines(all)
}

/// Diffs by longest common subsequence. Its quadratic cost is fine, because changes are a few dozen lines.
fn diff<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<DiffLine<'a>> {
    let mut best = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            best[i][j] = if old[i] == new[j] { best[i + 1][j + 1] + 1 } else { best[i + 1][j].max(best[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(DiffLine::Unchanged(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || best[i + 1][j] >= best[i][j + 1]) {
            lines.push(DiffLine::Removed(old[i]));
            i += 1;
        } else {
            lines.push(DiffLine::Added(new[j]));
            j += 1;
        }
    }
    lines
}

fn without_distant_lines(lines: Vec<DiffLine<'_>>) -> Vec<DiffLine<'_>> {
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, DiffLine::Unchanged(_)))
        .map(|(at, _)| at)
        .collect();
    let near = |at: usize| changed.iter().any(|change| change.abs_diff(at) <= CONTEXT_LINES);
    let mut kept = Vec::new();
    for (at, line) in lines.into_iter().enumerate() {
        if near(at) {
            kept.push(line);
        } else if kept.last() != Some(&DiffLine::Omitted) {
            kept.push(DiffLine::Omitted);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_two_lines_of_context() {
        let before = "a\nb\nc\nd\ne\nf";
        let after = "a\nb\nc\nX\nd\ne\nf";
        let shown = lines(before, after);
        assert_eq!(
            shown,
            [
                DiffLine::Omitted,
                DiffLine::Unchanged("b"),
                DiffLine::Unchanged("c"),
                DiffLine::Added("X"),
                DiffLine::Unchanged("d"),
                DiffLine::Unchanged("e"),
                DiffLine::Omitted
            ]
        );
        assert!(lines(before, before).iter().all(|line| *line == DiffLine::Omitted));
    }
}
