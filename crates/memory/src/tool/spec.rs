//! What is known about a tool without calling it.

use serde_json::{Map, Value};

use super::{Right, ToolDefinition, schema};
use crate::fields;

/// The description of a tool. Every decision about a tool reads it here, never from a list of names.
pub struct ToolSpec {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// The command that a person types instead of the tool, such as `butler search`.
    pub command: Option<&'static str>,
    pub input_schema: Map<String, Value>,
    pub output_schema: Map<String, Value>,
    pub annotations: Annotations,
    /// The right that the caller's token needs.
    pub right: Right,
    /// If not empty: any other value of the argument `action` needs `changing_right`.
    pub reading_actions: &'static [&'static str],
    pub changing_right: Right,
    /// Whether only persons may use the actions that need `changing_right`.
    pub only_persons_change: bool,
    /// Whether the profile `core` offers the tool.
    pub core: bool,
    /// Whether a call embeds text, which needs the model.
    pub embeds: bool,
    /// Whether a repeated call with the same `idempotency_key` returns the first answer and writes nothing.
    pub takes_idempotency_key: bool,
    pub instruction: Option<Instruction>,
}

impl ToolSpec {
    pub(super) fn of<T: ToolDefinition>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            description: T::DESCRIPTION,
            command: T::COMMAND,
            input_schema: schema::input::<T::Input>(),
            output_schema: schema::output::<T::Output>(T::ANNOTATIONS.read_only),
            annotations: T::ANNOTATIONS,
            right: T::RIGHT,
            reading_actions: T::READING_ACTIONS,
            changing_right: T::CHANGING_RIGHT,
            only_persons_change: T::ONLY_PERSONS_CHANGE,
            core: T::CORE,
            embeds: T::EMBEDS,
            takes_idempotency_key: fields::of::<T::Input>().contains(&super::call::IDEMPOTENCY_KEY),
            instruction: T::INSTRUCTION,
        }
    }

    /// The output schema as clients list it: the keys and their types.
    pub fn brief_output_schema(&self) -> Map<String, Value> {
        schema::brief(&self.output_schema)
    }
}

/// The four behaviour hints of the MCP specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

impl Annotations {
    /// Changes nothing that a user notices. Counting a reference is not a change.
    pub const READ: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// Adds something and removes nothing.
    pub const ADD: Self = Self { read_only: false, destructive: false, idempotent: false, open_world: false };
    /// May replace or retire an existing memory.
    pub const REPLACE: Self = Self { read_only: false, destructive: true, idempotent: false, open_world: false };
    /// Adds something; a repeated call changes nothing more.
    pub const SETTLE: Self = Self { read_only: false, destructive: false, idempotent: true, open_world: false };
}

/// What the server's MCP instructions say about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    pub topic: Topic,
    pub text: &'static str,
}

/// The instructions are ordered by topic, in the order in which a session meets them, then by the order of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    SessionStart,
    Recall,
    Store,
    Feedback,
    Entities,
    Inspect,
}
