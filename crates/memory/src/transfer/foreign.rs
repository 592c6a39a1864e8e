//! Other programs' memories, as facts through the same door as everybody's.

mod claude_code;
mod knowledge_graph;
mod mem0;

use std::collections::{HashMap, HashSet};

use butler_domain::resolve::Hints;
use butler_domain::validate::{self, Invalid};
use butler_domain::{EntityId, EntityType, Permanence, Scope};
use butler_store::facts::{self, Statement};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{FORMAT, ImportOptions, ImportReport, TransferError};
use crate::entities::{EntityInput, ResolveInput};
use crate::{Call, FactInput, Memory, MemoryError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Our own.
    Butler,
    Foreign(Foreign),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    Mem0,
    /// The knowledge-graph server of the Model Context Protocol's examples.
    McpMemory,
    ClaudeCode,
}

impl Foreign {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mem0 => "mem0",
            Self::McpMemory => "mcp-memory",
            Self::ClaudeCode => "claude-code",
        }
    }

    fn parse(self, text: &str, name: &str) -> Parsed {
        match self {
            Self::Mem0 => mem0::parse(text),
            Self::McpMemory => knowledge_graph::parse(text),
            Self::ClaudeCode => claude_code::parse(text, name),
        }
    }
}

/// What a file holds.
#[derive(Debug, Default)]
struct Parsed {
    entities: Vec<(String, EntityType)>,
    facts: Vec<Found>,
    /// Line, and what is wrong with it.
    problems: Vec<(u64, String)>,
}

#[derive(Debug)]
struct Found {
    line: u64,
    subject: String,
    predicate: String,
    content: String,
    permanence: Permanence,
    tags: Vec<String>,
    metadata: Map<String, Value>,
}

/// Told by its beginning.
pub fn recognise(beginning: &str) -> Source {
    let text = beginning.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if !text.starts_with(['{', '[']) {
        return Source::Foreign(Foreign::ClaudeCode);
    }
    let first = text.lines().next().unwrap_or_default();
    let value: Value = serde_json::from_str(first).unwrap_or_default();
    if value["format"] == FORMAT || first.contains(&format!("\"format\":\"{FORMAT}\"")) {
        return Source::Butler;
    }
    let graph = matches!(value["type"].as_str(), Some("entity" | "relation")) || value["entities"].is_array();
    if graph || (value.is_null() && text.contains("\"entities\"") && text.contains("\"observations\"")) {
        return Source::Foreign(Foreign::McpMemory);
    }
    Source::Foreign(Foreign::Mem0)
}

/// What tells several memories of one subject apart: facts of one predicate would replace each other.
fn distinct(word: &str, content: &str) -> String {
    format!("{word} {}", &digest(&[content])[..8])
}

fn digest(parts: &[&str]) -> String {
    Sha256::digest(parts.join("\u{1f}")).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Memory {
    /// Through the normal use cases, each under a key of its own: a second time changes nothing.
    pub async fn import_foreign(
        &self,
        format: Foreign,
        text: &str,
        name: &str,
        options: &ImportOptions,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<ImportReport, TransferError> {
        let mut report = ImportReport::new(format.as_str(), options.dry_run);
        let parsed = format.parse(text, name);
        report.lines = text.lines().count() as u64;
        for (line, problem) in parsed.problems {
            report.problem(Some(line), problem);
        }
        let facts: Vec<(u64, FactInput)> =
            parsed.facts.into_iter().filter_map(|found| checked(found, &mut report)).collect();
        report.tally("entity").read = parsed.entities.len() as u64;
        report.tally("fact").read = facts.len() as u64;
        report.committed = !options.dry_run && (options.partial || !report.has_problems());
        if options.dry_run {
            self.count_foreign(&parsed.entities, &facts, options, &mut report).await?;
        }
        if !report.committed {
            return Ok(report);
        }
        let call = Call::internal(self, options.tenant.clone(), format!("import {}", format.as_str()));
        let mut known = HashMap::new();
        for (name, entity_type) in parsed.entities {
            let (id, created) = self.entity_for(&call, &name, entity_type).await?;
            report.tally("entity").counted(!created);
            known.insert(name, id);
        }
        let total = facts.len() as u64;
        for (done, (line, mut fact)) in facts.into_iter().enumerate() {
            fact.entity_id = known.get(&fact.subject).copied();
            match self.import_fact(&call, format, fact).await {
                Ok(true) => report.tally("fact").created += 1,
                Ok(false) => report.tally("fact").existing += 1,
                Err(MemoryError::Store(error)) if error.is_unavailable() => return Err(error.into()),
                Err(error) => {
                    report.tally("fact").left_out += 1;
                    report.problem(Some(line), error.to_string());
                }
            }
            progress(done as u64 + 1, total);
        }
        Ok(report)
    }

    /// What an import would come to, told by what is here now. What stands in the file twice is new once.
    async fn count_foreign(
        &self,
        entities: &[(String, EntityType)],
        facts: &[(u64, FactInput)],
        options: &ImportOptions,
        report: &mut ImportReport,
    ) -> Result<(), TransferError> {
        let call = Call::internal(self, options.tenant.clone(), "import");
        let mut seen = HashSet::new();
        for (name, entity_type) in entities {
            let here = !seen.insert((name, entity_type.as_str()))
                || self.known_entity(&call, name, *entity_type).await?.is_some();
            report.tally("entity").counted(here);
        }
        let mut seen = HashSet::new();
        for (_, fact) in facts {
            let words = (&fact.subject, &fact.predicate, &fact.content);
            let here = !seen.insert(words) || self.has_fact(&call, fact).await?;
            report.tally("fact").counted(here);
        }
        Ok(())
    }

    async fn has_fact(&self, call: &Call, fact: &FactInput) -> Result<bool, MemoryError> {
        let mut conn = self.db().relaxed(&call.tenant).await?;
        let statement = Statement { subject: &fact.subject, predicate: &fact.predicate, content: &fact.content };
        Ok(facts::exists(&mut conn, &call.tenant, &fact.scope, statement).await?)
    }

    /// `false`: it was imported before, whatever became of it since. A key tells for as long as keys are kept, and
    /// makes one of two imports at once; what is remembered tells for ever.
    async fn import_fact(&self, call: &Call, format: Foreign, fact: FactInput) -> Result<bool, MemoryError> {
        if self.has_fact(call, &fact).await? {
            return Ok(false);
        }
        let key = digest(&[&fact.subject, &fact.predicate, &fact.content]);
        let call = Call { idempotency_key: Some(format!("import:{}:{key}", format.as_str())), ..call.clone() };
        let stored = self.store_fact(&call, fact).await?;
        // An answer kept from before names an id of that time.
        Ok(is_of(stored.id.0, &call))
    }

    async fn known_entity(
        &self,
        call: &Call,
        name: &str,
        entity_type: EntityType,
    ) -> Result<Option<EntityId>, MemoryError> {
        let question = ResolveInput {
            name: name.to_owned(),
            entity_type: Some(entity_type),
            hints: Hints::default(),
            enable_fuzzy: false,
        };
        let resolved = self.resolve_entity(call, question).await?;
        let found = resolved.candidates.iter().find(|candidate| candidate.canonical_name == name);
        Ok(found.map(|found| found.entity_id))
    }

    async fn entity_for(
        &self,
        call: &Call,
        name: &str,
        entity_type: EntityType,
    ) -> Result<(EntityId, bool), MemoryError> {
        if let Some(known) = self.known_entity(call, name, entity_type).await? {
            return Ok((known, false));
        }
        let input =
            EntityInput { canonical_name: name.to_owned(), entity_type, aliases: Vec::new(), metadata: Map::new() };
        Ok((self.create_entity(call, input).await?.entity_id, true))
    }
}

fn is_of(id: uuid::Uuid, call: &Call) -> bool {
    let made = id.get_timestamp().map(|time| time.to_unix());
    made.is_some_and(|(seconds, nanos)| {
        let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000) + i64::from(nanos / 1_000_000);
        millis >= call.now.timestamp_millis()
    })
}

/// Within the limits that hold for all; what is not is a problem of its line.
fn checked(found: Found, report: &mut ImportReport) -> Option<(u64, FactInput)> {
    let line = found.line;
    match input(found) {
        Ok(input) => Some((line, input)),
        Err(error) => {
            report.problem(Some(line), error.to_string());
            None
        }
    }
}

fn input(found: Found) -> Result<FactInput, Invalid> {
    Ok(FactInput {
        subject: validate::subject(&found.subject)?,
        predicate: validate::predicate(&found.predicate)?,
        content: validate::content(&found.content)?,
        importance: 5.0,
        permanence: found.permanence,
        scope: Scope::default(),
        tags: found.tags.into_iter().filter(|tag| !tag.trim().is_empty()).take(butler_domain::limits::TAGS).collect(),
        entity_id: None,
        source_episode_id: None,
        source_butler: None,
        metadata: found.metadata,
    })
}
