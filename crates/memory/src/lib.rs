//! The memory module: use cases and MCP tools.
//!
//! A tool (`tools/`) parses its arguments, calls one use case and returns the answer. A use case computes embeddings,
//! takes a database session of the tenant and runs the statements of `butler_store`.

pub mod backups;
pub mod browse;
mod call;
mod caller;
pub mod changes;
pub mod cleanup;
pub mod config;
mod confirm;
pub mod conflicts;
pub mod consolidate;
mod context;
mod dry_run;
mod edit;
pub mod entities;
mod erase;
mod error;
mod feedback;
mod fields;
mod forget;
mod get;
mod idempotency;
mod index_training;
mod invert;
mod isolation;
pub mod jobs;
mod links;
mod memory;
mod predicates;
mod recall;
mod reembed;
mod remember;
mod restore;
pub mod runtime;
pub mod schedule;
pub mod search;
mod stats;
mod sweep;
pub mod times;
pub mod tool;
mod tools;
pub mod transfer;
mod trusted_time;
mod unknown_words;
pub mod views;

pub use butler_store::StoreError;
pub use call::Call;
pub use caller::{Caller, CallerTenant};
pub use config::MemoryConfig;
pub use confirm::Confirmed;
pub use context::ContextRequest;
pub use edit::{FactChanges, RuleChanges};
pub use erase::{TenantCounts, TenantErased};
pub use error::{CLOCK_HINT, MemoryError};
pub use feedback::MarkNote;
pub use forget::Forgotten;
pub use invert::InversionReport;
pub use memory::{Memory, MemoryParts};
pub use recall::{HOPS, RecallInput};
pub use reembed::{ReembedProgress, ReembedReport};
pub use remember::{EpisodeInput, FactInput, RuleInput, StoredEpisode, StoredRule, stored};
pub use restore::Restored;
pub use sweep::SweepReport;
pub use tools::tools;
