//! Why memories that came in were not stored.

use butler_store::trust::ForgottenStatement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a memory was not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It was forgotten, in the same words.
    Forgotten,
    /// It says in other words what was forgotten.
    Paraphrased,
    /// It was erased.
    Erased,
    /// A person rejected the proposal to store it.
    Rejected,
    /// Untrusted text adds no names and confirms nothing.
    Untrusted,
    /// The same action was applied before, or the entity exists.
    Repeated,
}

impl From<&ForgottenStatement> for Cause {
    fn from(statement: &ForgottenStatement) -> Self {
        match statement {
            ForgottenStatement { content: None, .. } => Self::Erased,
            ForgottenStatement { is_same: true, .. } => Self::Forgotten,
            _ => Self::Paraphrased,
        }
    }
}

/// How many were not stored, by the reason. A reason without any is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SuppressedBy {
    /// Forgotten before, in the same words.
    #[serde(skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// Forgotten before, in other words.
    #[serde(skip_serializing_if = "is_zero")]
    pub paraphrased: u64,
    /// Erased before.
    #[serde(skip_serializing_if = "is_zero")]
    pub erased: u64,
    /// Proposals that a person rejected.
    #[serde(skip_serializing_if = "is_zero")]
    pub rejected: u64,
    /// What untrusted text would confirm or name.
    #[serde(skip_serializing_if = "is_zero")]
    pub untrusted: u64,
    /// Actions that were applied before, and entities that exist.
    #[serde(skip_serializing_if = "is_zero")]
    pub repeated: u64,
}

pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl SuppressedBy {
    pub(crate) fn count(&mut self, cause: Cause) {
        *match cause {
            Cause::Forgotten => &mut self.forgotten,
            Cause::Paraphrased => &mut self.paraphrased,
            Cause::Erased => &mut self.erased,
            Cause::Rejected => &mut self.rejected,
            Cause::Untrusted => &mut self.untrusted,
            Cause::Repeated => &mut self.repeated,
        } += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let Self { forgotten, paraphrased, erased, rejected, untrusted, repeated } = other;
        self.forgotten += forgotten;
        self.paraphrased += paraphrased;
        self.erased += erased;
        self.rejected += rejected;
        self.untrusted += untrusted;
        self.repeated += repeated;
    }

    /// The reasons that occurred, each with its number, for people: "2 forgotten".
    pub fn described(&self) -> Vec<String> {
        [
            (self.forgotten, "forgotten before"),
            (self.paraphrased, "forgotten before in other words"),
            (self.erased, "erased before"),
            (self.rejected, "rejected by a person"),
            (self.untrusted, "from untrusted text"),
            (self.repeated, "known already"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, reason)| format!("{count} {reason}"))
        .collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
