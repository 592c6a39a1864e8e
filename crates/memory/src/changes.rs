//! What changed in a period, for an agent that returns after a while.

use butler_domain::context::TokenCounter;
use butler_domain::text::flatten_line;
use butler_domain::times::ShownDates;
use butler_domain::tokens::Bpe;
use butler_domain::{EntityId, Scope, Timestamp};
use butler_store::changes::{self, Change};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{Call, Memory, MemoryError};

/// The maximum number of changes in an answer.
const MOST: i32 = 1000;

/// The validated arguments of a request for changes.
#[derive(Debug, Clone)]
pub struct ChangesInput {
    pub since: Timestamp,
    pub until: Option<Timestamp>,
    /// This scope and `global`; `None` means all scopes.
    pub scope: Option<Scope>,
    /// The maximum number of tokens in the answer's lines.
    pub token_budget: usize,
}

/// What changed, each list by entity, the entity with the latest change first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Changes {
    pub since: Timestamp,
    pub until: Timestamp,
    /// New facts and rules.
    pub learned: Vec<ChangeGroup>,
    /// Known memories with a new version, date, importance or permanence.
    pub changed: Vec<ChangeGroup>,
    /// Memories that were marked as harmful or contradict others.
    pub contradicted: Vec<ChangeGroup>,
    /// Memories whose confidence has decayed.
    pub faded: Vec<ChangeGroup>,
    /// Forgotten memories, by name only.
    pub forgotten: Vec<ChangeGroup>,
    /// How many older changes the budget left out.
    pub left_out: usize,
    /// How many tokens the lines have.
    pub tokens: usize,
}

/// The changes of one entity or subject.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangeGroup {
    pub entity_id: Option<EntityId>,
    /// The entity, or the subject of facts without one. Null for rules and episodes.
    pub name: Option<String>,
    /// Newest first.
    pub changes: Vec<ChangeItem>,
}

/// One change of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangeItem {
    pub memory_type: String,
    pub id: Uuid,
    pub at: Timestamp,
    /// The type of the event.
    pub event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The content before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(flatten)]
    pub dates: ShownDates,
}

impl From<Change> for ChangeItem {
    fn from(change: Change) -> Self {
        Self {
            memory_type: change.memory_type,
            id: change.id,
            at: change.at,
            event: change.event_type,
            predicate: change.predicate,
            content: change.content,
            before: change.before,
            dates: change.dates.map(|dates| dates.shown()).unwrap_or_default(),
        }
    }
}

impl Memory {
    /// Lists the changes of a period, newest first, within the token budget.
    pub async fn changes(&self, call: &Call, input: &ChangesInput) -> Result<Changes, MemoryError> {
        let mut conn = self.db().reader(&call.tenant).await?;
        let until = input.until.unwrap_or(call.now + chrono::TimeDelta::microseconds(1));
        let scope = input.scope.as_ref().map(Scope::as_str);
        let rows = changes::between(&mut conn, &call.tenant, scope, input.since, until, MOST).await?;
        let mut answer = Changes { since: input.since, until, ..Changes::default() };
        let mut fits = true;
        for change in rows {
            let Change { section, entity_id, name, .. } = &change;
            let (section, entity_id, name) = (section.clone(), *entity_id, name.clone());
            let item = ChangeItem::from(change);
            let tokens = Bpe.count(&line(&section, name.as_deref(), &item));
            fits = fits && answer.tokens + tokens <= input.token_budget;
            if fits {
                answer.tokens += tokens;
                answer.add(&section, entity_id, name, item);
            } else {
                answer.left_out += 1;
            }
        }
        Ok(answer)
    }
}

impl Changes {
    fn section(&mut self, name: &str) -> &mut Vec<ChangeGroup> {
        match name {
            "learned" => &mut self.learned,
            "contradicted" => &mut self.contradicted,
            "faded" => &mut self.faded,
            "forgotten" => &mut self.forgotten,
            _ => &mut self.changed,
        }
    }

    /// The rows come newest first, so the groups are in the order of their latest change.
    fn add(&mut self, section: &str, entity_id: Option<EntityId>, name: Option<String>, item: ChangeItem) {
        let section = self.section(section);
        match section.iter_mut().find(|group| group.entity_id == entity_id && group.name == name) {
            Some(group) => group.changes.push(item),
            None => section.push(ChangeGroup { entity_id, name, changes: vec![item] }),
        }
    }

    /// The sections with their names, in display order.
    fn sections(&self) -> [(&'static str, &[ChangeGroup]); 5] {
        [
            ("learned", &self.learned),
            ("changed", &self.changed),
            ("contradicted", &self.contradicted),
            ("faded", &self.faded),
            ("forgotten", &self.forgotten),
        ]
    }

    /// The lines for a section of the context block. The text of a memory stays on one line.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        for (section, groups) in self.sections() {
            for group in groups {
                for item in &group.changes {
                    text.push_str(&line(section, group.name.as_deref(), item));
                }
            }
        }
        text
    }
}

fn line(section: &str, name: Option<&str>, item: &ChangeItem) -> String {
    let part = |text: Option<&str>| text.map(|text| format!(" [{}]", flatten_line(text))).unwrap_or_default();
    let kind = if name.is_none() { format!(" {}", item.memory_type) } else { String::new() };
    let content = item.content.as_deref().map(|text| format!(": {}", flatten_line(text))).unwrap_or_default();
    let before = item.before.as_deref().map(|text| format!(" (before: {})", flatten_line(text))).unwrap_or_default();
    format!("- {section}{kind}{}{}{content}{before}\n", part(name), part(item.predicate.as_deref()))
}
