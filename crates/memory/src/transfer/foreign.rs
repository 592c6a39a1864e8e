//! Imports the memories of other programs as facts, through the same use cases as a tool call.

mod claude_code;
mod knowledge_graph;
mod mem0;

use std::collections::{HashMap, HashSet};

use butler_domain::resolve::Hints;
use butler_domain::times::StatedDates;
use butler_domain::validate::{self, Invalid};
use butler_domain::{Cardinality, EntityId, EntityType, Permanence, Scope, Source, TenantId, limits};
use butler_store::facts::{self, Statement};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{FORMAT, ImportOptions, ImportReport, TransferError};
use crate::entities::{EntityInput, ResolveInput};
use crate::{Call, FactInput, Memory, MemoryError};

/// The format of a file to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// An export of butler.
    Butler,
    Foreign(ForeignFormat),
}

/// A format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFormat {
    Mem0,
    /// The knowledge-graph server of the Model Context Protocol's examples.
    McpMemory,
    ClaudeCode,
}

impl ForeignFormat {
    /// The name in reports, in events and in the idempotency keys of imported memories.
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

/// The contents of a file.
#[derive(Debug, Default)]
struct Parsed {
    entities: Vec<(String, EntityType)>,
    facts: Vec<ParsedFact>,
    /// Line numbers and what is wrong with the lines.
    problems: Vec<(u64, String)>,
}

/// A fact that has not been validated yet.
#[derive(Debug)]
struct ParsedFact {
    line: u64,
    subject: String,
    predicate: String,
    content: String,
    /// The name of the entity that a relation leads to.
    object: Option<String>,
    permanence: Permanence,
    tags: Vec<String>,
    metadata: Map<String, Value>,
}

/// Detects the format of a file from its beginning and, for Markdown, its name. A text without a name is Markdown if it has
/// a heading or a list. Returns `None` if the text is neither Markdown nor JSON.
pub fn detect_format(beginning: &str, name: Option<&str>) -> Option<FileFormat> {
    let text = beginning.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if !text.starts_with(['{', '[']) {
        let is_markdown = match name.map(str::to_lowercase) {
            Some(name) => name.ends_with(".md") || name.ends_with(".markdown"),
            None => claude_code::is_markdown(text),
        };
        return is_markdown.then_some(FileFormat::Foreign(ForeignFormat::ClaudeCode));
    }
    Some(detect_json(text))
}

fn detect_json(text: &str) -> FileFormat {
    let first = text.lines().next().unwrap_or_default();
    let value: Value = serde_json::from_str(first).unwrap_or_default();
    if value["format"] == FORMAT || first.contains(&format!("\"format\":\"{FORMAT}\"")) {
        return FileFormat::Butler;
    }
    let graph = matches!(value["type"].as_str(), Some("entity" | "relation")) || value["entities"].is_array();
    if graph || (value.is_null() && text.contains("\"entities\"") && text.contains("\"observations\"")) {
        return FileFormat::Foreign(ForeignFormat::McpMemory);
    }
    FileFormat::Foreign(ForeignFormat::Mem0)
}

/// A predicate that differs for each content. With the same predicate, the facts of a subject would supersede each
/// other.
fn unique_predicate(prefix: &str, content: &str) -> String {
    format!("{prefix} {}", &digest(&[content])[..8])
}

/// The normal form in which predicates are compared.
fn predicate_key(predicate: &str) -> String {
    let words = predicate.split(|c: char| c.is_whitespace() || c == '-' || c == '_').filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

fn digest(parts: &[&str]) -> String {
    Sha256::digest(parts.join("\u{1f}")).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Memory {
    /// Imports a file of another program. Each fact has its own idempotency key, so importing a file again changes
    /// nothing.
    pub async fn import_foreign(
        &self,
        format: ForeignFormat,
        text: &str,
        name: &str,
        options: &ImportOptions,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<ImportReport, TransferError> {
        let mut report = ImportReport::new(format.as_str(), options.dry_run);
        let mut parsed = self.parse_redacted(format, text, name, &mut report);
        self.distinguish_relations(&mut parsed, &options.tenant).await?;
        report.lines = text.lines().count() as u64;
        for (line, problem) in parsed.problems {
            report.problem(Some(line), problem);
        }
        let facts: Vec<(u64, FactInput)> =
            parsed.facts.into_iter().filter_map(|fact| validate_fact(fact, &mut report)).collect();
        report.tally("entity").read = parsed.entities.len() as u64;
        report.tally("fact").read = facts.len() as u64;
        report.committed = !options.dry_run && (options.partial || !report.has_problems());
        if options.dry_run {
            self.count_foreign(&parsed.entities, &facts, options, &mut report).await?;
        }
        if !report.committed {
            return Ok(report);
        }
        let call = Call {
            source: Source::Import,
            ..Call::internal(self, options.tenant.clone(), format!("import {}", format.as_str()))
        };
        let mut entity_ids = HashMap::new();
        for (name, entity_type) in parsed.entities {
            let (id, created) = self.find_or_create_entity(&call, &name, entity_type).await?;
            report.tally("entity").count(!created);
            entity_ids.insert(name, id);
        }
        let total = facts.len() as u64;
        for (done, (line, mut fact)) in facts.into_iter().enumerate() {
            fact.entity_id = entity_ids.get(&fact.subject).copied();
            fact.object_entity_id = fact.object.as_ref().and_then(|name| entity_ids.get(name)).copied();
            if fact.object_entity_id.is_some() {
                fact.object = None;
            }
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
        let mut conn = self.db().tenant(&options.tenant).await?;
        self.record_import(&mut conn, options, &report).await?;
        Ok(report)
    }

    /// Parses a file and redacts what it contains.
    fn parse_redacted(&self, format: ForeignFormat, text: &str, name: &str, report: &mut ImportReport) -> Parsed {
        let redactor = self.redactor();
        // Each line of plain text becomes a fact, but a private key has several lines.
        let plain = (format == ForeignFormat::ClaudeCode).then(|| redactor.redact(text));
        let mut parsed = format.parse(plain.as_ref().map_or(text, |plain| &plain.text), name);
        let mut found = plain.map_or(0, |plain| plain.found);
        for (name, _) in &mut parsed.entities {
            found += redactor.redact_text(name);
        }
        for fact in &mut parsed.facts {
            found += redactor.redact_named(&fact.predicate, &mut fact.content);
            let names = [&mut fact.subject, &mut fact.predicate].into_iter().chain(&mut fact.object);
            found += names.chain(&mut fact.tags).map(|text| redactor.redact_text(text)).sum::<usize>();
            found += redactor.redact_object(&mut fact.metadata);
        }
        for (_, problem) in &mut parsed.problems {
            redactor.redact_text(problem);
        }
        report.redacted += found as u64;
        parsed
    }

    /// If a subject has the same relation to several others and the predicate holds one value, the target makes the
    /// predicates distinct. Otherwise the relations would supersede each other.
    async fn distinguish_relations(&self, parsed: &mut Parsed, tenant: &TenantId) -> Result<(), TransferError> {
        let mut relations: HashMap<(String, String), usize> = HashMap::new();
        for fact in parsed.facts.iter().filter(|fact| fact.object.is_some()) {
            *relations.entry((fact.subject.clone(), predicate_key(&fact.predicate))).or_default() += 1;
        }
        if relations.values().all(|count| *count < 2) {
            return Ok(());
        }
        let mut conn = self.db().relaxed(tenant).await?;
        let known = butler_store::predicates::list(&mut conn, tenant).await?;
        let entities: HashSet<&str> = parsed.entities.iter().map(|(name, _)| name.as_str()).collect();
        // Of a predicate that nobody registered, the object is part of the key only if it is an entity.
        let supersedes = |key: &str, object: &str| match known.iter().find(|known| predicate_key(&known.name) == key) {
            Some(known) => known.cardinality == Cardinality::One,
            None => !entities.contains(object),
        };
        for fact in &mut parsed.facts {
            let Some(object) = &fact.object else { continue };
            let key = predicate_key(&fact.predicate);
            let several = relations.get(&(fact.subject.clone(), key.clone())).is_some_and(|count| *count > 1);
            if several && supersedes(&key, object) {
                fact.predicate = format!("{}: {object}", fact.predicate);
            }
        }
        Ok(())
    }

    /// Counts what an import would create. An item that appears twice in the file counts as new once.
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
            let exists = !seen.insert((name, entity_type.as_str()))
                || self.find_entity(&call, name, *entity_type).await?.is_some();
            report.tally("entity").count(exists);
        }
        let mut seen = HashSet::new();
        for (_, fact) in facts {
            let statement = (&fact.subject, &fact.predicate, &fact.content);
            let exists = !seen.insert(statement) || self.was_stored(&call, fact).await?;
            report.tally("fact").count(exists);
        }
        Ok(())
    }

    /// Whether a fact with the same words was ever stored, in any state.
    async fn was_stored(&self, call: &Call, fact: &FactInput) -> Result<bool, MemoryError> {
        let mut conn = self.db().relaxed(&call.tenant).await?;
        let statement = Statement { subject: &fact.subject, predicate: &fact.predicate, content: &fact.content };
        Ok(facts::exists(&mut conn, &call.tenant, &fact.scope, statement).await?)
    }

    /// Returns `false` if the fact was imported before, whatever its state is now. The stored facts show this forever;
    /// the idempotency key also prevents duplicates when two imports run at the same time.
    async fn import_fact(&self, call: &Call, format: ForeignFormat, fact: FactInput) -> Result<bool, MemoryError> {
        if self.was_stored(call, &fact).await? {
            return Ok(false);
        }
        let key = digest(&[&fact.subject, &fact.predicate, &fact.content]);
        let call = Call { idempotency_key: Some(format!("import:{}:{key}", format.as_str())), ..call.clone() };
        let stored = self.store_fact(&call, fact).await?;
        // A replayed answer has the id of the earlier call, which is older than this one.
        Ok(created_by(stored.id.0, &call))
    }

    async fn find_entity(
        &self,
        call: &Call,
        name: &str,
        entity_type: EntityType,
    ) -> Result<Option<EntityId>, MemoryError> {
        let input = ResolveInput {
            name: name.to_owned(),
            entity_type: Some(entity_type),
            hints: Hints::default(),
            enable_fuzzy: false,
        };
        let resolved = self.resolve_entity(call, input).await?;
        let found = resolved.candidates.iter().find(|candidate| candidate.canonical_name == name);
        Ok(found.map(|found| found.entity_id))
    }

    /// Finds or creates an entity. The flag says whether it was created.
    async fn find_or_create_entity(
        &self,
        call: &Call,
        name: &str,
        entity_type: EntityType,
    ) -> Result<(EntityId, bool), MemoryError> {
        if let Some(id) = self.find_entity(call, name, entity_type).await? {
            return Ok((id, false));
        }
        let input =
            EntityInput { canonical_name: name.to_owned(), entity_type, aliases: Vec::new(), metadata: Map::new() };
        Ok((self.create_entity(call, input).await?.entity_id, true))
    }
}

/// Whether the id is not older than the call.
fn created_by(id: uuid::Uuid, call: &Call) -> bool {
    let created_at = id.get_timestamp().map(|time| time.to_unix());
    created_at.is_some_and(|(seconds, nanos)| {
        let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000) + i64::from(nanos / 1_000_000);
        millis >= call.now.timestamp_millis()
    })
}

/// Validates a fact like any other input. An invalid one is reported as a problem of its line.
fn validate_fact(fact: ParsedFact, report: &mut ImportReport) -> Option<(u64, FactInput)> {
    let line = fact.line;
    match fact_input(fact) {
        Ok(input) => Some((line, input)),
        Err(error) => {
            report.problem(Some(line), error.to_string());
            None
        }
    }
}

fn fact_input(fact: ParsedFact) -> Result<FactInput, Invalid> {
    Ok(FactInput {
        subject: validate::subject(&fact.subject)?,
        predicate: validate::predicate(&fact.predicate)?,
        content: validate::content(&fact.content)?,
        importance: None,
        permanence: Some(fact.permanence),
        scope: Scope::default(),
        tags: Some(fact.tags.into_iter().filter(|tag| !tag.trim().is_empty()).take(limits::TAGS).collect()),
        entity_id: None,
        object_entity_id: None,
        object: fact.object,
        source_episode_id: None,
        source_butler: None,
        dates: StatedDates::default(),
        override_tombstone: false,
        metadata: fact.metadata,
    })
}
