//! The specification's enumerations, each with the names that JSON and the database use.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A name that is not a value of its enumeration. The message lists the valid names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {given:?}; valid values: {}", .valid.join(", "))]
pub struct UnknownName {
    /// The enumeration, such as "memory type".
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
            /// Every value, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The names of [`Self::ALL`], in the same order.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// The name in JSON and in the database.
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
    /// The state of a fact. A fading fact is active and has `metadata.status = 'fading'`. `forgotten` is an older name
    /// for `retracted` and is still accepted.
    Validity, "validity",
    { Active = "active", Superseded = "superseded", Expired = "expired", Retracted = "retracted" },
    aliases { "forgotten" => Retracted }
);

kind!(
    /// How memories are matched and ranked: by meaning and words, fused by rank (hybrid) or by score (fused); for turns of
    /// a conversation, where neighbours and session count too (deep); by meaning alone (semantic); by words alone (keyword).
    Mode, "mode",
    { Hybrid = "hybrid", Fused = "fused", Deep = "deep", Semantic = "semantic", Keyword = "keyword" }
);

#[expect(clippy::derivable_impls, reason = "the macro derives the same traits for every enumeration")]
impl Default for Mode {
    fn default() -> Self {
        Self::Hybrid
    }
}

kind!(
    /// Whether a predicate holds one value of a subject, or several at a time.
    Cardinality, "cardinality", { One = "one", Many = "many" }
);

kind!(
    /// Which edges of an entity count: those that start at it, those that end at it, or both.
    Direction, "direction", { Out = "out", In = "in", Both = "both" }
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

kind!(
    /// Where a memory comes from, the most trusted first: a person's own hand, an agent's tool call, a recorded session, an
    /// import, and text that anybody may have written (a web page, the output of a tool).
    Source, "source",
    { Person = "person", Agent = "agent", Session = "session", Import = "import", Untrusted = "untrusted" }
);

impl Source {
    /// The less trusted of the two.
    #[must_use]
    pub fn lowered_to(self, other: Self) -> Self {
        self.max(other)
    }
}

kind!(
    /// How to resolve a conflict of the facts a and b: forget b, forget a, forget none, forget b and store what both said as
    /// a new version of a, or forget both.
    Resolution, "resolution",
    { KeepA = "keep_a", KeepB = "keep_b", KeepBoth = "keep_both", Merge = "merge", ForgetBoth = "forget_both" }
);

kind!(
    /// What a language model says two facts that were reported as a conflict are: they cannot both be true, say the same,
    /// are both true, or have nothing to do with each other.
    Verdict, "verdict",
    { Contradiction = "contradiction", Duplicate = "duplicate", BothTrue = "both_true", Unrelated = "unrelated" }
);

kind!(
    /// How a fact was found that may be in conflict with another one: it has the same key in another scope; the same predicate
    /// about the same entity, under another subject; it is about the same thing and worded alike; or about another thing and
    /// worded alike. The SQL function `conflict_candidates` has the same names.
    Related, "relation",
    { Key = "key", Subject = "subject", Near = "near", Other = "other" }
);

kind!(ConsolidationStatus, "consolidation status", {
    Pending = "pending", Consolidated = "consolidated", Failed = "failed", DeadLetter = "dead_letter",
});

kind!(EntityType, "entity type", {
    Person = "person", Organization = "organization", Place = "place", Other = "other",
});

impl Maturity {
    /// The order of every list of rules: proven rules first, then anti-patterns, which warn of known harm.
    pub const BY_TRUST: [Self; 4] = [Self::Proven, Self::AntiPattern, Self::Established, Self::Candidate];

    /// The index in [`Self::BY_TRUST`]; 0 is the most trusted.
    pub fn trust_rank(self) -> usize {
        Self::BY_TRUST.iter().position(|maturity| *maturity == self).unwrap_or(Self::BY_TRUST.len())
    }
}

impl Permanence {
    /// The rate of exponential decay per day without confirmation.
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
