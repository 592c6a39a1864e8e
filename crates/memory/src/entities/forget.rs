//! Forgets a person or thing: what is known about it, and the memories that name it.

use butler_domain::validate::Invalid;
use butler_domain::{EntityId, MemoryType};
use butler_store::entities::{self, EntityForgetting, ForgetEntity, Trace, TraceKind};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::merged;
use crate::backups::KeptBackup;
use crate::{Call, Memory, MemoryError};

/// How many memories of each type a preview lists. More would not fit into the answer to a model.
const LISTED: usize = 100;

/// What forgetting an entity did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EntityForgotten {
    pub entity_id: EntityId,
    pub canonical_name: String,
    pub erase: bool,
    /// Whether it is only a preview and nothing was changed.
    pub dry_run: bool,
    /// Facts about it, of every version.
    pub facts: u64,
    /// Relations to it.
    pub edges: u64,
    /// Other memories that name it and are forgotten, too.
    pub mentions: Mentions,
    /// Past events that lost their text.
    pub events_redacted: u64,
    /// Backups that still hold what was erased.
    pub backups: Vec<KeptBackup>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backups_hint: Option<String>,
}

/// The newest of each type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Mentions {
    pub facts: Vec<Mention>,
    pub rules: Vec<Mention>,
    pub episodes: Vec<Mention>,
    pub totals: MentionTotals,
}

/// How many there are of each type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MentionTotals {
    pub facts: u64,
    pub rules: u64,
    pub episodes: u64,
}

/// A memory that names the entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Mention {
    pub id: Uuid,
    pub text: String,
}

impl Memory {
    /// Forgets or erases an entity, with the chosen memories that name it. A dry run changes nothing.
    pub async fn forget_entity(&self, call: &Call, wanted: &ForgetEntity) -> Result<EntityForgotten, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let done = match entities::forget(call.write(&mut conn), wanted).await? {
            EntityForgetting::Done(done) => done,
            EntityForgetting::NotFound => return Err(MemoryError::NoEntity { id: wanted.id }),
            EntityForgetting::Merged { survivor } => return Err(merged("entity", wanted.id, survivor)),
            EntityForgetting::NotListed { memory_type, id } => return Err(not_listed(memory_type, id)),
        };
        let count = |kind: TraceKind| done.traces.iter().filter(|trace| trace.kind == kind).count() as u64;
        let backups = if wanted.erase { self.backups_since(done.since) } else { Default::default() };
        Ok(EntityForgotten {
            entity_id: wanted.id,
            facts: count(TraceKind::About),
            edges: count(TraceKind::Edge),
            mentions: Mentions::of(&done.traces),
            canonical_name: done.canonical_name,
            erase: wanted.erase,
            dry_run: wanted.dry_run,
            events_redacted: done.events_redacted,
            backups: backups.kept,
            backups_hint: backups.hint,
        })
    }
}

impl Mentions {
    fn of(traces: &[Trace]) -> Self {
        let of_type = |memory_type: MemoryType| {
            let all = traces.iter().filter(move |trace| trace.kind == TraceKind::Mention(memory_type));
            let listed = all.clone().take(LISTED).map(|trace| Mention { id: trace.id, text: trace.text.clone() });
            (listed.collect(), all.count() as u64)
        };
        let (facts, rules, episodes) =
            (of_type(MemoryType::Fact), of_type(MemoryType::Rule), of_type(MemoryType::Episode));
        let totals = MentionTotals { facts: facts.1, rules: rules.1, episodes: episodes.1 };
        Self { facts: facts.0, rules: rules.0, episodes: episodes.0, totals }
    }
}

fn not_listed(memory_type: MemoryType, id: Uuid) -> MemoryError {
    let invalid = Invalid::new(format!("{memory_type}_ids"), format!("{id} does not name the entity"));
    invalid.hint("take ids from mentions in the answer of a dry run").into()
}
