//! The only crate that speaks SQL: migrations, sessions that remember their tenant, and one file per concept.
//!
//! Every statement goes through [`Session::run`]. Time and ids are parameters, never `now()`; every statement filters by
//! tenant, and row-level security catches the one that would not.

mod admin;
pub mod backup;
mod behind;
pub mod browse;
mod cap;
pub mod cleanup;
pub mod confirm;
pub mod consolidation;
mod database;
mod embedded;
pub mod entities;
pub mod episodes;
mod error;
pub mod events;
mod extensions;
pub mod facts;
pub mod forget;
pub mod gauges;
pub mod get;
mod health;
pub mod idempotency;
pub mod jobs;
pub mod links;
mod manager;
mod marks;
mod migrate;
mod options;
mod pool;
pub mod reembed;
mod replica;
pub mod restore;
mod rows;
pub mod rules;
pub mod rules_edit;
pub mod rules_feedback;
pub mod search;
mod session;
pub mod stats;
pub mod sweep;
mod target;
pub mod tokens;
pub mod transfer;

pub use admin::{
    drop_database, drop_schema, ensure_database, ensure_extensions, rename_database, replace_schema, server_major,
};
pub use behind::UnderWay;
pub use cap::{Connections, ServerConnections};
pub use database::{Database, PoolStats};
pub use embedded::{Embedded, Model};
pub use error::{Constraint, Obstacle, StoreError};
pub use health::Health;
pub use migrate::{Migrated, fingerprint, latest_migration};
pub use options::DatabaseOptions;
pub use pool::Conn;
pub use replica::ReplicaState;
pub use session::{Session, Tx};
