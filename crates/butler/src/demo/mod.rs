//! The demo butler: half a year of invented memories, so that every page of the dashboard has something to show.
//!
//! The demo calls the real use cases with a clock that advances through the past half year. Only the LLM is scripted.

mod life;
mod open_questions;
mod plan;
mod player;
mod rng;
mod scripted_llm;

use std::sync::Arc;

use butler_domain::MockClock;
use butler_host::butler::Butler;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_memory::{Call, Memory, MemoryParts};
use indicatif::ProgressBar;
use life::Life;
use player::Player;
use scripted_llm::ScriptedLlm;
use serde_json::Value;

/// Default number of memories.
pub const DEFAULT_SIZE: usize = 2000;
/// Allowed numbers of memories. A smaller demo cannot hold all stories; a larger one repeats its texts and takes
/// minutes.
pub const SIZES: std::ops::RangeInclusive<usize> = 500..=20_000;

/// The configuration file of the demo butler. Its episodes expire late, so that there are enough to explore.
pub fn configuration(created: &str, url: Option<&str>) -> String {
    let database = url.map_or_else(String::new, |url| {
        let url = toml::Value::String(url.to_owned());
        format!("\n[butler.database]\nurl = {url}\nschema = \"demo\"\n")
    });
    format!(
        "# Created by `butler demo` ({created}); `butler demo --remove` removes it together with its memories.\n\
         [butler]\nname = \"demo\"\ndescription = \"Half a year of invented memories of Maya Lindqvist\"\n{database}\n\
         [modules.memory.episodes]\ndefault_ttl_days = 172\n"
    )
}

/// Fills the empty database of a started butler. Returns its statistics.
pub async fn fill(host: &Host, butler: &Butler, size: usize, bar: &ProgressBar) -> Result<Value, HostError> {
    let database = butler.database().ok_or_else(|| HostError::Failed("the demo has no database".to_owned()))?.clone();
    let now = host.clock().now();
    let life = Life::load()?;
    let plan = plan::plan(&life, size, now);
    let (clock, scripted_llm) = (Arc::new(MockClock::at(now)), Arc::new(ScriptedLlm::default()));
    let memory = Memory::new(MemoryParts {
        butler: butler.name.clone(),
        db: database,
        embedder: Arc::clone(host.engine()) as _,
        clock: Arc::clone(&clock) as _,
        config: butler.config.file.modules.memory.clone(),
    });
    let memory = Arc::new(memory.with_simulated_time().with_runtime(Arc::clone(&scripted_llm) as _));
    let mut player = Player::new(&life, &plan, Arc::clone(&memory), Arc::clone(&clock), scripted_llm, now);
    let failed = |error: butler_memory::MemoryError| HostError::Failed(format!("cannot fill the demo: {error}"));
    player.create_entities().await.map_err(failed)?;
    bar.set_length(plan.days.len() as u64);
    for day in 0..plan.days.len() {
        player.day(day).await?;
        bar.inc(1);
    }
    clock.set(now);
    player.leave_open_questions().await.map_err(failed)?;
    player.scheduler.declare().await.map_err(failed)?;
    let call = Call::internal(&memory, butler_domain::TenantId::default(), "demo");
    let stats = memory.stats(&call, None).await.map_err(failed)?;
    serde_json::to_value(stats).map_err(|error| HostError::Failed(error.to_string()))
}
