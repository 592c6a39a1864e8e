//! A memory with a scripted model, and helpers to inspect its effects.

use std::sync::{Arc, Mutex};

use butler_domain::{Butler, EpisodeId, TenantId};
use butler_memory::consolidate::{ConsolidationReport, ConsolidationRequest};
use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session};
use butler_memory::{Call, EpisodeInput, Memory, MemoryConfig, MemoryParts};
use butler_testkit::MemoryFixture;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

type Script = dyn Fn(&Session) -> Result<String, RuntimeError> + Send + Sync;

/// A model that follows a script and records its prompts.
pub struct Model {
    script: Box<Script>,
    sessions: Mutex<Vec<Session>>,
}

impl Model {
    pub fn new(script: impl Fn(&Session) -> Result<String, RuntimeError> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { script: Box::new(script), sessions: Mutex::default() })
    }

    pub fn says(answer: impl Into<String>) -> Arc<Self> {
        let answer = answer.into();
        Self::new(move |_| Ok(answer.clone()))
    }

    /// Answers with one fact per episode, whose subject and content are the episode's content.
    pub fn of_facts() -> Arc<Self> {
        Self::new(|session| Ok(one_fact_each(&session.prompt)))
    }

    pub fn sessions(&self) -> Vec<Session> {
        self.sessions.lock().unwrap().clone()
    }
}

impl Runtime for Model {
    fn describe(&self) -> String {
        "a scripted model".to_owned()
    }

    fn complete(&self, session: Session) -> BoxFuture<'_, Result<Completion, RuntimeError>> {
        let answer = (self.script)(&session);
        self.sessions.lock().unwrap().push(session);
        async move { answer.map(|text| Completion { text, tokens_in: Some(100), tokens_out: Some(10) }) }.boxed()
    }
}

pub fn one_fact_each(prompt: &str) -> String {
    let facts: Vec<Value> = episodes_in(prompt)
        .into_iter()
        .map(|(id, content)| {
            json!({"subject": content, "predicate": "happened", "content": format!("{content} happened"), "episode_ids": [id]})
        })
        .collect();
    json!({"new_facts": facts, "updated_facts": [], "new_rules": [], "confirmations": []}).to_string()
}

/// The id and content of each episode in a prompt.
pub fn episodes_in(prompt: &str) -> Vec<(String, String)> {
    prompt
        .split("<episode id=\"")
        .skip(1)
        .map(|block| {
            let id = block.split('"').next().unwrap().to_owned();
            let content = block.split("<episode_content>\n").nth(1).unwrap();
            (id, content.split("\n</episode_content>").next().unwrap().to_owned())
        })
        .collect()
}

pub struct World {
    pub fixture: MemoryFixture,
    pub memory: Arc<Memory>,
}

impl World {
    pub async fn new(model: Arc<Model>) -> Self {
        Self::with_config(model, MemoryConfig::default()).await
    }

    pub async fn with_config(model: Arc<Model>, config: MemoryConfig) -> Self {
        let fixture = MemoryFixture::with_config(config).await;
        let memory = with_model(&fixture, Some(model));
        Self { fixture, memory }
    }

    pub async fn without_runtime() -> Self {
        let fixture = MemoryFixture::new().await;
        let memory = with_model(&fixture, None);
        Self { fixture, memory }
    }

    /// Creates another worker on the same database.
    pub fn replica(&self, model: Arc<Model>) -> Arc<Memory> {
        with_model(&self.fixture, Some(model))
    }

    pub async fn episode(&self, content: &str) -> EpisodeId {
        self.episode_of("default", "general", content).await
    }

    pub async fn episode_of(&self, tenant: &str, butler: &str, content: &str) -> EpisodeId {
        // Each has a later time, so that their order is defined.
        self.fixture.clock.advance(std::time::Duration::from_millis(1));
        let call = Call::internal(&self.memory, TenantId::new(tenant).unwrap(), "test");
        let input = EpisodeInput {
            butler: Butler::new(butler).unwrap(),
            session_id: None,
            content: content.to_owned(),
            importance: 5.0,
            metadata: serde_json::Map::new(),
            occurred_at: None,
        };
        store_episode(&self.memory, &call, input).await
    }

    pub async fn run(&self) -> ConsolidationReport {
        self.memory.run_consolidation(&ConsolidationRequest::default()).await.unwrap()
    }

    /// Runs a statement as the owner and returns one text or number per row.
    pub async fn rows(&self, statement: &'static str) -> Vec<String> {
        let statement = format!("SELECT coalesce(r::text, 'NULL') FROM ({statement}) AS t (r)");
        sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .fetch_all(&mut self.fixture.db.connect().await)
            .await
            .unwrap()
    }

    pub async fn one(&self, statement: &'static str) -> String {
        self.rows(statement).await.join(",")
    }
}

async fn store_episode(memory: &Memory, call: &Call, input: EpisodeInput) -> EpisodeId {
    memory.store_episode(call, input).await.unwrap().id
}

fn with_model(fixture: &MemoryFixture, model: Option<Arc<Model>>) -> Arc<Memory> {
    let memory = Memory::new(MemoryParts {
        butler: fixture.memory.butler().clone(),
        db: fixture.db.database().clone(),
        embedder: fixture.embedder.clone(),
        clock: fixture.clock.clone(),
        config: fixture.memory.config().clone(),
    });
    Arc::new(match model {
        Some(model) => memory.with_runtime(model),
        None => memory,
    })
}
