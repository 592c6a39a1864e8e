use std::collections::HashMap;

use butler_domain::{Direction, EntityType};
use butler_host::error::HostError;
use butler_memory::tool::Answer;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::entity_direct::{Direct, merged_id};
use super::input::{non_empty, object, one_of};
use super::named_entity::find;
use super::times::TimeOptions;
use super::{Output, Request, show};
use crate::cli::Settings;
use crate::cli::tool_client::ToolClient;
use crate::printer::Printer;

/// Manage entities: the people, organizations, places and things that facts are about
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler entity list --type person\n  \
    butler entity resolve Chloe\n  \
    butler entity create 'Chloe Martin' --type person --alias Chloe\n  \
    butler entity merge 'C. Martin' 'Chloe Martin' --preview")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Create a person, organization, place or other entity
    #[command(after_help = "Examples:\n  butler entity create 'Chloe Martin' --type person --alias Chloe")]
    Create {
        /// Canonical name
        name: String,
        /// Type of the entity
        #[arg(long = "type", value_name = "TYPE", default_value = "other", value_parser = one_of::<EntityType>(EntityType::NAMES))]
        entity_type: EntityType,
        /// Alternative name; repeatable
        #[arg(long = "alias", value_name = "NAME")]
        aliases: Vec<String>,
        /// Additional data to store with the entity
        #[arg(long, value_name = "JSON", value_parser = object)]
        metadata: Option<Map<String, Value>>,
        #[command(flatten)]
        output: Output,
    },
    /// List entities by name
    #[command(after_help = "Examples:\n  butler entity list --type person\n  butler entity list --since 7d --json")]
    List {
        /// Only entities of this type
        #[arg(long = "type", value_name = "TYPE", value_parser = one_of::<EntityType>(EntityType::NAMES))]
        entity_type: Option<EntityType>,
        /// Only entities created since then; also how long ago: 7d, 12h
        #[arg(long, value_name = "DATE")]
        since: Option<String>,
        /// Only entities created until then
        #[arg(long, value_name = "DATE")]
        until: Option<String>,
        /// List at most this many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        #[command(flatten)]
        output: Output,
    },
    /// Print an entity
    #[command(after_help = "Examples:\n  butler entity get 'Chloe Martin'")]
    Get {
        /// Name or id of the entity
        #[arg(value_name = "ENTITY")]
        entity: String,
        #[command(flatten)]
        output: Output,
    },
    /// Update an entity's name, aliases or metadata; omitted fields keep their values
    #[command(
        after_help = "Examples:\n  butler entity update 'Chloe Martin' --add-alias Chloe\n  butler entity update 'Chloe Martin' --name 'Chloe Dubois'"
    )]
    Update {
        /// Name or id of the entity
        #[arg(value_name = "ENTITY")]
        entity: String,
        /// New canonical name
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Replace all aliases with this one; repeatable
        #[arg(long = "alias", value_name = "NAME", conflicts_with_all = ["no_aliases", "more_aliases"])]
        aliases: Vec<String>,
        /// Add this alias and keep the others; repeatable
        #[arg(long = "add-alias", value_name = "NAME", conflicts_with = "no_aliases")]
        more_aliases: Vec<String>,
        /// Remove all aliases
        #[arg(long)]
        no_aliases: bool,
        /// Keys to merge into the metadata
        #[arg(long, value_name = "JSON", value_parser = object)]
        metadata: Option<Map<String, Value>>,
        #[command(flatten)]
        output: Output,
    },
    /// List the entities a name may refer to, best match first
    #[command(
        after_help = "Examples:\n  butler entity resolve Chloe --topic cooking\n  butler entity resolve Chole --fuzzy --json"
    )]
    Resolve {
        /// Name to resolve
        name: String,
        /// Only entities of this type
        #[arg(long = "type", value_name = "TYPE", value_parser = one_of::<EntityType>(EntityType::NAMES))]
        entity_type: Option<EntityType>,
        /// Also match similar names
        #[arg(long)]
        fuzzy: bool,
        /// Topic of the conversation
        #[arg(long, value_name = "TEXT")]
        topic: Option<String>,
        /// Another name mentioned in the same context; repeatable
        #[arg(long = "with", value_name = "NAME")]
        mentioned_with: Vec<String>,
        #[command(flatten)]
        output: Output,
    },
    /// List who and what an entity is related to
    #[command(
        after_help = "Examples:\n  butler entity neighbors Ann --depth 2\n  butler entity neighbors Ann --predicate has_child --valid-at 2024"
    )]
    Neighbors {
        /// Name or id of the entity
        #[arg(value_name = "ENTITY")]
        entity: String,
        /// Follow only this relation; repeatable
        #[arg(long = "predicate", value_name = "NAME")]
        predicates: Vec<String>,
        /// Which relations to follow: those the entity is the subject of (out), the object of (in), or both
        #[arg(long, value_name = "DIRECTION", value_parser = one_of::<Direction>(Direction::NAMES))]
        direction: Option<Direction>,
        /// How many relations away, 1 to 3
        #[arg(long, value_name = "N")]
        depth: Option<u32>,
        /// List at most this many relations, the nearest first
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
        #[command(flatten)]
        time: TimeOptions,
        #[command(flatten)]
        output: Output,
    },
    /// Merge a duplicate entity into another
    ///
    /// The facts, relations and names of the source move to the target. `butler entity unmerge SOURCE` undoes it.
    #[command(
        after_help = "Examples:\n  butler entity merge 'C. Martin' 'Chloe Martin' --preview\n  butler entity merge 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa 'Chloe Martin'"
    )]
    Merge {
        /// Name or id of the duplicate, which becomes a tombstone
        source: String,
        /// Name or id of the entity to keep
        target: String,
        /// Show what the merge would do, and change nothing
        #[arg(long)]
        preview: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Undo a merge
    ///
    /// The merged entity gets back its facts, relations and names. What was stored since stays with the target, unless its
    /// subject is a name that only the merged entity has.
    #[command(after_help = "Examples:\n  butler entity unmerge 'C. Martin'")]
    Unmerge {
        /// Name or id of the entity that was merged away
        #[arg(value_name = "ENTITY")]
        entity: String,
        #[command(flatten)]
        output: Output,
    },
}

impl Args {
    /// The command, if it needs no tool.
    pub(super) fn direct(&self) -> Option<Direct> {
        match &self.action {
            Action::List { entity_type, since, until, limit, output } => Some(Direct::List {
                entity_type: *entity_type,
                since: since.clone(),
                until: until.clone(),
                limit: *limit,
                json: output.json,
            }),
            Action::Merge { source, target, preview: true, output } => {
                Some(Direct::PreviewMerge { source: source.clone(), target: target.clone(), json: output.json })
            }
            _ => None,
        }
    }

    /// Replaces the name of an entity to unmerge by its id. No tool resolves it, since the name leads to the target.
    pub(super) async fn find_merged(&mut self, settings: &Settings) -> Result<(), HostError> {
        if let Action::Unmerge { entity, .. } = &mut self.action {
            *entity = merged_id(entity, settings).await?.to_string();
        }
        Ok(())
    }

    pub(super) async fn request(self, client: &ToolClient) -> Result<Request, HostError> {
        Ok(match self.action {
            Action::List { .. } => return Err(HostError::Failed("a list needs no tool".to_owned())),
            Action::Create { name, entity_type, aliases, metadata, output } => Request::new(
                "entity_create",
                json!({"canonical_name": name, "entity_type": entity_type, "aliases": non_empty(aliases), "metadata": metadata}),
                output,
                print_created,
            ),
            Action::Get { entity, output } => {
                let entity_id = find(client, &entity).await?;
                Request::new("entity_get", json!({"entity_id": entity_id}), output, show::print_fields)
            }
            Action::Update { entity, name, aliases, more_aliases, no_aliases, metadata, output } => {
                let mut aliases = if no_aliases { Some(Vec::new()) } else { non_empty(aliases) };
                if name.is_none() && aliases.is_none() && more_aliases.is_empty() && metadata.is_none() {
                    return Err(HostError::usage(
                        "nothing to update",
                        "give --name, --alias, --add-alias, --no-aliases or --metadata",
                    ));
                }
                let entity_id = find(client, &entity).await?;
                if !more_aliases.is_empty() {
                    aliases = Some(with_known_aliases(client, entity_id, more_aliases).await?);
                }
                let arguments =
                    json!({"entity_id": entity_id, "canonical_name": name, "aliases": aliases, "metadata": metadata});
                Request::new("entity_update", arguments, output, show::print_fields)
            }
            Action::Resolve { name, entity_type, fuzzy, topic, mentioned_with, output } => {
                let hints = json!({"topic": topic, "mentioned_with": non_empty(mentioned_with)});
                let hints = show::without_nulls(hints);
                let arguments = json!({
                    "name": name, "entity_type": entity_type, "enable_fuzzy": fuzzy.then_some(true),
                    "context_hints": (!hints.is_empty()).then_some(hints),
                });
                Request::new("entity_resolve", arguments, output, print_candidates)
            }
            Action::Neighbors { entity, predicates, direction, depth, limit, time, output } => {
                let entity_id = find(client, &entity).await?;
                let mut arguments = json!({
                    "entity_id": entity_id, "predicates": non_empty(predicates), "direction": direction, "depth": depth,
                    "limit": limit,
                });
                time.add_to(&mut arguments);
                Request::new("entity_neighbors", arguments, output, print_neighbors)
            }
            Action::Unmerge { entity, output } => {
                Request::new("entity_unmerge", json!({"entity_id": entity}), output, show::print_fields)
            }
            Action::Merge { source, target, output, .. } => {
                let (source_id, target_id) = (find(client, &source).await?, find(client, &target).await?);
                let arguments = json!({"source_entity_id": source_id, "target_entity_id": target_id});
                Request::new("entity_merge", arguments, output, show::print_fields)
            }
        })
    }
}

/// The entity's aliases and the additional ones.
async fn with_known_aliases(client: &ToolClient, id: Uuid, more: Vec<String>) -> Result<Vec<String>, HostError> {
    let answer = client.call("entity_get", show::without_nulls(json!({"entity_id": id}))).await;
    let answer = answer.map_err(HostError::Tool)?;
    let known = answer.structured.get("aliases").and_then(Value::as_array).into_iter().flatten();
    let mut aliases: Vec<String> = known.filter_map(Value::as_str).map(str::to_owned).collect();
    for alias in more {
        if !aliases.contains(&alias) {
            aliases.push(alias);
        }
    }
    Ok(aliases)
}

fn print_created(printer: Printer, answer: &Answer) {
    printer.line(format_args!("created entity {}", show::text(&answer.structured, "entity_id")));
}

fn print_candidates(printer: Printer, answer: &Answer) {
    let found = answer.structured.get("candidates").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if found.is_empty() {
        printer.note("no entity matches that name");
    }
    for candidate in found.iter().filter_map(Value::as_object) {
        let aliases: Vec<&str> = candidate
            .get("aliases")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let also = if aliases.is_empty() { String::new() } else { format!(", also {}", aliases.join(", ")) };
        printer.line(format_args!(
            "{:>5.0}  {} ({}{also})\n       {}  {} match",
            show::number(candidate, "score").unwrap_or_default(),
            show::text(candidate, "canonical_name"),
            show::text(candidate, "entity_type"),
            show::text(candidate, "entity_id"),
            show::text(candidate, "name_match"),
        ));
    }
}

/// One relation a line: Ann has_child Bob.
fn print_neighbors(printer: Printer, answer: &Answer) {
    let list = |key: &str| answer.structured.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names: HashMap<&str, &str> = list("entities")
        .iter()
        .filter_map(Value::as_object)
        .map(|entity| (show::text(entity, "entity_id"), show::text(entity, "canonical_name")))
        .collect();
    if list("edges").is_empty() {
        printer.note("no relations");
    }
    for edge in list("edges").iter().filter_map(Value::as_object) {
        let name = |key: &str| names.get(show::text(edge, key)).copied().unwrap_or_default();
        let (source, target) = (name("source_entity_id"), name("target_entity_id"));
        printer.line(format_args!("{source} {} {target}", show::text(edge, "predicate")));
    }
}
