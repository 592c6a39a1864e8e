//! Exports and imports everything a tenant owns, row by row as JSON.

/// One statement for a batch; gives the ids of what is new.
macro_rules! insert {
    ($session:ident, $statement:tt, $($argument:expr),+) => {
        $session.run(|pg| sqlx::query_scalar!($statement, $($argument),+).fetch_all(pg)).await
    };
}

mod collisions;
mod facts;
pub mod read;
pub mod trust;
pub mod write;

use serde::{Deserialize, Serialize};

/// The kind of a line in an export. They are written in this order, so that every row comes after those it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Predicate,
    Entity,
    Episode,
    Fact,
    Rule,
    Link,
    RuleApplication,
    Merge,
    Proposal,
    Tombstone,
    Event,
}

impl Kind {
    /// Every kind, in the order in which an export writes them.
    pub const ALL: [Self; 11] = [
        Self::Predicate,
        Self::Entity,
        Self::Episode,
        Self::Fact,
        Self::Rule,
        Self::Link,
        Self::RuleApplication,
        Self::Merge,
        Self::Proposal,
        Self::Tombstone,
        Self::Event,
    ];

    /// The value of `type` in a line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Predicate => "predicate",
            Self::Entity => "entity",
            Self::Episode => "episode",
            Self::Fact => "fact",
            Self::Rule => "rule",
            Self::Link => "link",
            Self::RuleApplication => "rule_application",
            Self::Merge => "merge",
            Self::Proposal => "proposal",
            Self::Tombstone => "tombstone",
            Self::Event => "event",
        }
    }

    /// Whether its rows have an id of their own.
    pub const fn has_id(self) -> bool {
        !matches!(self, Self::Predicate | Self::Link)
    }

    /// Whether it has a vector and a search text.
    pub const fn is_memory(self) -> bool {
        matches!(self, Self::Episode | Self::Fact | Self::Rule)
    }
}
