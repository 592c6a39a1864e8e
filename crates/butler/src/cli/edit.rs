//! `butler edit` corrects a fact: it stores a new version that supersedes the old one.

use butler_domain::times::DateField;
use butler_domain::{FactId, Invalid, Permanence, Scope, Source, StoredFact, validate};
use butler_host::access::CLI_ACTOR;
use butler_host::error::HostError;
use butler_memory::times::DateTexts;
use butler_memory::tool::{ErrorCode, ToolError};
use butler_memory::{Call, FactChanges, MemoryError};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Settings;
use super::opened_butler::OpenedButler;
use super::verbs::input::one_of;
use crate::printer::Printer;

/// Correct a fact: its text, its key, its grades or its dates
///
/// Says that the old version was never true. To say that something is no longer true, store the new value with
/// `butler remember fact`. What is left out stays as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler edit 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --content Bergen\n  \
    butler edit 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --no-valid-to --json")]
pub struct Args {
    /// Id of the fact
    #[arg(value_name = "ID")]
    id: Uuid,
    /// New content
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// New subject
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// New predicate
    #[arg(long, value_name = "NAME")]
    predicate: Option<String>,
    /// Move the fact to this scope
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// New importance, 0 to 10
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
    /// How long it lasts
    #[arg(long, value_parser = one_of::<Permanence>(Permanence::NAMES))]
    permanence: Option<Permanence>,
    /// Replace all tags with this one; repeatable
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Since when it is true: a year, month, day or time
    #[arg(long, value_name = "DATE", conflicts_with = "no_valid_from")]
    valid_from: Option<String>,
    /// Remove the date since when it is true
    #[arg(long)]
    no_valid_from: bool,
    /// From when on it is no longer true
    #[arg(long, value_name = "DATE", conflicts_with = "no_valid_to")]
    valid_to: Option<String>,
    /// Remove the date from when on it is no longer true
    #[arg(long)]
    no_valid_to: bool,
    /// When the source said it
    #[arg(long, value_name = "DATE")]
    observed_at: Option<String>,
    /// Print the new version's id as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let opened = OpenedButler::open(settings).await?;
    let outcome = args.edit(&opened, settings).await.map_err(|error| HostError::Tool(error.into()));
    let Some(stored) = opened.close(outcome).await? else {
        let message = format!("there is no fact with id {}", args.id);
        return Err(HostError::Tool(ToolError::new(ErrorCode::NotFound, message)));
    };
    if args.json {
        printer.json(&json!({"id": stored.id, "superseded_id": stored.superseded_id}));
    } else {
        printer.line(format_args!("stored fact {}, which supersedes {}", stored.id, args.id));
    }
    Ok(())
}

impl Args {
    async fn edit(&self, opened: &OpenedButler, settings: &Settings) -> Result<Option<StoredFact>, MemoryError> {
        let tenant = settings.tenant.clone().unwrap_or_default();
        let call = Call { source: Source::Person, ..Call::internal(&opened.memory, tenant, CLI_ACTOR) };
        let changes = self.changes(opened, &call)?;
        opened.memory.edit_fact(&call, FactId(self.id), &changes).await
    }

    fn changes(&self, opened: &OpenedButler, call: &Call) -> Result<FactChanges, Invalid> {
        let redactor = opened.host.redactor();
        let clean = |text: &Option<String>| text.as_deref().map(|text| redactor.redact(text).text.into_owned());
        let texts = DateTexts {
            valid_from: self.valid_from.as_deref(),
            valid_to: self.valid_to.as_deref(),
            observed_at: self.observed_at.as_deref(),
        };
        let mut dates = opened.memory.stated(call.now, texts)?;
        dates.removed.extend(self.no_valid_from.then_some(DateField::ValidFrom));
        dates.removed.extend(self.no_valid_to.then_some(DateField::ValidTo));
        let tags: Vec<String> = self.tags.iter().map(|tag| redactor.redact(tag).text.into_owned()).collect();
        let tags = (!tags.is_empty()).then(|| validate::tags(&Value::from(tags)));
        let changes = FactChanges {
            content: clean(&self.content).as_deref().map(validate::content).transpose()?,
            importance: self.importance.map(|value| validate::importance(&Value::from(value))).transpose()?,
            permanence: self.permanence,
            tags: tags.transpose()?,
            dates,
            subject: clean(&self.subject).as_deref().map(validate::subject).transpose()?,
            predicate: clean(&self.predicate).as_deref().map(validate::predicate).transpose()?,
            scope: self.scope.clone().map(Scope::new).transpose().map_err(Invalid::from)?,
        };
        if changes == FactChanges::default() {
            return Err(Invalid::new("arguments", "contain no change").hint("give at least one option"));
        }
        Ok(changes)
    }
}
