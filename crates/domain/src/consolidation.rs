//! What an LLM made of a batch of episodes: the actions it may ask for, and a parser that never fails.
//!
//! The answer is foreign text. Whatever it is, `parse` returns what of it is valid and says what was not.

mod actions;
mod echo;
mod extract;
mod json;
mod key;
mod parse;
pub mod prompt;
mod retry;
#[cfg(test)]
mod tests;

pub use actions::{Confirmation, ConsolidationResult, NewFact, NewRule, UpdatedFact};
pub use key::{Action, idempotency_key};
pub use parse::{NO_JSON, parse, parse_answer};
pub use retry::{AfterFailure, after_failure};
