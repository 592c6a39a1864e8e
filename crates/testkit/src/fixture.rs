use std::sync::{Arc, LazyLock};

use butler_domain::secrets::Redactor;
use butler_domain::{Butler, MockClock, Timestamp};
use butler_memory::tool::{Answer, Tool, ToolCall, ToolError};
use butler_memory::{Call, Caller, Memory, MemoryConfig, MemoryParts};
use serde_json::{Map, Value};

use crate::{FakeEmbedder, TestDb};

/// A memory with its own database and a clock that only the test advances.
pub struct MemoryFixture {
    pub memory: Arc<Memory>,
    pub clock: Arc<MockClock>,
    pub embedder: Arc<FakeEmbedder>,
    pub db: TestDb,
}

/// Created once, because the schemas take longer to build than a call.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(butler_memory::tools);

/// The initial time of the clock. It is arbitrary, but easy to recognise in a failure message.
pub const START: &str = "2030-01-15T12:00:00Z";

impl MemoryFixture {
    pub async fn new() -> Self {
        Self::with_config(MemoryConfig::default()).await
    }

    pub async fn with_config(config: MemoryConfig) -> Self {
        Self::on(TestDb::new().await, config)
    }

    pub async fn with_embedder(embedder: FakeEmbedder) -> Self {
        Self::of_parts(TestDb::new().await, MemoryConfig::default(), embedder)
    }

    /// Creates a memory on an existing database.
    pub fn on(db: TestDb, config: MemoryConfig) -> Self {
        Self::of_parts(db, config, FakeEmbedder::default())
    }

    fn of_parts(db: TestDb, config: MemoryConfig, embedder: FakeEmbedder) -> Self {
        let start: Timestamp = START.parse().expect("a time");
        let clock = Arc::new(MockClock::at(start));
        let embedder = Arc::new(embedder);
        let memory = Memory::new(MemoryParts {
            butler: Butler::new("general").expect("a name"),
            db: db.database().clone(),
            embedder: embedder.clone(),
            clock: clock.clone(),
            config,
        });
        Self { memory: Arc::new(memory), clock, embedder, db }
    }

    /// An internal call for the default tenant at the clock's time.
    pub fn as_test(&self) -> Call {
        Call::internal(&self.memory, butler_domain::TenantId::default(), "test")
    }

    /// Calls a tool as a trusted caller and returns its structured answer.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value, ToolError> {
        let answer = self.call_as(&Caller::trusted(), tool, arguments).await?;
        Ok(Value::Object(answer.structured))
    }

    pub async fn call_as(&self, caller: &Caller, tool: &str, arguments: Value) -> Result<Answer, ToolError> {
        let found = TOOLS.iter().find(|candidate| candidate.spec().name == tool);
        let found = found.unwrap_or_else(|| panic!("there is no tool {tool}"));
        let arguments = match arguments {
            Value::Object(map) => map,
            Value::Null => Map::new(),
            other => panic!("arguments are an object, not {other}"),
        };
        let call = ToolCall::parse(found.spec(), caller.clone(), arguments, &Redactor::standard());
        found.run(&self.memory, call).await
    }
}
