//! The only crate that contains SQL: migrations, sessions that remember their tenant, and one file per concept.
//!
//! Every statement goes through [`Session::run`]. Time and ids are parameters, never `now()`. Every statement filters
//! by tenant, and row-level security stops one that would not.

mod admin;
pub mod backup;
pub mod browse;
pub mod changes;
mod citus;
pub mod cleanup;
pub mod clock_mark;
pub mod confirm;
pub mod conflicts;
mod connection;
pub mod consolidation;
mod database;
mod embedded;
pub mod entities;
pub mod episodes;
pub mod erase;
mod error;
pub mod events;
mod extensions;
pub mod facts;
pub mod forget;
mod functions;
pub mod gauges;
pub mod get;
mod health;
mod hex;
pub mod idempotency;
pub mod injections;
pub mod jobs;
pub mod links;
mod migrate;
pub mod oauth;
pub mod predicates;
pub mod proposals;
pub mod reembed;
pub mod reference_counts;
pub mod references;
pub mod restore;
mod rows;
pub mod rules;
pub mod rules_edit;
pub mod rules_feedback;
pub mod search;
mod sql_files;
pub mod standing;
pub mod stats;
pub mod sweep;
pub mod times;
pub mod tokens;
pub mod tombstones;
pub mod transfer;
pub mod trust;
mod write_context;

pub use admin::{
    RestoreLock, database_exists, databases_like, drop_database, drop_schema, ensure_database, ensure_extensions,
    rename_database, replace_schema, schemas_like, server_major,
};
pub use connection::limit::{Connections, ServerConnections};
pub use connection::options::DatabaseOptions;
pub use connection::pending::PendingAtCall;
pub use connection::pool::Conn;
pub use connection::replica::ReplicaState;
pub use connection::session::{Session, Tx};
pub use database::{Database, PoolStats};
pub use embedded::{Embedded, Model};
pub use error::{Constraint, Obstacle, StoreError, is_out_of_descriptors};
pub use functions::FunctionSet;
pub use health::Health;
pub use migrate::{Migrated, fingerprint, latest_migration};
pub use write_context::{JobContext, OwnerContext, WriteContext};
