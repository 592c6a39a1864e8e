//! Shared by the targets: a memory whose database is closed, so that calls run up to their first statement.

use std::sync::{Arc, LazyLock};

use butler_domain::{Butler, MockClock};
use butler_memory::{Memory, MemoryConfig, MemoryParts};
use butler_store::{Database, DatabaseOptions};
use butler_testkit::FakeEmbedder;
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

static MEMORY: LazyLock<Memory> = LazyLock::new(|| {
    let db = Database::open(DatabaseOptions::new("postgres://nobody@127.0.0.1:1/none")).expect("a database");
    RUNTIME.block_on(db.close());
    Memory::new(MemoryParts {
        butler: Butler::new("fuzz").expect("a name"),
        db,
        embedder: Arc::new(FakeEmbedder::default()),
        clock: Arc::new(MockClock::at(butler_testkit::START.parse().expect("a time"))),
        config: MemoryConfig::default(),
    })
});

/// A memory that answers every statement with `unavailable` at once.
pub fn memory() -> &'static Memory {
    &MEMORY
}

pub fn wait<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.block_on(future)
}
