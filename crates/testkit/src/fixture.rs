use std::sync::{Arc, LazyLock};

use butler_domain::{Butler, MockClock, Timestamp};
use butler_memory::tool::{Answer, Tool, ToolCall, ToolError};
use butler_memory::{Call, Caller, Memory, MemoryConfig, MemoryParts};
use serde_json::{Map, Value};

use crate::{FakeEmbedder, TestDb};

/// A memory on a database of its own, whose time stands still until the test moves it.
pub struct MemoryFixture {
    pub memory: Arc<Memory>,
    pub clock: Arc<MockClock>,
    pub embedder: Arc<FakeEmbedder>,
    pub db: TestDb,
}

/// Made once: the schemas take longer than a call.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(butler_memory::tools);

/// Any moment will do; this one is easy to recognise in a failure.
pub const START: &str = "2030-01-15T12:00:00Z";

impl MemoryFixture {
    pub async fn new() -> Self {
        Self::with_config(MemoryConfig::default()).await
    }

    pub async fn with_config(config: MemoryConfig) -> Self {
        Self::on(TestDb::new().await, config)
    }

    /// Another memory on a database that is there already.
    pub fn on(db: TestDb, config: MemoryConfig) -> Self {
        let start: Timestamp = START.parse().expect("a time");
        let clock = Arc::new(MockClock::at(start));
        let embedder = Arc::new(FakeEmbedder::default());
        let memory = Memory::new(MemoryParts {
            butler: Butler::new("general").expect("a name"),
            db: db.database().clone(),
            embedder: embedder.clone(),
            clock: clock.clone(),
            config,
        });
        Self { memory: Arc::new(memory), clock, embedder, db }
    }

    /// A call by the test itself, for the default tenant, now.
    pub fn as_test(&self) -> Call {
        Call::internal(&self.memory, butler_domain::TenantId::default(), "test")
    }

    /// A tool call by a trusted caller, with its structured answer.
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
        found.run(&self.memory, ToolCall::parse(found.spec(), caller.clone(), arguments)).await
    }
}
