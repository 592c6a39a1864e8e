//! The memory model without I/O: types, lifecycle rules and scoring.
//!
//! Everything in this crate is synchronous and pure. It contains no SQL, and only [`SystemClock`] reads the system
//! clock; every other function takes the time as a parameter.

pub mod clock;
pub mod conflicts;
pub mod consolidation;
pub mod context;
pub mod dates;
pub mod decay;
pub mod deep;
pub mod entity;
pub mod episode;
pub mod event;
pub mod fact;
pub mod fusion;
pub mod ids;
pub mod instructions;
pub mod kinds;
pub mod limits;
pub mod link;
pub mod maturity;
pub mod phrases;
pub mod predicate;
pub mod query_names;
pub mod relevance;
pub mod resolve;
pub mod rule;
pub mod scoring;
pub mod scripts;
pub mod secrets;
pub mod statements;
pub mod stored_fact;
pub mod tenant;
pub mod text;
pub mod times;
pub mod tokens;
pub mod validate;

pub use clock::{Clock, MockClock, SystemClock, Timestamp};
pub use entity::Entity;
pub use episode::Episode;
pub use fact::Fact;
pub use ids::{EntityId, EpisodeId, FactId, RuleId};
pub use kinds::{
    Cardinality, ConsolidationStatus, Direction, EntityType, Maturity, MemoryType, Mode, Permanence, Related, Relation,
    Resolution, Source, UnknownName, Validity, Verdict,
};
pub use predicate::Predicate;
pub use rule::Rule;
pub use stored_fact::StoredFact;
pub use tenant::{Butler, Scope, TenantId};
pub use validate::Invalid;
