//! What the clients were told: the one truth the database is held against.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Episode,
    Fact,
    Rule,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Episode => "episode",
            Self::Fact => "fact",
            Self::Rule => "rule",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Acknowledged,
    Refused,
    Unknown,
}

/// What a call was to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Nothing: it looks for something.
    Nothing,
    /// Nothing: it reads what is known to be there.
    Get {
        kind: Kind,
    },
    GetEntity,
    /// `content` is of this call alone; the ids are known once it was acknowledged.
    Store {
        kind: Kind,
        content: String,
        id: Option<Uuid>,
        superseded: Option<Uuid>,
    },
    Mark {
        rule: Uuid,
        helpful: bool,
    },
    Confirm {
        kind: Kind,
        id: Uuid,
    },
    Forget {
        kind: Kind,
        id: Uuid,
        changed: bool,
    },
    CreateEntity {
        name: String,
        id: Option<Uuid>,
    },
    /// `key` is of this call alone.
    UpdateEntity {
        id: Uuid,
        key: String,
    },
    MergeEntities {
        source: Uuid,
        target: Uuid,
    },
    /// The workers by hand: whatever they found to do.
    Work,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub tenant: usize,
    pub tool: &'static str,
    pub outcome: Outcome,
    pub change: Change,
}

/// Of all clients and rounds, by request id.
#[derive(Debug, Default)]
pub struct Journal {
    pub entries: HashMap<String, Entry>,
    /// One of each sort, with how often it was seen.
    pub violations: BTreeMap<String, (String, u64)>,
    /// How often each tool was acknowledged, refused, left unknown.
    pub tools: BTreeMap<&'static str, [u64; 3]>,
    /// What the server said when it could not serve, once each.
    pub excuses: BTreeMap<String, u64>,
}

impl Journal {
    pub fn note(&mut self, request_id: String, entry: Entry) {
        let counts = self.tools.entry(entry.tool).or_default();
        counts[match entry.outcome {
            Outcome::Acknowledged => 0,
            Outcome::Refused => 1,
            Outcome::Unknown => 2,
        }] += 1;
        self.entries.insert(request_id, entry);
    }

    pub fn violation(&mut self, what: String) {
        // a thousand that differ in a number are worth one line
        let sort: String =
            what.split(|c: char| c.is_ascii_hexdigit() || c == '-').filter(|part| !part.is_empty()).collect();
        self.violations.entry(sort).or_insert_with(|| (what, 0)).1 += 1;
    }

    pub fn violation_count(&self) -> u64 {
        self.violations.values().map(|(_, count)| count).sum()
    }

    pub fn excuse(&mut self, said: &str) {
        let error: serde_json::Value = serde_json::from_str(said).unwrap_or_default();
        let message = error["message"].as_str().or(error["error"]["message"].as_str()).unwrap_or(said);
        let hint = error["hint"].as_str().or(error["error"]["hint"].as_str()).unwrap_or("");
        // which file, how many bytes: of no use in a table
        let message: String = message.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
        *self.excuses.entry(format!("{} [{hint}]", message.replace("##", "#").replace("##", "#"))).or_default() += 1;
    }

    pub fn writes(change: &Change) -> bool {
        !matches!(change, Change::Nothing | Change::Get { .. } | Change::GetEntity)
    }

    /// Acknowledged, refused, unknown.
    pub fn totals(&self) -> [u64; 3] {
        self.tools.values().fold([0; 3], |sum, counts| std::array::from_fn(|i| sum[i] + counts[i]))
    }
}

/// What a tenant's clients know of their memory, to have something to work on.
#[derive(Debug, Default)]
pub struct Known {
    pub facts: Vec<Uuid>,
    pub rules: Vec<Uuid>,
    pub episodes: Vec<Uuid>,
    pub entities: Vec<Uuid>,
    /// Acknowledged as forgotten, and since when: not to be found any more.
    pub forgotten: HashMap<Uuid, Instant>,
}

/// Beyond this many the oldest are no longer worked on; they are still checked.
const WORKED_ON: usize = 400;

impl Known {
    pub fn of(&self, kind: Kind) -> &[Uuid] {
        match kind {
            Kind::Episode => &self.episodes,
            Kind::Fact => &self.facts,
            Kind::Rule => &self.rules,
        }
    }

    pub fn learn(&mut self, kind: Kind, id: Uuid) {
        let list = match kind {
            Kind::Episode => &mut self.episodes,
            Kind::Fact => &mut self.facts,
            Kind::Rule => &mut self.rules,
        };
        push(list, id);
    }

    pub fn learn_entity(&mut self, id: Uuid) {
        push(&mut self.entities, id);
    }
}

fn push(list: &mut Vec<Uuid>, id: Uuid) {
    if list.len() >= WORKED_ON {
        list.remove(0);
    }
    list.push(id);
}
