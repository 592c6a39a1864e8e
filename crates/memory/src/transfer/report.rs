use std::collections::BTreeMap;

use serde::Serialize;

/// Enough to see what is wrong with a file; the rest is counted.
const PROBLEMS: usize = 100;

/// What became of the lines of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub read: u64,
    pub created: u64,
    /// There already, and left as it is.
    pub existing: u64,
    /// Left out, each with a problem.
    pub left_out: u64,
}

impl Tally {
    pub(super) fn counted(&mut self, here_already: bool) {
        if here_already {
            self.existing += 1;
        } else {
            self.created += 1;
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// `None`: of the file as a whole.
    pub line: Option<u64>,
    pub message: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    pub format: String,
    pub dry_run: bool,
    /// Whether anything was kept: not in a dry run, and not when there were problems, unless told to.
    pub committed: bool,
    pub lines: u64,
    pub kinds: BTreeMap<String, Tally>,
    /// Embedded here, because the file had no vector of this model.
    pub embedded: u64,
    pub problems: Vec<Problem>,
    pub problems_omitted: u64,
}

impl ImportReport {
    pub(super) fn new(format: &str, dry_run: bool) -> Self {
        Self { format: format.to_owned(), dry_run, ..Self::default() }
    }

    pub(super) fn tally(&mut self, kind: &str) -> &mut Tally {
        self.kinds.entry(kind.to_owned()).or_default()
    }

    pub(super) fn problem(&mut self, line: Option<u64>, message: impl Into<String>) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(Problem { line, message: message.into() });
        } else {
            self.problems_omitted += 1;
        }
    }

    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    pub fn created(&self) -> u64 {
        self.kinds.values().map(|tally| tally.created).sum()
    }
}
