//! What changes in a file, as people read it.

use crate::printer::{Colour, Printer};

/// Lines shown around a change.
const AROUND: usize = 2;

#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
    /// Lines in between that stay as they are.
    Gap,
}

pub fn show(printer: Printer, before: &str, after: &str) {
    for line in lines(before, after) {
        printer.line(match line {
            Line::Same(text) => printer.on_out(&format!("  {text}"), Colour::Dim),
            Line::Gone(text) => printer.on_out(&format!("- {text}"), Colour::Red),
            Line::New(text) => printer.on_out(&format!("+ {text}"), Colour::Green),
            Line::Gap => printer.on_out("  ⋯", Colour::Dim),
        });
    }
}

pub fn lines<'a>(before: &'a str, after: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let same_end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (old.len() - same_end, new.len() - same_end);
    let middle = matched(&old[start..old_end], &new[start..new_end]);
    let mut all: Vec<Line<'_>> = old[..start].iter().map(|line| Line::Same(line)).collect();
    all.extend(middle);
    all.extend(old[old_end..].iter().map(|line| Line::Same(line)));
    folded(all)
}

/// The longest common subsequence; what changes is a few dozen lines.
fn matched<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
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
            lines.push(Line::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || best[i + 1][j] >= best[i][j + 1]) {
            lines.push(Line::Gone(old[i]));
            i += 1;
        } else {
            lines.push(Line::New(new[j]));
            j += 1;
        }
    }
    lines
}

fn folded(lines: Vec<Line<'_>>) -> Vec<Line<'_>> {
    let changed: Vec<usize> =
        lines.iter().enumerate().filter(|(_, line)| !matches!(line, Line::Same(_))).map(|(at, _)| at).collect();
    let near = |at: usize| changed.iter().any(|change| change.abs_diff(at) <= AROUND);
    let mut folded = Vec::new();
    for (at, line) in lines.into_iter().enumerate() {
        if near(at) {
            folded.push(line);
        } else if folded.last() != Some(&Line::Gap) {
            folded.push(Line::Gap);
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_a_little_around_it() {
        let before = "a\nb\nc\nd\ne\nf";
        let after = "a\nb\nc\nX\nd\ne\nf";
        let shown = lines(before, after);
        assert_eq!(
            shown,
            [Line::Gap, Line::Same("b"), Line::Same("c"), Line::New("X"), Line::Same("d"), Line::Same("e"), Line::Gap]
        );
        assert!(lines(before, before).iter().all(|line| *line == Line::Gap));
    }
}
