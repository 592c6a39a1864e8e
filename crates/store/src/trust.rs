//! How far a memory that is stored is trusted: where it comes from, and what was forgotten before.

use butler_domain::{Source, Timestamp, statements};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::StoreError;

/// Part of a new fact or rule.
#[derive(Debug, Clone, Serialize)]
pub struct Trust {
    /// Where it comes from. It inherits the least trusted source of the episodes it is derived from.
    pub source: Source,
    /// From these sources it becomes a proposal.
    pub approval: Vec<Source>,
    pub forgotten: OnForgotten,
    /// From this cosine similarity on, a forgotten statement may be the same one.
    pub near: f64,
}

/// What happens if the same was forgotten before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnForgotten {
    /// It is not stored; the candidates are returned.
    Heed,
    /// The caller has looked at the candidates: none is the same.
    Checked,
    /// It is stored, and may be learned again from now on.
    Lift,
}

impl Trust {
    /// For a new version: who edits a memory has read it, so the trust in its episodes no longer matters.
    pub fn vouch_for_episodes(&mut self) {
        if !self.approval.contains(&self.source) {
            self.approval.clear();
        }
    }

    /// The same, after a look at the candidates.
    pub(crate) fn checked(&self) -> Self {
        Self { forgotten: OnForgotten::Checked, ..self.clone() }
    }
}

/// What one call of a function that stores came to.
pub(crate) enum Attempt<T> {
    Done(T),
    /// Nothing was stored: these may say the same.
    Near(Vec<ForgottenStatement>),
}

/// The forgotten statement that `content` repeats, in the same or in other words.
pub(crate) fn forgotten(
    candidates: Vec<ForgottenStatement>,
    subject: &str,
    content: &str,
) -> Option<ForgottenStatement> {
    candidates.into_iter().find(|candidate| candidate.is_repeated_by(subject, content))
}

/// What was forgotten, and says the same or nearly the same.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ForgottenStatement {
    /// The forgotten memory, or the tombstone of an erased one.
    pub id: Uuid,
    /// `None`: it was erased.
    pub content: Option<String>,
    pub similarity: Option<f64>,
    /// Equal in normal form.
    pub is_same: bool,
    pub forgotten_at: Option<Timestamp>,
}

impl ForgottenStatement {
    /// Whether `content`, about the same subject, is the same statement. A rule has no subject.
    pub fn is_repeated_by(&self, subject: &str, content: &str) -> bool {
        let similarity = self.similarity.unwrap_or(0.0);
        let paraphrased = |old: &str| statements::is_paraphrase_about(subject, old, content, similarity);
        self.is_same || self.content.as_deref().is_some_and(paraphrased)
    }
}

/// The JSON that a function of ours returned.
pub(crate) fn read_answer<T: DeserializeOwned>(answer: Value) -> Result<T, StoreError> {
    serde_json::from_value(answer).map_err(|error| StoreError::BadData {
        table: "the answer of a function",
        column: "answer",
        id: String::new(),
        reason: error.to_string(),
    })
}
