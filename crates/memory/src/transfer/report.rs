use std::collections::BTreeMap;

use serde::Serialize;

use crate::suppressed::{Cause, SuppressedBy, is_zero};

/// The maximum number of problems listed. Further ones are only counted.
const MAX_PROBLEMS: usize = 100;

/// The outcome for all lines of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub read: u64,
    pub created: u64,
    /// Existed before and was not changed.
    pub existing: u64,
    /// Left out because the same was forgotten or erased here.
    #[serde(skip_serializing_if = "is_zero")]
    pub suppressed: u64,
    /// Why they were left out. Its numbers add up to `suppressed`.
    #[serde(skip_serializing_if = "SuppressedBy::is_empty")]
    pub suppressed_by: SuppressedBy,
    /// Skipped because of a problem.
    pub left_out: u64,
}

impl Tally {
    /// Counts one item that was read and left out.
    pub(super) fn suppress(&mut self, cause: Cause) {
        self.read += 1;
        self.suppressed += 1;
        self.suppressed_by.count(cause);
    }

    /// Counts one item as existing or created.
    pub(super) fn count(&mut self, exists: bool) {
        if exists {
            self.existing += 1;
        } else {
            self.created += 1;
        }
    }
}

/// A problem in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The number of the line, from 1; `None` for a problem of the whole file.
    pub line: Option<u64>,
    pub message: String,
}

/// What an import did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    pub format: String,
    pub dry_run: bool,
    /// Whether the import was committed. False for a dry run, and if there are problems unless a partial import was
    /// requested.
    pub committed: bool,
    pub lines: u64,
    pub kinds: BTreeMap<String, Tally>,
    /// Number of memories that were embedded, because the file had no vector of the current model.
    pub embedded: u64,
    /// Number of facts that were linked to the entity that their subject names.
    pub linked: u64,
    /// Number of secrets that were redacted.
    #[serde(skip_serializing_if = "is_zero")]
    pub redacted: u64,
    pub problems: Vec<Problem>,
    pub problems_omitted: u64,
    /// Number of events whose id belongs to another tenant. Their only key is the id, so the file comes from that tenant.
    #[serde(skip)]
    pub(super) events_elsewhere: u64,
}

impl ImportReport {
    pub(super) fn new(format: &str, dry_run: bool) -> Self {
        Self { format: format.to_owned(), dry_run, ..Self::default() }
    }

    pub(super) fn tally(&mut self, kind: &str) -> &mut Tally {
        self.kinds.entry(kind.to_owned()).or_default()
    }

    pub(super) fn problem(&mut self, line: Option<u64>, message: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { line, message: message.into() });
        } else {
            self.problems_omitted += 1;
        }
    }

    /// Whether a line could not be imported. Then nothing was stored, unless a partial import was requested.
    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Number of new rows of all kinds. Rows that the memory had already do not count.
    pub fn created(&self) -> u64 {
        self.kinds.values().map(|tally| tally.created).sum()
    }
}
