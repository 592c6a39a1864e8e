//! `butler entity list` and the preview of a merge: they read memory directly, since no tool does.

use butler_domain::text::flatten_line;
use butler_domain::{EntityType, Source};
use butler_host::access::CLI_ACTOR;
use butler_host::error::HostError;
use butler_memory::browse::{EntityFilter, EntityItem, EntitySort, Listed, Page};
use butler_memory::entities::MergePreview;
use butler_memory::times::TimeFilterTexts;
use butler_memory::{Call, MemoryError};
use serde_json::json;
use uuid::Uuid;

use super::named_entity;
use crate::cli::opened_butler::OpenedButler;
use crate::cli::{Settings, counted};
use crate::printer::{Colour, Printer};

/// A command that needs no tool.
#[derive(Debug, Clone)]
pub enum Direct {
    List { entity_type: Option<EntityType>, since: Option<String>, until: Option<String>, limit: u32, json: bool },
    PreviewMerge { source: String, target: String, json: bool },
}

impl Direct {
    pub async fn run(self, settings: &Settings, printer: Printer) -> Result<(), HostError> {
        let opened = OpenedButler::open(settings).await?;
        let outcome = self.show(&opened, settings, printer).await;
        opened.close(outcome).await
    }

    async fn show(self, opened: &OpenedButler, settings: &Settings, printer: Printer) -> Result<(), HostError> {
        let (memory, call) = (&opened.memory, call(opened, settings));
        match self {
            Self::List { entity_type, since, until, limit, json } => {
                let texts =
                    TimeFilterTexts { since: since.as_deref(), until: until.as_deref(), ..TimeFilterTexts::default() };
                let time_filter = memory.time_filter(call.now, texts).map_err(|error| failed(error.into()))?;
                let filter = EntityFilter {
                    entity_type,
                    since: time_filter.since,
                    until: time_filter.until,
                    sort: EntitySort::Name,
                    ..EntityFilter::default()
                };
                let page = Page::first(i64::from(limit));
                let listed = memory.browse(&call.tenant, call.now).entities(&filter, page).await.map_err(failed)?;
                if json {
                    printer.json(&json!({"entities": listed.rows, "total": listed.total}));
                } else {
                    print_list(printer, &listed);
                }
            }
            Self::PreviewMerge { source, target, json } => {
                let source = named_entity::find_in(memory, &call, &source).await?;
                let target = named_entity::find_in(memory, &call, &target).await?;
                let preview = memory.merge_entities_detailed(&call, source, target, true).await.map_err(failed)?;
                if json {
                    printer.json(&preview);
                } else {
                    print_preview(printer, &preview);
                }
            }
        }
        Ok(())
    }
}

/// The id of a merged entity: as given, or of the entity with that name.
pub async fn merged_id(text: &str, settings: &Settings) -> Result<Uuid, HostError> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let opened = OpenedButler::open(settings).await?;
    let found = named_entity::find_merged(&opened.memory, &call(&opened, settings), text).await;
    opened.close(found).await
}

fn call(opened: &OpenedButler, settings: &Settings) -> Call {
    let tenant = settings.tenant.clone().unwrap_or_default();
    Call { source: Source::Person, ..Call::internal(&opened.memory, tenant, CLI_ACTOR) }
}

fn failed(error: MemoryError) -> HostError {
    HostError::Tool(error.into())
}

fn print_list(printer: Printer, listed: &Listed<EntityItem>) {
    if listed.rows.is_empty() {
        printer.note("no entities");
    }
    for item in &listed.rows {
        let entity = &item.entity;
        let also =
            if entity.aliases.is_empty() { String::new() } else { format!(", also {}", entity.aliases.join(", ")) };
        let name = flatten_line(&format!("{} ({}{also})", entity.canonical_name, entity.entity_type));
        printer.line(name);
        printer.line(printer.on_out(&format!("  {}  {}", entity.id, counted(item.facts, "fact")), Colour::Dim));
    }
    let left = listed.total - listed.rows.len() as i64;
    if left > 0 {
        printer.note(format_args!("{left} more; --limit shows them"));
    }
}

fn print_preview(printer: Printer, preview: &MergePreview) {
    let (source, target) = (&preview.source, &preview.target);
    printer.line(format_args!(
        "would merge {} ({}, {}) into {} ({}, {})",
        flatten_line(&source.canonical_name),
        source.entity_type,
        counted(source.facts_total, "fact"),
        flatten_line(&target.canonical_name),
        target.entity_type,
        counted(target.facts_total, "fact"),
    ));
    let aliases = if preview.aliases.is_empty() { "none".to_owned() } else { preview.aliases.join(", ") };
    printer.line(format_args!("  aliases afterwards: {}", flatten_line(&aliases)));
    printer.line(format_args!("  facts and relations to move: {}", preview.merged.facts_repointed));
    for conflict in &preview.conflicts {
        let (loser, winner) = (flatten_line(&conflict.loser), flatten_line(&conflict.winner));
        printer.line(format_args!("  {loser} would be superseded by {winner}"));
    }
    for contradiction in &preview.contradictions {
        printer.line(format_args!(
            "  {} differs: {} and {}",
            flatten_line(&contradiction.predicate),
            flatten_line(&contradiction.source),
            flatten_line(&contradiction.target)
        ));
    }
}
