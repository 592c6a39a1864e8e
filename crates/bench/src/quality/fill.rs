//! Stores the memories of a set in a tenant of its own, in batches, and finds them again in a later run.
//!
//! A tenant's name and the ids of its memories follow from the data. A second run on the same database therefore finds
//! everything stored and embeds only the questions.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

use anyhow::ensure;
use butler_domain::event::Origin;
use butler_domain::text::fact_text;
use butler_domain::{TenantId, Timestamp};
use butler_memory::Memory;
use butler_memory::transfer::{FORMAT, ImportOptions, Line, TransferError, VERSION};
use serde_json::{Value, json};
use sqlx::{Executor, PgConnection};
use uuid::Uuid;

use crate::datasets::Conversation;

/// The butler that all episodes belong to.
pub const BUTLER: &str = "quality";
/// Increases when memories are stored differently, so that older tenants are not used again.
const LAYOUT: u32 = 1;
/// Ten years in microseconds: no episode expires between two runs.
const LIFETIME: i64 = 3650 * 86_400_000_000;

/// The memories of one tenant, in the order in which they are stored.
#[derive(Default)]
pub struct Memories {
    pub entities: Vec<Named>,
    pub items: Vec<Item>,
    /// From when until when an item holds, by its position; of a turn, when it was said.
    pub times: HashMap<usize, Range<Timestamp>>,
    /// Whether the facts have the scope `global`. Otherwise no context block contains them.
    pub in_global_scope: bool,
}

pub struct Named {
    pub name: String,
    pub entity_type: &'static str,
    pub aliases: Vec<String>,
}

pub enum Item {
    Turn {
        session: usize,
        speaker: String,
        content: String,
    },
    Fact {
        subject: String,
        predicate: String,
        content: String,
        /// A position in [`Memories::entities`].
        entity: Option<usize>,
        /// The other end of a relation, a position in [`Memories::entities`], too.
        object: Option<usize>,
    },
}

impl Item {
    pub fn fact(subject: &str, predicate: &str, content: &str) -> Self {
        let [subject, predicate, content] = [subject, predicate, content].map(str::to_owned);
        Self::Fact { subject, predicate, content, entity: None, object: None }
    }

    /// The text that is embedded and indexed.
    pub fn text(&self) -> String {
        match self {
            Self::Turn { content, .. } => content.clone(),
            Self::Fact { subject, predicate, content, .. } => fact_text(subject, predicate, content),
        }
    }
}

impl Memories {
    /// The turns of a conversation, one episode each.
    pub fn of_turns(of: &Conversation) -> Self {
        let turn = |turn: &crate::datasets::Turn| Item::Turn {
            session: turn.session,
            speaker: turn.speaker.clone(),
            content: turn.content(),
        };
        Self { items: of.turns.iter().map(turn).collect(), ..Self::default() }
    }

    /// The same, with the time at which each turn was said.
    pub fn of_dated_turns(of: &Conversation) -> Self {
        let said = |(number, turn): (usize, &crate::datasets::Turn)| turn.said_at().map(|at| (number, at..at));
        Self { times: of.turns.iter().enumerate().filter_map(said).collect(), ..Self::of_turns(of) }
    }

    /// The lines of an export file with these memories, except its header.
    fn lines(&self, tenant: &str, now: Timestamp) -> Vec<Value> {
        let id = |kind: &str, number: usize| id(tenant, kind, number);
        let entity = |(number, named): (usize, &Named)| {
            json!({"type": "entity", "id": id("entity", number), "canonical_name": named.name, "created_at": now,
                "entity_type": named.entity_type, "aliases": named.aliases})
        };
        let mut lines: Vec<Value> = self.entities.iter().enumerate().map(entity).collect();
        let last = self.items.len() as i64;
        for (number, item) in self.items.iter().enumerate() {
            // one after the other, a millisecond apart
            let at = Timestamp::from_timestamp_micros(now.timestamp_micros() - (last - number as i64) * 1000);
            let expires_at = Timestamp::from_timestamp_micros(now.timestamp_micros() + LIFETIME);
            let mut line = match item {
                Item::Turn { session, speaker, content } => json!({"type": "episode", "id": id("item", number),
                    "butler": BUTLER, "session_id": id("session", *session), "content": content, "created_at": at,
                    "expires_at": expires_at, "consolidation_status": "consolidated",
                    "metadata": {"speaker": speaker}}),
                // Each fact has a scope of its own, or a slot within the global scope. Otherwise facts with the same
                // subject and predicate, as which statements about one person are stored, would supersede each other.
                Item::Fact { subject, predicate, content, entity, object } => {
                    let mut line = json!({"type": "fact", "id": id("item", number), "subject": subject,
                        "predicate": predicate, "content": content, "scope": format!("scope-{number}"),
                        "entity_id": entity.map(|entity| id("entity", entity)), "created_at": at, "last_confirmed_at": at});
                    if let Some(object) = object {
                        line["object_entity_id"] = json!(id("entity", *object));
                    }
                    if self.in_global_scope {
                        (line["scope"], line["slot"]) = (json!("global"), json!(number.to_string()));
                    }
                    line
                }
            };
            match (self.times.get(&number), item) {
                (Some(held), Item::Fact { .. }) => {
                    for (key, time) in [("valid_from", held.start), ("valid_to", held.end)] {
                        line[key] = json!(time);
                        line[key.replace("valid", "holds")] = json!(time);
                    }
                }
                (Some(said), Item::Turn { .. }) => line["occurred_at"] = json!(said.start),
                (None, _) => {}
            }
            lines.push(line);
        }
        lines
    }
}

fn id(tenant: &str, kind: &str, number: usize) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{tenant}/{kind}/{number}").as_bytes())
}

/// A tenant with stored memories.
pub struct Stored {
    pub tenant: TenantId,
    /// The text of each memory.
    pub texts: Vec<String>,
    positions: HashMap<Uuid, usize>,
}

impl Stored {
    /// The position of a memory in [`Memories::items`].
    pub fn position(&self, id: Uuid) -> Option<usize> {
        self.positions.get(&id).copied()
    }
}

/// Stores the memories unless an earlier run has stored them. `generation` distinguishes otherwise equal tenants.
pub async fn fill(
    memory: &Memory,
    pg: &mut PgConnection,
    set: &str,
    generation: &str,
    memories: &Memories,
) -> anyhow::Result<Stored> {
    let tenant = TenantId::new(format!("{set}-{}", fingerprint(memories, generation)))?;
    let expected = memories.items.len();
    if count(pg, &tenant).await? != expected {
        import(memory, &tenant, memories).await?;
        pg.execute("ANALYZE entities, episodes, facts").await?;
        memory.forget_pools();
    }
    let positions = (0..expected).map(|number| (id(tenant.as_str(), "item", number), number)).collect();
    Ok(Stored { texts: memories.items.iter().map(Item::text).collect(), positions, tenant })
}

fn fingerprint(memories: &Memories, generation: &str) -> String {
    let start = Timestamp::default();
    let text = format!("{LAYOUT} {generation} {}", json!(memories.lines("", start)));
    let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).simple().to_string();
    digest[..12].to_owned()
}

async fn count(pg: &mut PgConnection, tenant: &TenantId) -> anyhow::Result<usize> {
    let counted: i64 = sqlx::query_scalar(
        "SELECT (SELECT count(*) FROM episodes WHERE tenant_id = $1) + (SELECT count(*) FROM facts WHERE tenant_id = $1)",
    )
    .bind(tenant.as_str())
    .fetch_one(pg)
    .await?;
    Ok(usize::try_from(counted)?)
}

/// Imports the memories as an export file, because an import embeds and inserts in batches.
async fn import(memory: &Memory, tenant: &TenantId, memories: &Memories) -> anyhow::Result<()> {
    let now = memory.now();
    let rows = memories.lines(tenant.as_str(), now);
    let total = rows.len();
    let header = json!({"format": FORMAT, "version": VERSION, "created_at": now, "program": "bench", "butler": BUTLER,
        "tenant": tenant.as_str(), "embedding": null, "counts": BTreeMap::<String, u64>::new()});
    let mut texts: VecDeque<String> = std::iter::once(header).chain(rows).map(|line| line.to_string()).collect();
    let mut number = 0;
    let mut lines = move || -> Result<Option<Line>, TransferError> {
        number += 1;
        Ok(texts.pop_front().map(|text| Line { number, text }))
    };
    let progress = |read: u64| {
        if read.is_multiple_of(1000) {
            eprintln!("  stored {read} of {total} in {tenant}");
        }
    };
    let options = ImportOptions { tenant: tenant.clone(), dry_run: false, partial: false, origin: Origin::default() };
    let report = memory.import(&mut lines, &options, &progress).await?;
    ensure!(report.committed, "cannot store {tenant}: {:?}", report.problems);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Item, Memories, Timestamp, fingerprint};

    #[test]
    fn the_name_of_a_tenant_follows_from_its_memories_and_the_generation() {
        let of = |content: &str| Memories { items: vec![Item::fact("Ada", "plays", content)], ..Memories::default() };
        assert_eq!(fingerprint(&of("cello"), ""), fingerprint(&of("cello"), ""));
        assert_ne!(fingerprint(&of("cello"), ""), fingerprint(&of("harp"), ""));
        assert_ne!(fingerprint(&of("cello"), ""), fingerprint(&of("cello"), "2"));
    }

    #[test]
    fn facts_with_one_subject_and_predicate_keep_different_keys_in_the_global_scope() {
        let items: Vec<Item> = ["cello", "harp"].map(|content| Item::fact("Ada", "plays", content)).into();
        let memories = Memories { items, in_global_scope: true, ..Memories::default() };
        let lines = memories.lines("tenant", Timestamp::default());
        let keys: Vec<_> = lines.iter().map(|line| (&line["scope"], &line["slot"])).collect();
        assert_eq!(keys[0].0, "global");
        assert_eq!(keys[0].0, keys[1].0);
        assert_ne!(keys[0].1, keys[1].1);
    }
}
