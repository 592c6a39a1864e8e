use butler_domain::EntityType;
use butler_host::error::HostError;
use butler_memory::tool::Answer;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::input::{given, object, one_of};
use super::{Output, Request, show};
use crate::printer::Printer;

/// Who and what the facts are about
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler entity resolve Chloe\n  \
    butler entity create 'Chloe Martin' --type person --alias Chloe\n  \
    butler entity merge SOURCE TARGET")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Make a person, organization, place or other thing known
    #[command(
        after_help = "Examples:\n  butler entity create 'Chloe Martin' --type person --alias Chloe --alias 'C. Martin'"
    )]
    Create {
        /// The name it is known by
        name: String,
        #[arg(long = "type", value_name = "TYPE", default_value = "other", value_parser = one_of::<EntityType>(EntityType::NAMES))]
        entity_type: EntityType,
        /// Another name; repeat it for several
        #[arg(long = "alias", value_name = "NAME")]
        aliases: Vec<String>,
        /// Anything else worth keeping with it
        #[arg(long, value_name = "JSON", value_parser = object)]
        metadata: Option<Map<String, Value>>,
        #[command(flatten)]
        output: Output,
    },
    /// One entity by its id
    #[command(after_help = "Examples:\n  butler entity get 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa")]
    Get {
        #[arg(value_name = "ID")]
        entity_id: Uuid,
        #[command(flatten)]
        output: Output,
    },
    /// Change an entity's name, aliases or metadata; what is left out stays
    #[command(
        after_help = "Examples:\n  butler entity update 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --name 'Chloe Dubois' --alias 'Chloe Martin'"
    )]
    Update {
        #[arg(value_name = "ID")]
        entity_id: Uuid,
        /// Replaces the name
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Replaces all aliases: repeat it for each
        #[arg(long = "alias", value_name = "NAME", conflicts_with = "no_aliases")]
        aliases: Vec<String>,
        /// Removes all aliases
        #[arg(long)]
        no_aliases: bool,
        /// Its keys are merged into the metadata
        #[arg(long, value_name = "JSON", value_parser = object)]
        metadata: Option<Map<String, Value>>,
        #[command(flatten)]
        output: Output,
    },
    /// Which entities a name may mean, best first
    #[command(
        after_help = "Examples:\n  butler entity resolve Chloe --topic cooking\n  butler entity resolve Chole --fuzzy --json"
    )]
    Resolve {
        name: String,
        /// Only entities of this type
        #[arg(long = "type", value_name = "TYPE", value_parser = one_of::<EntityType>(EntityType::NAMES))]
        entity_type: Option<EntityType>,
        /// Also similar names
        #[arg(long)]
        fuzzy: bool,
        /// What the conversation is about
        #[arg(long, value_name = "TEXT")]
        topic: Option<String>,
        /// A name that was mentioned along with it; repeat it for several
        #[arg(long = "with", value_name = "NAME")]
        mentioned_with: Vec<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Two entities are the same: the source's facts and names go to the target. Cannot be undone
    #[command(
        after_help = "Examples:\n  butler entity merge 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa 01993c1e-9b01-7e0d-8c22-0a1b2c3d4e5f"
    )]
    Merge {
        /// The duplicate, which becomes a tombstone
        #[arg(value_name = "SOURCE")]
        source_id: Uuid,
        /// The entity that lives on
        #[arg(value_name = "TARGET")]
        target_id: Uuid,
        #[command(flatten)]
        output: Output,
    },
}

impl Args {
    pub(super) fn request(self) -> Result<Request, HostError> {
        Ok(match self.what {
            What::Create { name, entity_type, aliases, metadata, output } => Request::new(
                "entity_create",
                json!({"canonical_name": name, "entity_type": entity_type, "aliases": given(aliases), "metadata": metadata}),
                output,
                created,
            ),
            What::Get { entity_id, output } => {
                Request::new("entity_get", json!({"entity_id": entity_id}), output, show::fields)
            }
            What::Update { entity_id, name, aliases, no_aliases, metadata, output } => {
                let aliases = if no_aliases { Some(Vec::new()) } else { given(aliases) };
                if name.is_none() && aliases.is_none() && metadata.is_none() {
                    return Err(HostError::usage("nothing is to change", "give --name, --alias or --metadata"));
                }
                let arguments =
                    json!({"entity_id": entity_id, "canonical_name": name, "aliases": aliases, "metadata": metadata});
                Request::new("entity_update", arguments, output, show::fields)
            }
            What::Resolve { name, entity_type, fuzzy, topic, mentioned_with, output } => {
                let hints = json!({"topic": topic, "mentioned_with": given(mentioned_with)});
                let hints = show::without_nulls(hints);
                let arguments = json!({
                    "name": name, "entity_type": entity_type, "enable_fuzzy": fuzzy.then_some(true),
                    "context_hints": (!hints.is_empty()).then_some(hints),
                });
                Request::new("entity_resolve", arguments, output, candidates)
            }
            What::Merge { source_id, target_id, output } => {
                let arguments = json!({"source_entity_id": source_id, "target_entity_id": target_id});
                Request::new("entity_merge", arguments, output, show::fields)
            }
        })
    }
}

fn created(printer: Printer, answer: &Answer) {
    printer.line(format_args!("created entity {}", show::text(&answer.structured, "entity_id")));
}

fn candidates(printer: Printer, answer: &Answer) {
    let found = answer.structured.get("candidates").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if found.is_empty() {
        printer.note("no entity of that name");
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
            "{:>5.0}  {} ({}{also})\n       {}  by {}",
            show::number(candidate, "score").unwrap_or_default(),
            show::text(candidate, "canonical_name"),
            show::text(candidate, "entity_type"),
            show::text(candidate, "entity_id"),
            show::text(candidate, "name_match"),
        ));
    }
}
