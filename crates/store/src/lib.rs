//! The only crate that speaks SQL: migrations, sessions that remember their tenant, and one file per concept.
//!
//! Every statement goes through [`Session::run`]. Time and ids are parameters, never `now()`; every statement filters by
//! tenant, and row-level security catches the one that would not.

mod database;
mod error;
mod extensions;
mod health;
mod migrate;
mod options;
mod pool;
mod session;

pub use database::{Database, PoolStats};
pub use error::{Constraint, StoreError};
pub use health::Health;
pub use migrate::{Migrated, fingerprint, latest_migration};
pub use options::DatabaseOptions;
pub use pool::Conn;
pub use session::{Session, Tx};
