//! How far what comes in is trusted: where it comes from, what needs a person's approval, and what was forgotten.

use butler_domain::instructions::suspicious;
use butler_domain::{MemoryType, Source, statements};
use butler_store::trust::{ForgottenStatement, OnForgotten, Trust};
use serde_json::{Map, Value, json};

use crate::{Call, Memory, MemoryError};

impl Memory {
    /// How far to trust a fact or rule that a call stores.
    pub(crate) fn trust_in(&self, call: &Call, memory_type: MemoryType, overrides: bool) -> Trust {
        let lifts = overrides || call.source == Source::Person;
        let forgotten = if lifts { OnForgotten::Lift } else { OnForgotten::Heed };
        Trust { forgotten, ..self.trust_in_source(call.source, memory_type) }
    }

    /// What was forgotten stays forgotten.
    pub(crate) fn trust_in_source(&self, source: Source, memory_type: MemoryType) -> Trust {
        let config = &self.config().trust;
        let approval = if memory_type == MemoryType::Rule { &config.approve_rules } else { &config.approve_facts };
        Trust { source, approval: approval.clone(), forgotten: OnForgotten::Heed, near: statements::PARAPHRASE }
    }
}

/// Why consolidation must not read an episode before a person releases it.
pub(crate) fn held_for(source: Source, content: &str) -> Option<Value> {
    if source != Source::Untrusted {
        return None;
    }
    let reasons = suspicious(content);
    (!reasons.is_empty()).then(|| json!(reasons))
}

/// An episode is a record of a session at best. `metadata.source` can lower its trust further.
pub(crate) fn episode_source(call: &Call, metadata: &Map<String, Value>) -> Source {
    let claimed = match metadata.get("source") {
        Some(Value::String(source)) if source == Source::Untrusted.as_str() => Source::Untrusted,
        _ => Source::Session,
    };
    call.source.lowered_to(claimed)
}

pub(crate) fn was_forgotten(memory_type: MemoryType, statement: &ForgottenStatement) -> MemoryError {
    let when = statement.forgotten_at.map(|at| format!(" on {}", at.format("%Y-%m-%d"))).unwrap_or_default();
    let what = match &statement.content {
        Some(_) => format!("the same {memory_type} was forgotten{when} ({})", statement.id),
        None => format!("the same {memory_type} was erased{when}"),
    };
    MemoryError::InvalidState {
        message: format!("{what}, so it is not stored again"),
        hint: "ask the user; if it is true after all, store it with override_tombstone: true".to_owned(),
    }
}

pub(crate) fn was_rejected() -> MemoryError {
    MemoryError::InvalidState {
        message: "a person rejected this statement when it was proposed".to_owned(),
        hint: "do not store it again; a person can store it with `butler remember`".to_owned(),
    }
}
