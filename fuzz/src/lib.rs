//! A memory whose database is away: everything before the first statement runs, and then there is a clear error.

use std::future::Future;
use std::sync::{Arc, LazyLock};

use domain::{Butler, SystemClock};
use memory::{Memory, MemoryConfig, MemoryParts};
use store::{Database, DatabaseOptions};
use testkit::FakeEmbedder;
use tokio::runtime::{Builder, Runtime};

/// Nobody listens on this port, so that a connection is refused at once.
const NOWHERE: &str = "postgres://nobody:nothing@127.0.0.1:1/nowhere";

pub static MEMORY: LazyLock<Memory> = LazyLock::new(|| {
    let _entered = RUNTIME.enter();
    Memory::new(MemoryParts {
        butler: Butler::new("fuzz").expect("a name"),
        db: Database::open(DatabaseOptions::new(NOWHERE.to_owned())).expect("a URL"),
        embedder: Arc::new(FakeEmbedder::default()),
        clock: Arc::new(SystemClock),
        config: MemoryConfig::default(),
    })
});

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));

pub fn wait<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.block_on(future)
}
