//! Asks the memory a question and returns the positions of the memories it answers with.

use butler_domain::context::ContextBlock;
use butler_domain::{Butler, MemoryType};
use butler_memory::search::{Mode, SearchInput, SearchOutput};
use butler_memory::{Call, ContextRequest, HOPS, Memory, RecallInput};

use super::fill::{BUTLER, Stored};

/// The default `limit` of the tools.
pub const LIMIT: usize = 10;

fn call(memory: &Memory, stored: &Stored) -> Call {
    Call::internal(memory, stored.tenant.clone(), "bench")
}

fn positions(stored: &Stored, found: SearchOutput) -> Vec<usize> {
    found.results.into_iter().filter_map(|hit| stored.position(hit.id)).collect()
}

pub async fn search(
    memory: &Memory,
    stored: &Stored,
    of: MemoryType,
    mode: Mode,
    query: &str,
    limit: usize,
) -> anyhow::Result<Vec<usize>> {
    let input = SearchInput {
        query: butler_domain::validate::query(query).0,
        types: vec![of],
        scope: None,
        mode,
        limit,
        min_confidence: 0.0,
        min_relevance: None,
        hops: 0,
        explain: false,
        time_filter: Default::default(),
        holding: false,
    };
    Ok(positions(stored, memory.search(&call(memory, stored), &input).await?))
}

fn recall_input(topic: &str, limit: usize, hops: usize) -> RecallInput {
    RecallInput {
        topic: butler_domain::validate::query(topic).0,
        scope: None,
        mode: Mode::Hybrid,
        limit,
        min_confidence: 0.0,
        min_relevance: None,
        hops,
        explain: false,
        time_filter: Default::default(),
    }
}

/// Recalls without counting references, so that the order of the questions does not matter.
pub async fn recall(memory: &Memory, stored: &Stored, topic: &str, limit: usize) -> anyhow::Result<Vec<usize>> {
    recall_hops(memory, stored, topic, limit, HOPS).await
}

/// The same on the base `mode`, which finds and ranks the candidates.
pub async fn recall_on(
    memory: &Memory,
    stored: &Stored,
    mode: Mode,
    topic: &str,
    limit: usize,
) -> anyhow::Result<Vec<usize>> {
    let input = RecallInput { mode, ..recall_input(topic, limit, HOPS) };
    Ok(positions(stored, memory.recall_uncounted(&call(memory, stored), &input).await?))
}

/// Recalls following this many relations.
pub async fn recall_hops(
    memory: &Memory,
    stored: &Stored,
    topic: &str,
    limit: usize,
    hops: usize,
) -> anyhow::Result<Vec<usize>> {
    let found = memory.recall_uncounted(&call(memory, stored), &recall_input(topic, limit, hops)).await?;
    Ok(positions(stored, found))
}

/// Recalls as an agent does: the results count as used.
pub async fn use_recall(memory: &Memory, stored: &Stored, topic: &str, limit: usize) -> anyhow::Result<()> {
    memory.recall(&call(memory, stored), &recall_input(topic, limit, HOPS)).await?;
    Ok(())
}

/// The context block for a prompt. `mode` finds and ranks its facts and rules, and does not affect its episodes.
pub async fn context(
    memory: &Memory,
    stored: &Stored,
    mode: Mode,
    prompt: &str,
    tokens: usize,
) -> anyhow::Result<ContextBlock> {
    let request = ContextRequest {
        trigger_prompt: butler_domain::validate::query(prompt).0,
        butler: Butler::new(BUTLER)?,
        token_budget: tokens,
        mode,
        min_relevance: None,
        hops: HOPS,
        time_filter: Default::default(),
        changes_since: None,
    };
    Ok(memory.context_uncounted(&call(memory, stored), &request).await?)
}
