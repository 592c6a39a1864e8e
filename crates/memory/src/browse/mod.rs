//! Lists and details for people: the use cases behind the REST API and the dashboard. Browsing does not count as a
//! reference.

mod best;
mod entities;
mod episodes;
mod events;
mod facts;
mod figures;
mod injections;
mod jobs;
mod palette;
mod rules;

use butler_domain::{TenantId, Timestamp};

use crate::Memory;

pub use butler_store::browse::entities::{EntityFilter, EntityItem, EntitySort, Mention, RelatedEntity};
pub use butler_store::browse::episodes::{EpisodeFilter, EpisodeItem, EpisodeSort};
pub use butler_store::browse::events::{EventFilter, EventItem, LiveEvent};
pub use butler_store::browse::facts::{FactFilter, FactFilterState, FactItem, FactSort, Version};
pub use butler_store::browse::figures::{
    BacklogDay, CONFIDENCE_BINS, Confidence, EFFECTIVENESS_BINS, Effectiveness, Produced,
};
pub use butler_store::browse::graph::{Graph, GraphEdge, GraphEntity, GraphPredicate};
pub use butler_store::browse::links::{LinkItem, Side};
pub use butler_store::browse::merges::MergeItem;
pub use butler_store::browse::palette::{FoundKind, PaletteItem};
pub use butler_store::browse::rules::{Application, RuleFilter, RuleFilterState, RuleItem, RuleSort};
pub use butler_store::browse::{Listed, Page};
pub use butler_store::consolidation::dead_letters::DeadLetter;
pub use butler_store::injections::{InjectedMemory, Injection, InjectionFilter, ServedBy};
pub use butler_store::jobs::{RunRow, ScheduleRow};
pub use butler_store::stats::{EpisodeStats, FactStats, PermanenceStats, RuleStats, Stats};
pub use butler_store::times::Period;
pub use butler_store::tombstones::Tombstone;

pub use best::MOST_BEST;
pub use entities::EntityKnowledge;
pub use episodes::EpisodeRecord;
pub use facts::FactRecord;
pub use figures::Figures;
pub use jobs::JobRecord;
pub use palette::EXACT_NAME;
pub use rules::RuleRecord;

/// Reads the memories of one tenant as they are at `now`.
#[derive(Clone, Copy)]
pub struct Browse<'a> {
    memory: &'a Memory,
    tenant: &'a TenantId,
    now: Timestamp,
}

impl Memory {
    /// `now` decides which memories have decayed or expired. One request uses one time for all butlers.
    pub fn browse<'a>(&'a self, tenant: &'a TenantId, now: Timestamp) -> Browse<'a> {
        Browse { memory: self, tenant, now }
    }
}
