//! Bulk loading of a whole memory: facts, one episode per ten facts, one rule per hundred, an event for each, and links.
//!
//! Vectors are mixtures of real embeddings with noise (see [`crate::facts`]). The rest is as the program stores it.

use std::ops::Range;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::{Executor, PgConnection};
use uuid::Uuid;

use crate::copy::{self, Rows};
use crate::facts::{BATCH, Dice, Facts, Stored, Vectors, Words, copy_facts, id_at, now, sentence, versions};
use crate::world::World;

/// Facts per episode.
pub const EPISODE: usize = 10;
/// Facts per rule.
pub const RULE: usize = 100;
/// The creation times are spread evenly over this many days.
const DAYS: i64 = 60;
/// In microseconds.
const DAY: i64 = 86_400_000_000;

/// The memories to add: from one number of facts to another.
pub struct Growth<'a> {
    pub prefix: &'a str,
    pub facts: Range<usize>,
    /// The number of tenants afterwards.
    pub tenants: usize,
    /// The tenant of the n-th memory of a kind.
    pub owner: &'a dyn Fn(usize) -> usize,
}

/// The times of the loading steps.
pub struct Loaded {
    pub rows: Duration,
    pub indexes: Duration,
    pub training: Duration,
}

/// Loads the missing memories, then builds the indexes and trains the vector indexes.
pub async fn grow(
    world: &World,
    pg: &mut PgConnection,
    vectors: &Vectors,
    growth: &Growth<'_>,
) -> anyhow::Result<Loaded> {
    let began = Instant::now();
    let versions = versions(pg, growth.prefix, 0..growth.tenants).await?;
    let now = now(pg).await?;
    let (first, last) = (growth.facts.start, growth.facts.end);
    copy::drop_indexes(pg).await?;
    let kind = |each: usize| (first.div_ceil(each)..last.div_ceil(each), age(now, first / each, last / each));
    let (numbers, stored_at) = kind(EPISODE);
    let episodes = episodes(pg, vectors, growth, numbers, &versions, &stored_at).await?;
    let (numbers, stored_at) = kind(RULE);
    rules(pg, vectors, growth, numbers, &versions, &stored_at).await?;
    facts(pg, vectors, growth, &versions, &age(now, first, last), &episodes).await?;
    let rows = began.elapsed();
    copy::restore_indexes(pg).await?;
    let indexes = began.elapsed() - rows;
    world.memory.retrain_indexes().await?;
    world.memory.forget_pools();
    pg.execute("CHECKPOINT").await?;
    Ok(Loaded { rows, indexes, training: began.elapsed() - rows - indexes })
}

fn age(now: i64, first: usize, last: usize) -> impl Fn(usize) -> i64 {
    move |number| now - DAYS * DAY * (last - number.min(last)) as i64 / (last - first).max(1) as i64
}

const EVENTS: &str = "COPY memory_events (id, event_type, actor, tenant_id, memory_type, memory_id, payload, created_at) FROM STDIN BINARY";

fn event(rows: &mut Rows, owner: &str, of: (&str, &str, Uuid), at: i64, after: &Value) {
    let (event_type, memory_type, id) = of;
    rows.row(8).uuid(id_at(at)).text(event_type).text("bench").text(owner).text(memory_type).uuid(id);
    rows.json(&json!({ "after": after })).time(at);
}

/// Loads facts with their events. Every tenth is linked to an episode of its tenant.
async fn facts(
    pg: &mut PgConnection,
    vectors: &Vectors,
    growth: &Growth<'_>,
    versions: &[Uuid],
    stored_at: &dyn Fn(usize) -> i64,
    episodes: &[(usize, Uuid)],
) -> anyhow::Result<()> {
    let facts = Facts { prefix: growth.prefix, words: Words::Ordinary, owner: growth.owner, versions, stored_at };
    let mut latest = vec![None; growth.tenants];
    let mut unused = episodes.iter();
    for start in growth.facts.clone().step_by(BATCH) {
        let (mut events, mut links) = (Rows::new(), Rows::new());
        let numbers = start..(start + BATCH).min(growth.facts.end);
        copy_facts(pg, vectors, &facts, numbers, |fact| {
            let Stored { number, tenant, id, .. } = fact;
            let owner = format!("{}-{tenant}", growth.prefix);
            let after = json!({"subject": fact.subject, "content": fact.content, "scope": "global", "importance": 5.0,
                "permanence": "standard", "entity_id": null, "source_butler": null, "source_episode_id": null, "tags": [],
                "validity": "active"});
            event(&mut events, &owner, ("fact_created", "fact", id), stored_at(number), &after);
            if number % EPISODE == 0
                && let Some((tenant, episode)) = unused.next()
            {
                latest[*tenant] = Some(*episode);
            }
            if number % EPISODE == 3
                && let Some(episode) = latest[tenant]
            {
                links.row(6).text("fact").uuid(id).text("episode").uuid(episode).text("derived_from").text(&owner);
            }
        })
        .await?;
        events.copy(pg, EVENTS).await?;
        let statement =
            "COPY memory_links (source_type, source_id, target_type, target_id, relation, tenant_id) FROM STDIN BINARY";
        links.copy(pg, statement).await?;
    }
    Ok(())
}

/// Loads episodes of the butler `general`. Nine in ten are consolidated.
async fn episodes(
    pg: &mut PgConnection,
    vectors: &Vectors,
    growth: &Growth<'_>,
    numbers: Range<usize>,
    versions: &[Uuid],
    stored_at: &dyn Fn(usize) -> i64,
) -> anyhow::Result<Vec<(usize, Uuid)>> {
    let mut dice = Dice::new(31 + numbers.end as u64);
    let mut stored = Vec::with_capacity(numbers.len());
    for start in numbers.clone().step_by(BATCH) {
        let (mut rows, mut events) = (Rows::new(), Rows::new());
        for number in start..(start + BATCH).min(numbers.end) {
            let (tenant, at) = ((growth.owner)(number), stored_at(number));
            let id = id_at(at);
            let owner = format!("{}-{tenant}", growth.prefix);
            event(&mut events, &owner, ("episode_created", "episode", id), at, &json!({"butler": "general"}));
            let consolidated = number % 10 != 0;
            rows.row(10)
                .uuid(id)
                .text(&owner)
                .text("general")
                .text(&format!("In the session {}", sentence(&mut dice, number)))
                .vector(&vectors.mix(&mut dice))
                .uuid(versions[tenant])
                .boolean(consolidated)
                .text(if consolidated { "consolidated" } else { "pending" })
                .time(at)
                .time(at + 2 * DAYS * DAY);
            stored.push((tenant, id));
        }
        let statement = "COPY episodes (id, tenant_id, butler, content, embedding, embedding_version_id, consolidated,
                         consolidation_status, created_at, expires_at) FROM STDIN BINARY";
        rows.copy(pg, statement).await?;
        events.copy(pg, EVENTS).await?;
    }
    Ok(stored)
}

async fn rules(
    pg: &mut PgConnection,
    vectors: &Vectors,
    growth: &Growth<'_>,
    numbers: Range<usize>,
    versions: &[Uuid],
    stored_at: &dyn Fn(usize) -> i64,
) -> anyhow::Result<()> {
    const MATURITY: [&str; 4] = ["candidate", "established", "candidate", "proven"];
    let mut dice = Dice::new(37 + numbers.end as u64);
    let (mut rows, mut events) = (Rows::new(), Rows::new());
    for number in numbers {
        let (tenant, at) = ((growth.owner)(number), stored_at(number));
        let id = id_at(at);
        let owner = format!("{}-{tenant}", growth.prefix);
        event(&mut events, &owner, ("rule_created", "rule", id), at, &json!({"scope": "global"}));
        rows.row(8)
            .uuid(id)
            .text(&owner)
            .text(&format!("Ask again when {}", sentence(&mut dice, number)))
            .vector(&vectors.mix(&mut dice))
            .uuid(versions[tenant])
            .text(MATURITY[number % MATURITY.len()])
            .time(at)
            .time(at);
    }
    let statement =
        "COPY rules (id, tenant_id, content, embedding, embedding_version_id, maturity, created_at, last_confirmed_at)
                     FROM STDIN BINARY";
    rows.copy(pg, statement).await?;
    events.copy(pg, EVENTS).await
}
