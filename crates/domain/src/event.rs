//! The event types of the audit log, one for each kind of change, and the origin that every event records. The SQL
//! functions that record events use the same names; a test of the store compares them.

use serde::{Deserialize, Serialize};

macro_rules! events {
    ($($variant:ident = $text:literal),+ $(,)?) => {
        /// What a row of `memory_events` records.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum EventType { $(#[serde(rename = $text)] $variant),+ }

        impl EventType {
            /// Every event type, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in the column `event_type` and in JSON.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

events! {
    EpisodeCreated = "episode_created",
    EpisodeForgotten = "episode_forgotten",
    EpisodeConsolidated = "episode_consolidated",
    EpisodeConsolidationFailed = "episode_consolidation_failed",
    EpisodeDeadLettered = "episode_dead_lettered",
    EpisodeRequeued = "episode_requeued",
    EpisodeExpired = "episode_expired",
    EpisodeEvicted = "episode_evicted",
    FactCreated = "fact_created",
    FactSuperseded = "fact_superseded",
    FactConfirmed = "fact_confirmed",
    FactForgotten = "fact_forgotten",
    FactRestored = "fact_restored",
    FactRedated = "fact_redated",
    FactRepointed = "fact_repointed",
    FactFading = "fact_fading",
    FactRecovered = "fact_recovered",
    FactExpired = "fact_expired",
    RuleCreated = "rule_created",
    RuleEdited = "rule_edited",
    RuleConfirmed = "rule_confirmed",
    RuleMarkedHelpful = "rule_marked_helpful",
    RuleMarkedHarmful = "rule_marked_harmful",
    RulePromoted = "rule_promoted",
    RuleDemoted = "rule_demoted",
    RuleInverted = "rule_inverted",
    RuleForgotten = "rule_forgotten",
    RuleRestored = "rule_restored",
    RuleFading = "rule_fading",
    RuleRecovered = "rule_recovered",
    ProposalMade = "proposal_made",
    ProposalApproved = "proposal_approved",
    ProposalRejected = "proposal_rejected",
    ProposalReopened = "proposal_reopened",
    EpisodeReleased = "episode_released",
    TombstoneLifted = "tombstone_lifted",
    ConfirmationUndone = "confirmation_undone",
    MarkUndone = "mark_undone",
    ConflictFound = "conflict_found",
    ConflictJudged = "conflict_judged",
    ConflictResolved = "conflict_resolved",
    ConflictReopened = "conflict_reopened",
    LinkCreated = "link_created",
    EntityCreated = "entity_created",
    EntityUpdated = "entity_updated",
    EntityMerge = "entity_merge",
    EntityUnmerged = "entity_unmerged",
    EntityForgotten = "entity_forgotten",
    EntityErased = "entity_erased",
    TenantErased = "tenant_erased",
    PredicateSet = "predicate_set",
    Reembedded = "reembedded",
    TokenCreated = "token_created",
    TokenRevoked = "token_revoked",
    TokenRotated = "token_rotated",
    LoginOpened = "login_opened",
    ConsentGranted = "consent_granted",
    ConsentRefused = "consent_refused",
    MemoryExported = "memory_exported",
    MemoryImported = "memory_imported",
    BackupRestored = "backup_restored",
}

/// Who makes a change, and in which request. Every event of a call records it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The butler, worker or person that makes the change.
    pub actor: Option<String>,
    /// The caller's id for the request, which links the events of one call.
    pub request_id: Option<String>,
}
