//! The one path of a tool call, whichever way it entered the process: rights, start, run, answer.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use butler_memory::tool::{Answer, ErrorCode, ToolCall, ToolError};
use futures::FutureExt;

use super::Host;
use crate::access::Rights;
use crate::butler::Butler;
use crate::error::{HostError, unavailable};
use crate::module::HostTool;
use crate::telemetry::Span;

impl Host {
    /// Runs a call of one of the butler's tools. Every error names the `request_id` of the call.
    pub async fn call(
        &self,
        butler: &Butler,
        rights: Rights,
        tool: &dyn HostTool,
        call: ToolCall,
    ) -> Result<Answer, ToolError> {
        let request_id = call.request_id.clone();
        let outcome = match check_right(rights, &call) {
            Ok(()) => self.measured(butler, tool, call).await,
            Err(forbidden) => Err(forbidden),
        };
        outcome.map_err(|error| ToolError { request_id, ..error })
    }

    /// Counts the call, times it and records its span. The time includes the wait for the start.
    async fn measured(&self, butler: &Butler, tool: &dyn HostTool, call: ToolCall) -> Result<Answer, ToolError> {
        let (begun, started) = (std::time::Instant::now(), self.clock.now());
        let (name, request_id) = (call.spec.name, call.request_id.clone());
        let outcome = match self.ready(butler).await {
            Ok(()) => run(butler, tool, call).await,
            Err(error) => Err(error),
        };
        let took = begun.elapsed();
        let code = outcome.as_ref().err().map(|error| error.code);
        let error = code.map(ErrorCode::as_str);
        self.metrics.called(butler.name.as_str(), name, error, took);
        self.traces.record(|| Span { butler: butler.name.to_string(), tool: name, request_id, error, started, took });
        tracing::debug!(butler = %butler.name, tool = name, ?took, error, "called");
        if code == Some(ErrorCode::Unavailable) {
            self.report_trouble();
        }
        outcome
    }

    async fn ready(&self, butler: &Butler) -> Result<(), ToolError> {
        self.await_start().await?;
        match butler.trouble() {
            Some(error) => Err(not_started(butler, &error)),
            None => Ok(()),
        }
    }
}

/// A tool error, not a protocol error: a model reads it and tells the user.
fn check_right(rights: Rights, call: &ToolCall) -> Result<(), ToolError> {
    let needed = call.right();
    if call.lacks_person() {
        let hint = "use the dashboard, `butler review`, or a token with the right `admin`".to_owned();
        let message = "only a person decides this, and a caller without a token may be an agent";
        return Err(ToolError { hint: Some(hint), ..ToolError::new(ErrorCode::Forbidden, message) });
    }
    if rights.include(needed) {
        return Ok(());
    }
    let message = format!("{} needs the right `{needed}`; the token has {rights}", call.spec.name);
    Err(ToolError { hint: Some(needed.remedy()), ..ToolError::new(ErrorCode::Forbidden, message) })
}

/// Runs the tool. A call whose connection was lost is retried once if that is safe: the next connection leads to
/// whichever server serves now. A panic becomes an error, so that it neither hangs the client nor stops the server.
async fn run(butler: &Butler, tool: &dyn HostTool, call: ToolCall) -> Result<Answer, ToolError> {
    let (name, request_id) = (call.spec.name, call.request_id.clone());
    let attempts = async {
        let again = call.is_safe_to_retry().then(|| call.clone());
        match (tool.run(call).await, again) {
            (Err(error), Some(again)) if error.code == ErrorCode::Unavailable => tool.run(again).await,
            (outcome, _) => outcome,
        }
    };
    AssertUnwindSafe(attempts).catch_unwind().await.unwrap_or_else(|panic| {
        tracing::error!(butler = %butler.name, tool = name, request_id, panic = text_of(&*panic), "the tool panicked");
        let hint = "the server's log has the details; please report the bug";
        let message = format!("{name} failed because of a bug in the program");
        Err(ToolError { hint: Some(hint.to_owned()), ..ToolError::internal(message) })
    })
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default()
}

fn not_started(butler: &Butler, error: &HostError) -> ToolError {
    let hint = error.hint().unwrap_or_else(|| "the server keeps trying; `butler doctor` shows the cause".to_owned());
    unavailable(format!("the butler {:?} could not start: {error}", butler.name.as_str()), hint)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use butler_domain::TenantId;
    use butler_memory::tool::ToolSpec;
    use butler_memory::{Caller, CallerTenant};
    use futures::future::BoxFuture;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::config::Source;
    use crate::host::{HostOptions, Status};

    /// Stands in for a tool; counts its runs.
    struct Fake {
        spec: Arc<ToolSpec>,
        runs: AtomicUsize,
        outcome: fn(run: usize) -> Result<(), ErrorCode>,
    }

    impl HostTool for Fake {
        fn spec(&self) -> &Arc<ToolSpec> {
            &self.spec
        }

        fn run(&self, _: ToolCall) -> BoxFuture<'_, Result<Answer, ToolError>> {
            async {
                let run = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
                let answer = Answer { structured: Map::new(), text: None };
                (self.outcome)(run).map(|()| answer).map_err(|code| ToolError::new(code, "it failed"))
            }
            .boxed()
        }
    }

    struct World {
        host: Arc<Host>,
        tool: Fake,
        _dir: tempfile::TempDir,
    }

    impl World {
        /// A host that takes calls, with no database behind it.
        fn new(tool: &str, outcome: fn(run: usize) -> Result<(), ErrorCode>) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let host = Host::new(HostOptions {
                data_dir: dir.path().join("data"),
                cache_dir: dir.path().join("cache"),
                source: Source::Defaults,
                database_url: None,
                runtime_dir: None,
                model_dir: None,
            })
            .unwrap();
            host.status.send_replace(Status::Ready);
            let spec = Arc::clone(host.butler(None).unwrap().tools().get(tool).unwrap().spec());
            Self { host, tool: Fake { spec, runs: AtomicUsize::new(0), outcome }, _dir: dir }
        }

        async fn call(&self, rights: Rights, arguments: Value) -> Result<Answer, ToolError> {
            let arguments = arguments.as_object().unwrap().clone();
            let call = ToolCall::parse(&self.tool.spec, Caller::trusted(), arguments, self.host.redactor());
            self.host.call(&self.host.butler(None).unwrap(), rights, &self.tool, call).await
        }

        fn runs(&self) -> usize {
            self.tool.runs.load(Ordering::Relaxed)
        }

        /// The value of a metric's line for this tool, if there is one.
        fn counted(&self, metric: &str) -> Option<String> {
            let (text, tool) = (self.host.metrics_text(), format!("tool=\"{}\"", self.tool.spec.name));
            let line = text.lines().find(|line| line.starts_with(metric) && line.contains(&tool))?;
            line.rsplit_once(' ').map(|(_, value)| value.to_owned())
        }
    }

    #[tokio::test]
    async fn a_panic_becomes_an_internal_error_with_the_request_id_and_is_counted_once() {
        let world = World::new("memory_stats", |_| panic!("a bug"));
        let error = world.call(Rights::ALL, json!({"request_context": {"request_id": "r-1"}})).await.err().unwrap();
        assert_eq!((error.code, error.request_id.as_deref()), (ErrorCode::Internal, Some("r-1")));
        assert_eq!(error.message, "memory_stats failed because of a bug in the program");
        assert_eq!(world.runs(), 1, "a panic is not retried");
        assert_eq!(world.counted("butler_tool_calls_total").as_deref(), Some("1"));
        assert_eq!(world.counted("butler_tool_errors_total").as_deref(), Some("1"));
        assert!(world.call(Rights::ALL, json!({})).await.is_err(), "the server still takes calls");
    }

    #[tokio::test]
    async fn a_lost_connection_is_retried_once_and_the_call_is_counted_once() {
        let world = World::new("memory_stats", |run| if run == 1 { Err(ErrorCode::Unavailable) } else { Ok(()) });
        assert!(world.call(Rights::ALL, json!({})).await.is_ok());
        assert_eq!(world.runs(), 2);
        assert_eq!(world.counted("butler_tool_calls_total").as_deref(), Some("1"));
        assert_eq!(world.counted("butler_tool_errors_total"), None);

        let world = World::new("memory_stats", |_| Err(ErrorCode::Unavailable));
        assert_eq!(world.call(Rights::ALL, json!({})).await.err().unwrap().code, ErrorCode::Unavailable);
        assert_eq!(world.runs(), 2);
    }

    #[tokio::test]
    async fn only_a_call_that_is_safe_to_retry_is_retried() {
        let (bare, keyed) = (json!({"content": "c"}), json!({"content": "c", "idempotency_key": "k"}));
        for (tool, arguments, runs) in [
            ("memory_store_rule", &bare, 1),
            ("memory_store_rule", &keyed, 2),
            ("memory_mark_helpful", &json!({"request_context": {"idempotency_key": "k"}}), 1),
        ] {
            let world = World::new(tool, |_| Err(ErrorCode::Unavailable));
            assert!(world.call(Rights::ALL, arguments.clone()).await.is_err());
            assert_eq!(world.runs(), runs, "{tool} {arguments}");
        }
        let world = World::new("memory_stats", |_| Err(ErrorCode::InvalidArgument));
        assert!(world.call(Rights::ALL, json!({})).await.is_err());
        assert_eq!(world.runs(), 1, "only a lost connection is retried");
    }

    #[tokio::test]
    async fn an_agent_without_a_token_cannot_approve_what_it_was_talked_into() {
        let world = World::new("memory_review", |_| Ok(()));
        for action in ["approve", "Approve", "reject", "x"] {
            let error = world.call(Rights::ALL, json!({ "action": action })).await.err().unwrap();
            assert_eq!(error.code, ErrorCode::Forbidden, "{action}");
        }
        assert!(world.call(Rights::ALL, json!({})).await.is_ok());
        assert_eq!(world.runs(), 1);
        // `butler mcp --tenant`
        let fixed = Caller { tenant: CallerTenant::Token(TenantId::default()), ..Caller::trusted() };
        let approve = json!({"action": "approve"}).as_object().unwrap().clone();
        assert!(ToolCall::parse(&world.tool.spec, fixed.clone(), approve, world.host.redactor()).lacks_person());
        for caller in [Caller { has_token: true, ..fixed }, Caller::trusted().person()] {
            let arguments = json!({"action": "approve"}).as_object().unwrap().clone();
            let call = ToolCall::parse(&world.tool.spec, caller, arguments, world.host.redactor());
            assert!(!call.lacks_person());
            assert!(check_right(Rights { admin: false, ..Rights::ALL }, &call).is_err());
            assert!(check_right(Rights::ALL, &call).is_ok());
        }
    }

    #[tokio::test]
    async fn a_call_without_the_right_is_refused_before_the_tool_runs() {
        let world = World::new("memory_run_consolidation", |_| Ok(()));
        let rights = Rights { admin: false, ..Rights::ALL };
        let error = world.call(rights, json!({"request_context": {"request_id": 7}})).await.err().unwrap();
        assert_eq!((error.code, error.request_id.as_deref()), (ErrorCode::Forbidden, Some("7")));
        assert!(error.hint.unwrap().contains("--rights read,write,admin"));
        assert_eq!(world.runs(), 0);
    }
}
