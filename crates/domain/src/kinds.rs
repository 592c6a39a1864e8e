//! The closed lists of the specification: what a memory, a fact's validity, a rule's maturity can be.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A name that is not on its list; says which list and what is on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {given:?}: valid are {}", .valid.join(", "))]
pub struct UnknownName {
    pub what: &'static str,
    pub given: String,
    pub valid: &'static [&'static str],
}

macro_rules! kind {
    ($(#[$doc:meta])* $name:ident, $what:literal, { $($variant:ident = $text:literal),+ $(,)? } $(, aliases { $($alias:literal => $to:ident),+ })?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
        pub enum $name { $(#[serde(rename = $text)] $variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    $($($alias => Ok(Self::$to),)+)?
                    _ => Err(UnknownName { what: $what, given: text.to_owned(), valid: Self::NAMES }),
                }
            }
        }
    };
}

kind!(MemoryType, "memory type", { Episode = "episode", Fact = "fact", Rule = "rule" });

kind!(
    /// Fading is not here: it is `metadata.status = 'fading'` of an active fact. `forgotten` is an older name of retracted.
    Validity, "validity",
    { Active = "active", Superseded = "superseded", Expired = "expired", Retracted = "retracted" },
    aliases { "forgotten" => Retracted }
);

kind!(Permanence, "permanence", {
    Permanent = "permanent", Stable = "stable", Standard = "standard", Volatile = "volatile", Ephemeral = "ephemeral",
});

kind!(Maturity, "maturity", {
    Candidate = "candidate", Established = "established", Proven = "proven", AntiPattern = "anti_pattern",
});

kind!(Relation, "relation", {
    DerivedFrom = "derived_from", Supports = "supports", Contradicts = "contradicts", Supersedes = "supersedes",
    RelatedTo = "related_to",
});

kind!(ConsolidationStatus, "consolidation status", {
    Pending = "pending", Consolidated = "consolidated", Failed = "failed", DeadLetter = "dead_letter",
});

kind!(EntityType, "entity type", {
    Person = "person", Organization = "organization", Place = "place", Other = "other",
});

impl Maturity {
    /// What is proven to work comes first, then what is known to harm: the order of every list of rules.
    pub const BY_TRUST: [Self; 4] = [Self::Proven, Self::AntiPattern, Self::Established, Self::Candidate];

    /// The place in [`Self::BY_TRUST`].
    pub fn trust(self) -> usize {
        Self::BY_TRUST.iter().position(|maturity| *maturity == self).unwrap_or(Self::BY_TRUST.len())
    }
}

impl Permanence {
    /// How fast confidence is lost without confirmation, per day.
    pub const fn decay_rate(self) -> f64 {
        match self {
            Self::Permanent => 0.0,
            Self::Stable => 0.002,
            Self::Standard => 0.008,
            Self::Volatile => 0.03,
            Self::Ephemeral => 0.1,
        }
    }
}
