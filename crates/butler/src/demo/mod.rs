//! `butler demo`: a scratch butler with a believable life, so that every page has something to show.
//!
//! Made by the real use cases under a clock that walks through the past half year; only the LLM is played.

mod dice;
mod life;
mod live;
mod plan;
mod script;

use std::sync::Arc;

use butler_domain::MockClock;
use butler_host::butler::Butler;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_memory::{Call, Memory, MemoryParts};
use indicatif::ProgressBar;
use life::Life;
use live::Living;
use script::Script;
use serde_json::Value;

/// What a newcomer gets.
pub const DEFAULT_SIZE: usize = 2000;
/// Below this the stories have no room; above it the texts repeat themselves and it takes minutes.
pub const SIZES: std::ops::RangeInclusive<usize> = 500..=20_000;

/// The demo's own configuration: its episodes stay long enough to be looked at.
pub fn configuration(made: &str, url: Option<&str>) -> String {
    let database = url.map_or_else(String::new, |url| {
        let url = toml::Value::String(url.to_owned());
        format!("\n[butler.database]\nurl = {url}\nschema = \"demo\"\n")
    });
    format!(
        "# Made by `butler demo` ({made}); `butler demo --remove` removes it together with its memories.\n\
         [butler]\nname = \"demo\"\ndescription = \"Half a year of Maya Lindqvist, invented, to look around in\"\n{database}\n\
         [modules.memory.episodes]\ndefault_ttl_days = 172\n"
    )
}

/// Fills the empty home of a butler that has started. Returns its statistics.
pub async fn fill(host: &Host, butler: &Butler, size: usize, bar: &ProgressBar) -> Result<Value, HostError> {
    let database = butler.database().ok_or_else(|| HostError::Failed("the demo has no database".to_owned()))?.clone();
    let now = host.clock().now();
    let life = Life::load()?;
    let plan = plan::plan(&life, size, now);
    let (clock, script) = (Arc::new(MockClock::at(now)), Arc::new(Script::default()));
    let memory = Memory::new(MemoryParts {
        butler: butler.name.clone(),
        db: database,
        embedder: Arc::clone(host.engine()) as _,
        clock: Arc::clone(&clock) as _,
        config: butler.config.file.modules.memory.clone(),
    });
    let memory = Arc::new(memory.with_runtime(Arc::clone(&script) as _));
    let mut living = Living::new(&life, &plan, Arc::clone(&memory), Arc::clone(&clock), script, now);
    let failed =
        |error: butler_memory::MemoryError| HostError::Failed(format!("the demo could not be filled: {error}"));
    living.meet_everybody().await.map_err(failed)?;
    bar.set_length(plan.days.len() as u64);
    for day in 0..plan.days.len() {
        living.day(day).await?;
        bar.inc(1);
    }
    clock.set(now);
    living.scheduler.declare().await.map_err(failed)?;
    let call = Call::internal(&memory, butler_domain::TenantId::default(), "demo");
    let stats = memory.stats(&call, None).await.map_err(failed)?;
    serde_json::to_value(stats).map_err(|error| HostError::Failed(error.to_string()))
}
