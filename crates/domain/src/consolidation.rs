//! Parses an LLM's answer to a batch of episodes into actions.
//!
//! The answer is untrusted text. [`parse`] never fails: it returns the valid actions and a list of problems.

mod actions;
mod echo;
mod errors;
mod extract;
mod fields;
mod json;
mod key;
mod parse;
pub mod prompt;
mod reasoning;
mod retry;
#[cfg(test)]
mod tests;
mod verdicts;

pub use actions::{Confirmation, ConsolidationResult, NewEntity, NewFact, NewRule, UpdatedFact};
pub use key::{Action, idempotency_key};
pub use parse::{NO_JSON, parse, parse_answer};
pub use retry::{AfterFailure, after_failure};
pub use verdicts::{Judgement, parse_verdicts};
