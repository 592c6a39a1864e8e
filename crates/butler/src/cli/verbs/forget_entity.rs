//! `butler forget --entity`: lists what would be forgotten, asks, then forgets it.

use butler_domain::text::flatten_line;
use butler_host::error::HostError;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{named_entity, show};
use crate::cli::tool_client::ToolClient;
use crate::cli::{confirmation, counted};
use crate::printer::Printer;

/// What the command line asks for.
pub struct ForgetEntity {
    pub name: String,
    pub erase: bool,
    pub keep_mentions: bool,
    pub yes: bool,
    pub json: bool,
}

impl ForgetEntity {
    pub async fn run(&self, client: &ToolClient, printer: Printer) -> Result<(), HostError> {
        let id = named_entity::find(client, &self.name).await?;
        if !self.yes {
            let preview = self.call(client, id, true).await?;
            self.print(printer, &preview);
            let (verb, name) = (self.verb(), show::text(&preview, "canonical_name"));
            let effect = format!("this would {verb} the above");
            confirmation::require(false, &effect, &format!("{} {name:?} and the above?", capitalized(verb)))?;
        }
        let done = self.call(client, id, false).await?;
        self.print(printer, &done);
        Ok(())
    }

    fn verb(&self) -> &'static str {
        if self.erase { "erase" } else { "forget" }
    }

    async fn call(&self, client: &ToolClient, id: Uuid, dry_run: bool) -> Result<Map<String, Value>, HostError> {
        let mut arguments = json!({"entity_id": id, "erase": self.erase, "dry_run": dry_run});
        if self.keep_mentions {
            for list in ["fact_ids", "rule_ids", "episode_ids"] {
                arguments[list] = json!([]);
            }
        }
        let answer = client.call("entity_forget", show::without_nulls(arguments)).await.map_err(HostError::Tool)?;
        Ok(answer.structured)
    }

    fn print(&self, printer: Printer, answer: &Map<String, Value>) {
        if self.json {
            printer.json(answer);
            return;
        }
        let done = match (answer.get("dry_run") == Some(&Value::Bool(true)), self.erase) {
            (true, _) => format!("would {}", self.verb()),
            (false, true) => "erased".to_owned(),
            (false, false) => "forgot".to_owned(),
        };
        let count = |key: &str| show::number(answer, key).unwrap_or_default();
        printer.line(format_args!(
            "{done} {}: {} about it, {} to it",
            flatten_line(show::text(answer, "canonical_name")),
            counted(count("facts"), "fact"),
            counted(count("edges"), "relation")
        ));
        let mentions = &Value::Object(answer.clone())["mentions"];
        for (list, kind) in [("facts", "fact"), ("rules", "rule"), ("episodes", "episode")] {
            let items = mentions[list].as_array().map(Vec::as_slice).unwrap_or_default();
            for item in items.iter().filter_map(Value::as_object) {
                printer.line(format_args!(
                    "  {kind:<7}  {}  {}",
                    show::text(item, "id"),
                    flatten_line(show::text(item, "text"))
                ));
            }
            let more = mentions["totals"][list].as_u64().unwrap_or_default().saturating_sub(items.len() as u64);
            if more > 0 {
                printer.line(format_args!("  and {more} more {list}"));
            }
        }
        if self.erase {
            printer.line(format_args!("  the text of {}", counted(count("events_redacted"), "past event")));
        }
        print_backups(printer, answer);
    }
}

/// Prints which backups still hold what was erased.
pub fn print_backups(printer: Printer, answer: &Map<String, Value>) {
    let backups = answer.get("backups").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for backup in backups.iter().filter_map(Value::as_object) {
        let until =
            show::date(backup, "until").map_or("nothing removes it".to_owned(), |until| format!("until {until}Z"));
        printer.line(format_args!("  still in backup {} ({until})", show::text(backup, "name")));
    }
    if let Some(hint) = answer.get("backups_hint").and_then(Value::as_str) {
        printer.note(hint);
    }
}

fn capitalized(verb: &str) -> &'static str {
    if verb == "erase" { "Erase" } else { "Forget" }
}
