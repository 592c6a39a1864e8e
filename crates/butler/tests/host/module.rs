//! Modules: their order, and the life of the memory module.

use std::sync::Arc;

use butler_domain::secrets::Redactor;
use butler_domain::{Butler, SystemClock};
use butler_embed::{Embedder, Engine, EngineOptions};
use butler_host::module::{Module, ModuleError, Parts, Registry, in_order};
use butler_host::modules::memory::MemoryModule;
use butler_memory::tool::ToolCall;
use butler_memory::{Caller, MemoryConfig};
use butler_store::{Database, Migrated, StoreError};
use butler_testkit::{FakeEmbedder, TestDb};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, json};

struct Named(&'static str, &'static [&'static str]);

impl Module for Named {
    fn name(&self) -> &'static str {
        self.0
    }

    fn dependencies(&self) -> &'static [&'static str] {
        self.1
    }

    fn migrations<'a>(&'a self, database: &'a Database) -> BoxFuture<'a, Result<Migrated, StoreError>> {
        database.migrate().boxed()
    }

    fn on_startup(&mut self, _: Parts) -> BoxFuture<'_, Result<(), ModuleError>> {
        async { Ok(()) }.boxed()
    }

    fn register_tools(&self, _: &mut Registry) {}

    fn on_shutdown(&mut self) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}

fn order(modules: &[(&'static str, &'static [&'static str])]) -> Result<Vec<&'static str>, ModuleError> {
    let modules = modules.iter().map(|(name, needs)| Box::new(Named(name, needs)) as Box<dyn Module>).collect();
    Ok(in_order(modules)?.iter().map(|module| module.name()).collect())
}

#[test]
fn a_module_starts_after_those_it_depends_on() {
    let started = order(&[("dreams", &["memory", "calendar"]), ("memory", &[]), ("calendar", &["memory"])]).unwrap();
    assert_eq!(started, ["memory", "calendar", "dreams"]);
}

#[test]
fn missing_and_circular_dependencies_are_errors() {
    let missing = order(&[("dreams", &["memory"])]).unwrap_err();
    assert!(missing.to_string().contains("\"dreams\" needs module \"memory\""), "{missing}");
    assert!(missing.hint().unwrap().contains("[modules.memory]"));
    let circle = order(&[("a", &["b"]), ("b", &["a"]), ("c", &[])]).unwrap_err();
    assert!(circle.to_string().contains("circle: a, b"), "{circle}");
}

fn parts(db: &TestDb, embedder: Arc<dyn Embedder>) -> Parts {
    Parts {
        butler: Butler::new("general").unwrap(),
        database: db.database().clone(),
        embedder,
        clock: Arc::new(SystemClock),
        owner: None,
        runtime: None,
        backups: None,
    }
}

#[test]
fn the_memory_module_is_called_memory_and_depends_on_nothing() {
    let module = MemoryModule::new(MemoryConfig::default());
    assert_eq!(module.name(), "memory");
    assert!(module.dependencies().is_empty());
}

#[tokio::test]
async fn module_startup_keeps_the_database_and_the_configuration() {
    let db = TestDb::new().await;
    let mut config = MemoryConfig::default();
    config.retrieval.context_token_budget = 777;
    let mut module = MemoryModule::new(config);
    assert!(module.database().is_none());
    module.on_startup(parts(&db, Arc::new(FakeEmbedder::default()))).await.unwrap();
    assert!(module.database().is_some());
    assert_eq!(module.memory().unwrap().config().retrieval.context_token_budget, 777);
}

#[tokio::test]
async fn module_shutdown_clears_the_database_and_the_embedding_engine() {
    let db = TestDb::new().await;
    let mut module = MemoryModule::new(MemoryConfig::default());
    let mut registry = Registry::default();
    module.register_tools(&mut registry);
    let embedder: Arc<dyn Embedder> = Arc::new(FakeEmbedder::default());
    module.on_startup(parts(&db, Arc::clone(&embedder))).await.unwrap();
    let stats = registry.get("memory_stats").expect("the tool");
    let call = || ToolCall::parse(stats.spec(), Caller::trusted(), Map::new(), &Redactor::standard());
    stats.run(call()).await.expect("it answers while the module runs");

    module.on_shutdown().await;
    assert!(module.database().is_none() && module.embedder().is_none() && module.memory().is_none());
    assert_eq!(Arc::strong_count(&embedder), 1, "nobody keeps the engine");
    let error = stats.run(call()).await.err().expect("no memory, no answer");
    assert_eq!(error.code.as_str(), "unavailable");
}

#[tokio::test]
async fn lazy_embedding_engine_initialization_shared_by_all_butlers() {
    let db = TestDb::new().await;
    let engine = Engine::new(EngineOptions::default());
    let mut registries = Vec::new();
    let mut modules = Vec::new();
    for _ in 0..2 {
        let mut module = MemoryModule::new(MemoryConfig::default());
        let mut registry = Registry::default();
        module.register_tools(&mut registry);
        module.on_startup(parts(&db, Arc::clone(&engine) as _)).await.unwrap();
        registries.push(registry);
        modules.push(module);
    }
    let call = async |registry: &Registry, tool: &str, arguments: serde_json::Value| {
        let arguments = arguments.as_object().unwrap().clone();
        let tool = registry.get(tool).unwrap();
        let call = ToolCall::parse(tool.spec(), Caller::trusted(), arguments, &Redactor::standard());
        tool.run(call).await.map(|answer| answer.structured)
    };
    call(&registries[0], "memory_stats", json!({})).await.unwrap();
    assert!(!engine.stats().loaded, "what needs no vectors loads no model");
    for registry in &registries {
        let episode = json!({"content": "the same words", "butler": "general"});
        call(registry, "memory_store_episode", episode).await.unwrap();
    }
    assert!(engine.stats().loaded);
    assert_eq!(engine.stats().cache_hits, 1, "the second butler found what the first had embedded");
}
