//! Calls a butler's tools, either through the server that runs on the data directory or in this process.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use butler_domain::TenantId;
use butler_host::access::Rights;
use butler_host::butler::Butler;
use butler_host::config::{self, Source};
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::instance::{self, Instance, create_data_dir};
use butler_host::session::SessionMemory;
use butler_host::spool;
use butler_memory::Caller;
use butler_memory::tool::{Answer, ErrorCode, ToolCall, ToolError};
use butler_server::client;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use super::Settings;
use crate::printer::Printer;
use crate::progress;

/// A server that is starting lets a call wait. The longest call is a consolidation by a slow model.
const CALL_TIMEOUT: Duration = Duration::from_secs(900);

pub struct ToolClient {
    route: Route,
    /// The butler's name, also if the command line names none.
    butler: String,
    tenant: Option<TenantId>,
}

enum Route {
    Server(Instance),
    InProcess { host: Arc<Host>, butler: Arc<Butler>, started: OnceCell<()>, quiet: bool },
}

impl ToolClient {
    /// Opens no database yet. The first call does, because it knows whether its tool needs the model.
    pub fn open(settings: &Settings) -> Result<Self, HostError> {
        let tenant = settings.tenant.clone();
        // A database named on this command line need not be that of the server.
        if let Some(instance) = instance::running(&settings.host.data_dir)
            && (settings.host.database_url.is_none() || settings.host.database_url == instance.database_url)
        {
            if settings.host.source != Source::Defaults && settings.host.source.clone().absolute() != instance.source {
                Printer::new(settings.quiet).note(format_args!(
                    "warning: --config and --roster are ignored, because the running server (process {}) answers and its \
                     configuration applies; to use them, restart the server with these options",
                    instance.pid
                ));
            }
            let butler = named(settings, &instance)?;
            return Ok(Self { route: Route::Server(instance), butler, tenant });
        }
        create_data_dir(&settings.host.data_dir)?;
        let host = Host::new(settings.host.clone())?;
        let butler = host.butler(settings.butler.as_deref())?.clone();
        let name = butler.name.to_string();
        let route = Route::InProcess { host, butler, started: OnceCell::new(), quiet: settings.quiet };
        Ok(Self { route, butler: name, tenant })
    }

    pub fn butler(&self) -> &str {
        &self.butler
    }

    /// Whether there are several butlers, so that the output should name the one it is about.
    pub fn is_one_of_several(&self) -> bool {
        match &self.route {
            Route::Server(instance) => instance.butlers.len() > 1,
            Route::InProcess { host, .. } => host.butlers().len() > 1,
        }
    }

    /// The server that answers the calls; `None` if they run in this process.
    pub fn server(&self) -> Option<&Instance> {
        match &self.route {
            Route::Server(instance) => Some(instance),
            Route::InProcess { .. } => None,
        }
    }

    /// Calls a tool for the tenant of the command line.
    pub async fn call(&self, tool: &str, mut arguments: Map<String, Value>) -> Result<Answer, ToolError> {
        if let Some(tenant) = &self.tenant {
            let context = arguments.entry("request_context").or_insert_with(|| json!({}));
            context["tenant_id"] = json!(tenant.as_str());
        }
        match &self.route {
            Route::Server(instance) => self.ask(instance, tool, arguments).await,
            Route::InProcess { host, butler, .. } => {
                let tool = butler.tools().get(tool).ok_or_else(|| no_tool(&self.butler, tool))?;
                let spec = tool.spec();
                let call = ToolCall::parse(spec, Caller::trusted().person(), arguments, host.redactor());
                self.start(spec.embeds).await.map_err(|error| refused(&error))?;
                let answer = host.call(butler, Rights::ALL, &**tool, call).await?;
                let flagged = answer.structured.get("metadata").is_some_and(|told| told["needs_inversion"] == true);
                if flagged && !spec.annotations.read_only {
                    self.invert(butler).await;
                }
                Ok(answer)
            }
        }
    }

    /// Sends `GET` to the server's REST API. It needs a running server.
    pub async fn get(&self, path: &str) -> Result<Value, HostError> {
        self.rest("GET", path, "").await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, HostError> {
        self.rest("POST", path, &body.to_string()).await
    }

    /// Starts memory in this process and stores what hooks could not deliver. A running server does that itself.
    pub async fn deliver_spooled(&self) -> Result<(), HostError> {
        if let Route::InProcess { host, .. } = &self.route {
            self.start(true).await?;
            spool::deliver(host).await;
        }
        Ok(())
    }

    /// Stops what this command started. The spool is delivered first, because there may be no server for a long time.
    pub async fn finish(&self) -> Result<(), HostError> {
        if let Route::InProcess { host, started, .. } = &self.route
            && started.initialized()
        {
            spool::deliver(host).await;
        }
        self.close().await
    }

    /// Stops what this command started, at once.
    pub async fn close(&self) -> Result<(), HostError> {
        match &self.route {
            Route::InProcess { host, started, .. } if started.initialized() => host.stop().await,
            _ => Ok(()),
        }
    }

    /// Inverts the rule now, because without a server no worker does. The mark is stored even if this fails.
    async fn invert(&self, butler: &Butler) {
        let Some(memory) = butler.memory().await else { return };
        let tenant = self.tenant.clone().unwrap_or_default();
        if let Err(error) = memory.invert_pending(Some(&tenant)).await {
            tracing::warn!(%error, "the rule is not a warning yet; `butler jobs run inversion` or the next sweep turns it into one");
        }
    }

    async fn start(&self, embeds: bool) -> Result<(), HostError> {
        let Route::InProcess { host, butler, started, quiet } = &self.route else { return Ok(()) };
        let start = || async { host.start_one(butler, embeds, progress::on_stderr(*quiet)).await };
        started.get_or_try_init(start).await.map(drop)
    }

    async fn ask(&self, server: &Instance, tool: &str, arguments: Map<String, Value>) -> Result<Answer, ToolError> {
        let params = json!({"name": tool, "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let path = format!("/butlers/{}/mcp", self.butler);
        let (status, answer) = exchange(server, "POST", &path, &request).await.map_err(|error| ToolError {
            hint: error.hint(),
            ..ToolError::new(ErrorCode::Unavailable, error.to_string())
        })?;
        parse_answer(status, answer)
    }

    async fn rest(&self, method: &str, path: &str, body: &str) -> Result<Value, HostError> {
        let Route::Server(server) = &self.route else {
            return Err(HostError::Usage {
                message: "this needs a running server".to_owned(),
                hint: Some("start it: butler serve".to_owned()),
            });
        };
        let (status, answer) = exchange(server, method, path, body).await?;
        if status < 300 { Ok(answer) } else { Err(HostError::Tool(rejected(status, &answer))) }
    }
}

impl SessionMemory for ToolClient {
    fn ready(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        async { self.start(true).await.map_err(|error| refused(&error)) }.boxed()
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> BoxFuture<'a, Result<Answer, ToolError>> {
        ToolClient::call(self, tool, arguments).boxed()
    }
}

/// The butler to use: the named one, the first of the given configuration, or the first of the server.
fn named(settings: &Settings, instance: &Instance) -> Result<String, HostError> {
    if let Some(name) = &settings.butler {
        return Ok(name.clone());
    }
    if settings.host.source != Source::Defaults {
        let first = config::load_all(&settings.host.source)?.into_iter().next();
        return Ok(first.map(|butler| butler.name).unwrap_or_default());
    }
    Ok(instance.butlers.first().cloned().unwrap_or_else(|| config::DEFAULT_NAME.to_owned()))
}

async fn exchange(server: &Instance, method: &str, path: &str, body: &str) -> Result<(u16, Value), HostError> {
    let unreachable = |reason: String| {
        HostError::Tool(ToolError {
            hint: Some("run `butler doctor`, and see the server's log".to_owned()),
            ..ToolError::new(
                ErrorCode::Unavailable,
                format!("the server at http://{} (process {}) does not respond: {reason}", server.address, server.pid),
            )
        })
    };
    let sent = client::send(server.address, method, path, server.secret(), body);
    let answer = tokio::time::timeout(CALL_TIMEOUT, sent)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        .map_err(|error| unreachable(error.to_string()))?;
    let body = serde_json::from_slice(&answer.body)
        .map_err(|_| unreachable(format!("HTTP {} without JSON", answer.status)))?;
    Ok((answer.status, body))
}

/// Extracts a tool's answer from the MCP response.
fn parse_answer(status: u16, mut answer: Value) -> Result<Answer, ToolError> {
    let mut result = answer["result"].take();
    if result.is_null() {
        return Err(rejected(status, &answer));
    }
    let text = result["content"][0]["text"].as_str().map(str::to_owned);
    if result["isError"] == true {
        let said: Value = serde_json::from_str(text.as_deref().unwrap_or_default()).unwrap_or_default();
        return Err(error_of(&said["error"], &said));
    }
    match result["structuredContent"].take() {
        Value::Object(structured) => Ok(Answer { structured, text }),
        _ => Err(ToolError::internal("the server's response contains no result")),
    }
}

/// An error of the transport: `{"error": {code, message, hint}}`, in either protocol.
fn rejected(status: u16, answer: &Value) -> ToolError {
    let error = &answer["error"];
    let mut rejected = error_of(&error["code"], error);
    if rejected.message.is_empty() {
        rejected.message = format!("the server responded with HTTP {status}");
    }
    rejected
}

fn error_of(code: &Value, said: &Value) -> ToolError {
    let code = code.as_str().and_then(ErrorCode::from_name).unwrap_or(ErrorCode::Internal);
    let text = |key: &str| said[key].as_str().map(str::to_owned);
    ToolError {
        hint: text("hint"),
        request_id: text("request_id"),
        ..ToolError::new(code, text("message").unwrap_or_default())
    }
}

fn refused(error: &HostError) -> ToolError {
    ToolError { hint: error.hint(), ..ToolError::new(ErrorCode::Unavailable, error.to_string()) }
}

fn no_tool(butler: &str, tool: &str) -> ToolError {
    let hint = "check with `butler config show` whether its memory module is enabled";
    ToolError {
        hint: Some(hint.to_owned()),
        ..ToolError::new(ErrorCode::NotFound, format!("butler {butler:?} has no tool {tool}"))
    }
}
