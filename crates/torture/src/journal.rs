//! What the clients were told. The database is compared with it.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use serde_json::Value;
use uuid::Uuid;

/// The kind of a memory.
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

/// The change that a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// No change: a query.
    Nothing,
    /// No change: reads a memory that is known to exist.
    Get {
        kind: Kind,
    },
    /// No change: reads an entity that is known to exist.
    GetEntity,
    /// `content` is unique to this call, unless the call stores a forgotten memory again. The ids are known once the call
    /// is acknowledged.
    Store {
        kind: Kind,
        content: String,
        id: Option<Uuid>,
        superseded: Option<Uuid>,
    },
    /// Stores a fact or rule from untrusted text, which must wait for approval. `content` is unique to this call.
    Propose {
        kind: Kind,
        content: String,
        id: Option<Uuid>,
    },
    /// Approves or rejects a proposal. `memory` is what an approval stored.
    Decide {
        kind: Kind,
        proposal: Uuid,
        approve: bool,
        memory: Option<Uuid>,
        changed: bool,
    },
    /// Resolves a conflict of the facts a and b. `content` is that of a merge, and unique to this call.
    Resolve {
        conflict: Uuid,
        sides: [Uuid; 2],
        resolution: &'static str,
        content: Option<String>,
    },
    /// `name` is unique to this call.
    RegisterPredicate {
        name: String,
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
    /// `key` is unique to this call.
    UpdateEntity {
        id: Uuid,
        key: String,
    },
    MergeEntities {
        source: Uuid,
        target: Uuid,
    },
    /// Undoes the merge of this entity into another one.
    UnmergeEntity {
        id: Uuid,
    },
    ForgetEntity {
        id: Uuid,
        erase: bool,
    },
    /// Starts a background job, which may change anything.
    Work,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub tenant: usize,
    pub tool: &'static str,
    pub outcome: Outcome,
    pub change: Change,
}

/// The calls of all clients and rounds.
#[derive(Debug, Default)]
pub struct Journal {
    /// By request id.
    pub entries: HashMap<String, Entry>,
    /// Answers that a known memory was not found: the ids in the call, and the answer. Only an erasure allows it.
    pub missing: Vec<(Vec<Uuid>, String)>,
    /// One example of each kind of violation, and their number.
    pub violations: BTreeMap<String, (String, u64)>,
    /// The number of acknowledged, refused and unknown calls of each tool.
    pub tools: BTreeMap<&'static str, [u64; 3]>,
    /// The reasons the server gave when it was unavailable, and their number.
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
        // violations that differ only in numbers and ids are one kind
        let kind: String =
            what.split(|c: char| c.is_ascii_hexdigit() || c == '-').filter(|part| !part.is_empty()).collect();
        self.violations.entry(kind).or_insert_with(|| (what, 0)).1 += 1;
    }

    pub fn violation_count(&self) -> u64 {
        self.violations.values().map(|(_, count)| count).sum()
    }

    pub fn excuse(&mut self, said: &str) {
        let error: serde_json::Value = serde_json::from_str(said).unwrap_or_default();
        let message = error["message"].as_str().or(error["error"]["message"].as_str()).unwrap_or(said);
        let hint = error["hint"].as_str().or(error["error"]["hint"].as_str()).unwrap_or("");
        // numbers (of bytes, of files) would make every reason different
        let message: String = message.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
        *self.excuses.entry(format!("{} [{hint}]", message.replace("##", "#").replace("##", "#"))).or_default() += 1;
    }

    pub fn writes(change: &Change) -> bool {
        !matches!(change, Change::Nothing | Change::Get { .. } | Change::GetEntity)
    }

    /// Acknowledged, refused and unknown calls.
    pub fn totals(&self) -> [u64; 3] {
        self.tools.values().fold([0; 3], |sum, counts| std::array::from_fn(|i| sum[i] + counts[i]))
    }
}

/// The memories a tenant's clients know, so that calls can refer to them.
#[derive(Debug, Default)]
pub struct Known {
    pub facts: Vec<Uuid>,
    pub rules: Vec<Uuid>,
    pub episodes: Vec<Uuid>,
    pub entities: Vec<Uuid>,
    /// Entities that were merged into another one.
    pub merged: Vec<Uuid>,
    /// The proposals of the last list.
    pub proposals: Vec<(Kind, Uuid)>,
    /// The open conflicts of the last list.
    pub conflicts: Vec<OpenConflict>,
    /// What the known facts and rules state: the arguments that a call needs to store the same again.
    pub statements: HashMap<Uuid, Value>,
    /// What the forgotten facts and rules stated.
    pub forgotten_statements: Vec<(Kind, Value)>,
    /// When each forgotten memory was acknowledged as forgotten. No later search may find it.
    pub forgotten: HashMap<Uuid, Instant>,
}

/// A conflict, and its facts a and b.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenConflict {
    pub id: Uuid,
    pub sides: [Uuid; 2],
}

/// Memories of a kind that calls refer to. Older ones are still checked.
const MAX_KNOWN: usize = 400;

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
        if let Some(oldest) = push(list, id) {
            self.statements.remove(&oldest);
        }
    }

    pub fn learn_entity(&mut self, id: Uuid) {
        push(&mut self.entities, id);
    }

    pub fn learn_merge(&mut self, source: Uuid) {
        push(&mut self.merged, source);
    }

    /// From now on no search may find the memory, and a call may store its statement again.
    pub fn forget(&mut self, kind: Kind, id: Uuid, changed: bool) {
        self.forgotten.insert(id, Instant::now());
        if let Some(statement) = self.statements.remove(&id)
            && changed
        {
            push(&mut self.forgotten_statements, (kind, statement));
        }
    }

    /// What a forgotten memory of this kind stated. Each is returned once: several calls at the same time would make it
    /// uncertain which of them stored the statement before it was forgotten again.
    pub fn take_forgotten(&mut self, kind: Kind) -> Option<Value> {
        let place = self.forgotten_statements.iter().position(|(of, _)| *of == kind)?;
        Some(self.forgotten_statements.swap_remove(place).1)
    }
}

/// Adds an element to a full list in place of the oldest, which is returned.
fn push<T>(list: &mut Vec<T>, new: T) -> Option<T> {
    let oldest = (list.len() >= MAX_KNOWN).then(|| list.remove(0));
    list.push(new);
    oldest
}
