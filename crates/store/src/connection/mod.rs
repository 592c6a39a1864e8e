//! Connections to PostgreSQL: which server, how many, for which tenant, and which writes are still pending.

pub(crate) mod limit;
pub(crate) mod manager;
pub(crate) mod options;
pub(crate) mod pending;
pub(crate) mod pool;
pub(crate) mod replica;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod target;
pub(crate) mod unreplicated;
