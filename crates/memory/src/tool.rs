//! What a tool is: a name, two schemas, and a call that answers or says why not.

mod error;
mod schema;

use std::future::Future;
use std::marker::PhantomData;

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::call::{parse, request_id_of};
use crate::{Call, Caller, Memory, MemoryError};

pub use error::{ErrorCode, ToolError};

pub struct ToolSpec {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub input_schema: Map<String, Value>,
    pub output_schema: Map<String, Value>,
    pub annotations: Annotations,
}

/// The four hints of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

impl Annotations {
    /// Changes nothing a user would notice; counting a reference is not a change.
    pub const READ: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// Adds, and takes nothing away.
    pub const ADD: Self = Self { read_only: false, destructive: false, idempotent: false, open_world: false };
    /// May replace or retire what was there before.
    pub const REPLACE: Self = Self { read_only: false, destructive: true, idempotent: false, open_world: false };
    /// The same again changes nothing more.
    pub const SETTLE: Self = Self { read_only: false, destructive: false, idempotent: true, open_world: false };
}

pub struct Answer {
    pub structured: Map<String, Value>,
    /// `None`: the JSON itself is the text.
    pub text: Option<String>,
}

/// What the host sees.
pub trait Tool: Send + Sync + 'static {
    fn spec(&self) -> ToolSpec;

    fn call<'a>(
        &'a self,
        memory: &'a Memory,
        caller: &'a Caller,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>>;
}

/// What a tool's file writes: types in, types out. The schemas are those of the types.
pub(crate) trait Typed: Send + Sync + 'static {
    /// Fields are plain values, turned into types by `butler_domain::validate`; `#[schemars(with = …)]` says what they should be.
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema + Send;

    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const ANNOTATIONS: Annotations;
    /// Other names of arguments, and the argument meant.
    const ALIASES: &'static [(&'static str, &'static str)] = &[];

    fn run(
        memory: &Memory,
        call: Call,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, MemoryError>> + Send;

    fn text(_output: &Self::Output) -> Option<String> {
        None
    }
}

pub(crate) fn boxed<T: Typed>() -> Box<dyn Tool> {
    Box::new(Typeless(PhantomData::<T>))
}

struct Typeless<T>(PhantomData<T>);

impl<T: Typed> Tool for Typeless<T> {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: T::NAME,
            title: T::TITLE,
            description: T::DESCRIPTION,
            input_schema: schema::input::<T::Input>(),
            output_schema: schema::output::<T::Output>(),
            annotations: T::ANNOTATIONS,
        }
    }

    fn call<'a>(
        &'a self,
        memory: &'a Memory,
        caller: &'a Caller,
        mut args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        async move {
            let request_id = request_id_of(&args);
            let result = async {
                let call = Call::take(memory, caller, &mut args)?;
                let input = parse(args, T::ALIASES)?;
                T::run(memory, call, input).await
            }
            .await;
            match result {
                Ok(output) => answer::<T>(&output, request_id),
                Err(error) => Err(ToolError { request_id, ..ToolError::from(error) }),
            }
        }
        .boxed()
    }
}

fn answer<T: Typed>(output: &T::Output, request_id: Option<String>) -> Result<Answer, ToolError> {
    let Ok(Value::Object(mut structured)) = serde_json::to_value(output) else {
        return Err(ToolError::internal("the answer is not an object"));
    };
    if let Some(request_id) = request_id {
        structured.insert("request_id".to_owned(), Value::String(request_id));
    }
    Ok(Answer { structured, text: T::text(output) })
}
