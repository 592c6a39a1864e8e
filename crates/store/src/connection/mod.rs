//! Connections to PostgreSQL: which server, how many, for which tenant, and what they still have to finish.

pub(crate) mod database;
pub(crate) mod health;
pub(crate) mod limit;
pub(crate) mod manager;
pub(crate) mod options;
pub(crate) mod pending;
pub(crate) mod pool;
pub(crate) mod replica;
pub(crate) mod session;
pub(crate) mod target;
pub(crate) mod unreplicated;
