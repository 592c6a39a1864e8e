//! Public data sets of long conversations with questions, in the formats in which they are published.
//!
//! Their licences keep them out of the project, so every reader gets a path to your own copy.

pub mod beam;
pub mod locomo;
pub mod longmemeval;
pub mod realtalk;

use std::path::Path;

use anyhow::Context;
use butler_domain::Timestamp;
use chrono::NaiveDateTime;
use serde::de::DeserializeOwned;

/// A conversation in the order of its turns, with questions about it.
#[derive(Debug, Default, PartialEq)]
pub struct Conversation {
    pub turns: Vec<Turn>,
    pub questions: Vec<Question>,
    pub observations: Vec<Observation>,
}

#[derive(Debug, PartialEq)]
pub struct Turn {
    /// The number of the session, from 0.
    pub session: usize,
    /// When it was said, as the data set writes it. Empty if it does not say.
    pub date: String,
    pub speaker: String,
    pub text: String,
}

impl Turn {
    /// The content of the episode that stores this turn.
    pub fn content(&self) -> String {
        match self.date.as_str() {
            "" => format!("{}: {}", self.speaker, self.text),
            date => format!("[{date}] {}: {}", self.speaker, self.text),
        }
    }

    /// When it was said, if the date has LoCoMo's form.
    pub fn said_at(&self) -> Option<Timestamp> {
        NaiveDateTime::parse_from_str(&self.date, "%I:%M %p on %d %B, %Y").ok().map(|at| at.and_utc())
    }
}

#[derive(Debug, PartialEq)]
pub struct Question {
    pub text: String,
    pub category: String,
    /// The turns that contain the answer, as positions in [`Conversation::turns`]. No turn is named twice.
    pub turns: Vec<usize>,
    /// The sessions that contain the answer, where the data set names them.
    pub sessions: Vec<usize>,
}

/// A statement about a speaker that the data set derives from turns. It can be stored as a fact.
#[derive(Debug, PartialEq)]
pub struct Observation {
    pub subject: String,
    pub content: String,
    pub turns: Vec<usize>,
}

fn read_json<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} does not have the expected format", path.display()))
}

/// Sorts positions and removes repetitions.
fn distinct(mut positions: Vec<usize>) -> Vec<usize> {
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// A key that sorts names by the first number in them, so that 10 comes after 9.
fn numbered_first(name: &str) -> (u64, String) {
    let number = name.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
    (number.and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX), name.to_owned())
}
