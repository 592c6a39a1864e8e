//! Exports traces of tool calls to an OpenTelemetry collector, over OTLP/HTTP as JSON. The environment or butler.toml
//! enables it. If the collector is unreachable, its spans are lost and the log gets one line; calls are not affected.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use butler_domain::Timestamp;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::http::header::CONTENT_TYPE;
use hyper::http::{Method, Request, Uri};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::env;
use crate::outbound::Outbound;

/// The spans of a busy second. If the queue is full, further spans are dropped.
const QUEUE: usize = 4096;
const BATCH: usize = 512;
/// How long a batch waits for more spans.
const BATCH_DELAY: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(5);
/// The collector's response appears only in the log, so more is not needed.
const MAX_RESPONSE_BYTES: usize = 16 * 1024;
/// How long the shutdown waits for the last batch.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// One tool call.
#[derive(Debug, Clone)]
pub struct Span {
    pub butler: String,
    pub tool: &'static str,
    pub request_id: Option<String>,
    pub error: Option<&'static str>,
    pub started: Timestamp,
    pub took: Duration,
}

#[derive(Default)]
pub struct Traces {
    /// The collector from the configuration.
    endpoint: Option<String>,
    exporter: Mutex<Option<Exporter>>,
}

struct Exporter {
    queue: mpsc::Sender<Span>,
    task: JoinHandle<()>,
}

impl Traces {
    pub fn new(endpoint: Option<String>) -> Self {
        Self { endpoint, exporter: Mutex::default() }
    }

    /// Starts exporting if the environment or the configuration names a collector. Must run inside a Tokio runtime.
    pub fn start(&self) {
        let variable =
            env::var(env::OTLP_ENDPOINT).map(|value| (value.to_string_lossy().into_owned(), env::OTLP_ENDPOINT));
        let configured = || Some((self.endpoint.clone()?, "telemetry.otlp_endpoint"));
        let Some((endpoint, named)) = variable.or_else(configured) else { return };
        let url = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
        match Collector::new(&url) {
            Ok(collector) => {
                let (queue, spans) = mpsc::channel(QUEUE);
                let task = tokio::spawn(send_all(collector, spans));
                *self.exporter() = Some(Exporter { queue, task });
            }
            Err(problem) => tracing::error!("cannot export traces: {named} {problem}"),
        }
    }

    fn exporter(&self) -> std::sync::MutexGuard<'_, Option<Exporter>> {
        self.exporter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a span. The closure runs only if traces are exported.
    pub fn record(&self, span: impl FnOnce() -> Span) {
        if let Some(exporter) = &*self.exporter() {
            let _ = exporter.queue.try_send(span());
        }
    }

    /// Sends the remaining spans and stops.
    pub async fn stop(&self) {
        let exporter = self.exporter().take();
        if let Some(Exporter { queue, task }) = exporter {
            drop(queue);
            let _ = tokio::time::timeout(FLUSH_TIMEOUT, task).await;
        }
    }
}

async fn send_all(collector: Collector, mut spans: mpsc::Receiver<Span>) {
    let mut failing = false;
    while let Some(first) = spans.recv().await {
        let mut batch = vec![first];
        let more = async {
            while batch.len() < BATCH {
                match spans.recv().await {
                    Some(span) => batch.push(span),
                    None => break,
                }
            }
        };
        let _ = tokio::time::timeout(BATCH_DELAY, more).await;
        match collector.send(&document(&batch)).await {
            Ok(()) => failing = false,
            // Log one line until the collector is reachable again.
            Err(problem) if !failing => {
                tracing::warn!(url = %collector.url, problem, "cannot send traces");
                failing = true;
            }
            Err(_) => {}
        }
    }
}

struct Collector {
    client: Outbound,
    url: Uri,
}

impl Collector {
    fn new(url: &str) -> Result<Self, String> {
        let url: Uri = url
            .parse()
            .ok()
            .filter(|url: &Uri| matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some())
            .ok_or_else(|| format!("is {url:?}, which is not an http or https URL"))?;
        Ok(Self { client: Outbound::to(&url)?, url })
    }

    async fn send(&self, document: &Value) -> Result<(), String> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(document.to_string())))
            .map_err(|error| error.to_string())?;
        let exchange = async {
            let answer = self.client.request(request).await.map_err(|error| error.to_string())?;
            let status = answer.status();
            // Read the whole body, so that the connection can be reused.
            let body = Limited::new(answer.into_body(), MAX_RESPONSE_BYTES).collect().await;
            let text = body.map(|body| String::from_utf8_lossy(&body.to_bytes()).into_owned()).unwrap_or_default();
            if status.is_success() { Ok(()) } else { Err(format!("{status}: {}", text.trim())) }
        };
        tokio::time::timeout(TIMEOUT, exchange).await.unwrap_or_else(|_| Err("no response in time".to_owned()))
    }
}

fn document(spans: &[Span]) -> Value {
    let resource =
        json!({"attributes": [text("service.name", "butler"), text("service.version", env!("CARGO_PKG_VERSION"))]});
    let spans: Vec<Value> = spans.iter().map(encode).collect();
    json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "butler"}, "spans": spans}]}]})
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn encode(span: &Span) -> Value {
    const SERVER: u8 = 2;
    const ERROR: u8 = 2;
    let started = span.started.timestamp_nanos_opt().unwrap_or_default();
    let ended = started.saturating_add(i64::try_from(span.took.as_nanos()).unwrap_or(i64::MAX));
    let mut attributes = vec![text("butler.name", &span.butler), text("butler.tool", span.tool)];
    attributes.extend(span.request_id.as_deref().map(|id| text("request_id", id)));
    attributes.extend(span.error.map(|code| text("error.type", code)));
    let status = span.error.map_or_else(|| json!({}), |code| json!({"code": ERROR, "message": code}));
    let (trace, id) = (Uuid::new_v4().simple().to_string(), Uuid::new_v4().simple().to_string());
    json!({"traceId": trace, "spanId": id[..16], "name": span.tool, "kind": SERVER, "startTimeUnixNano": started.to_string(),
           "endTimeUnixNano": ended.to_string(), "attributes": attributes, "status": status})
}
