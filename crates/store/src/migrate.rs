//! Forward-only migrations inside the binary.

use std::collections::BTreeMap;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::extensions;
use crate::session::Session;

struct Migration {
    version: &'static str,
    sql: &'static str,
}

macro_rules! migrations {
    ($($version:literal),+ $(,)?) => {
        &[$(Migration { version: $version, sql: include_str!(concat!("../migrations/", $version, ".sql")) }),+]
    };
}

const MIGRATIONS: &[Migration] = migrations![
    "mem_001_baseline",
    "mem_002_entities",
    "mem_003_memory_events",
    "mem_004_provenance",
    "mem_005_host",
    "mem_006_access",
    "mem_010_retrieval",
    "mem_011_retrieve",
    "mem_012_vector_training",
    "mem_020_writes",
    "mem_030_workers",
    "mem_040_entities_names",
    "mem_080_retrieve_leaner",
