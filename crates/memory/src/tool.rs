//! What a tool is: a specification, and a function that answers a call or says why not.

mod arguments;
mod call;
mod error;
mod right;
mod schema;
mod spec;
mod text;

use std::future::Future;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Call, Memory, MemoryError};

pub use call::ToolCall;
pub use error::{ErrorCode, ToolError};
pub use right::Right;
pub use spec::{Annotations, Instruction, ToolSpec, Topic};

/// Everything about one tool, written in the tool's own file. The schemas are derived from the types.
pub(crate) trait ToolDefinition: Send + Sync + 'static {
    /// Fields are plain values, which `butler_domain::validate` turns into types; `#[schemars(with = …)]` gives the type
    /// that clients see.
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema + Send;

    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    /// The command that a person types instead of the tool. Errors on the command line name it.
    const COMMAND: Option<&'static str> = None;
    const ANNOTATIONS: Annotations;
    /// The right that the caller's token needs.
    const RIGHT: Right;
    /// If not empty: any other value of the argument `action` needs [`Self::CHANGING_RIGHT`].
    const READING_ACTIONS: &'static [&'static str] = &[];
    const CHANGING_RIGHT: Right = Right::Admin;
    /// Whether the other actions are for persons only: for a token with the right, and never for a caller without a token.
    const ONLY_PERSONS_CHANGE: bool = false;
    /// Whether the profile `core` offers the tool: it is one of the few that an agent needs in every session.
    const CORE: bool = false;
    /// Whether a call embeds text. A command that runs the tool in its own process then loads the model first.
    const EMBEDS: bool = false;
    /// What the server's MCP instructions say about the tool.
    const INSTRUCTION: Option<Instruction> = None;
    /// Other names of arguments, each with the name that it stands for.
    const ALIASES: &'static [(&'static str, &'static str)] = &[];

    fn run(
        memory: &Memory,
        call: Call,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, MemoryError>> + Send;

    /// The answer as text; `None`: a short form of the JSON is the text.
    fn text(_output: &Self::Output) -> Option<String> {
        None
    }
}

/// A tool without its types, so that different tools fit into one list.
pub struct Tool {
    spec: Arc<ToolSpec>,
    run: for<'a> fn(&'a Memory, ToolCall) -> BoxFuture<'a, Result<Answer, ToolError>>,
}

/// What a tool returns.
pub struct Answer {
    pub structured: Map<String, Value>,
    /// `None`: the text is made of the structured answer.
    pub text: Option<String>,
}

impl Answer {
    /// The answer for a model: its own text, or a short form of the structured answer.
    pub fn as_text(&self) -> String {
        self.text.clone().unwrap_or_else(|| text::render(&self.structured))
    }
}

impl Tool {
    pub(crate) fn of<T: ToolDefinition>() -> Self {
        Self { spec: Arc::new(ToolSpec::of::<T>()), run: |memory, call| run::<T>(memory, call).boxed() }
    }

    /// What is known about the tool without calling it. Calls keep a reference to it.
    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    /// Runs a call of this tool; an answer and an error name its `request_id`.
    pub fn run<'a>(&self, memory: &'a Memory, call: ToolCall) -> BoxFuture<'a, Result<Answer, ToolError>> {
        (self.run)(memory, call)
    }
}

async fn run<T: ToolDefinition>(memory: &Memory, mut call: ToolCall) -> Result<Answer, ToolError> {
    let request_id = call.request_id.clone();
    // Before anything is validated, hashed, embedded or quoted in an error.
    let redacted = memory.redactor().redact_object(&mut call.arguments);
    let result = async {
        let context = call.context(memory)?;
        let input = arguments::parse(call.arguments, T::ALIASES)?;
        T::run(memory, context, input).await
    }
    .await;
    match result {
        Ok(output) => answer::<T>(&output, request_id, redacted),
        Err(error) => Err(ToolError { request_id, ..ToolError::from(error) }),
    }
}

fn answer<T: ToolDefinition>(
    output: &T::Output,
    request_id: Option<String>,
    redacted: usize,
) -> Result<Answer, ToolError> {
    let Ok(Value::Object(mut structured)) = serde_json::to_value(output) else {
        return Err(ToolError { request_id, ..ToolError::internal("the answer is not an object") });
    };
    if let Some(request_id) = request_id {
        structured.insert("request_id".to_owned(), Value::String(request_id));
    }
    if redacted > 0 && !T::ANNOTATIONS.read_only {
        structured.insert(schema::REDACTED.to_owned(), redacted.into());
    }
    Ok(Answer { structured, text: T::text(output) })
}
