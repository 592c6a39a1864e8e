//! Every environment variable the program reads, once.

/// Where the private PostgreSQL, its data and the state of a running server live.
pub const DATA_DIR: &str = "BUTLER_DATA_DIR";
/// The butler.toml of a single butler.
pub const CONFIG: &str = "BUTLER_CONFIG";
/// A folder with one folder a butler.
pub const ROSTER: &str = "BUTLER_ROSTER";
/// A PostgreSQL of the user's own instead of the private one.
pub const DATABASE_URL: &str = "BUTLER_DATABASE_URL";
/// An unpacked PostgreSQL, for machines without network.
pub const RUNTIME_DIR: &str = "BUTLER_RUNTIME_DIR";
/// An unpacked embedding model, for machines without network.
pub const MODEL_DIR: &str = "BUTLER_MODEL_DIR";
/// The address `serve` listens on.
pub const LISTEN: &str = "BUTLER_LISTEN";
/// Names under which clients may address `serve`, with commas between them.
pub const ALLOWED_HOSTS: &str = "BUTLER_ALLOWED_HOSTS";
/// The certificate and the private key of HTTPS.
pub const TLS_CERT: &str = "BUTLER_TLS_CERT";
pub const TLS_KEY: &str = "BUTLER_TLS_KEY";
/// Requests a second of one token.
pub const RATE_LIMIT: &str = "BUTLER_RATE_LIMIT";
/// What is logged, in the syntax of tracing's filters (`info`, `butler=debug,store=trace`); wins over `-v` and `-q`.
pub const LOG: &str = "BUTLER_LOG";
/// `text` or `json`.
pub const LOG_FORMAT: &str = "BUTLER_LOG_FORMAT";
/// Why a session was started (`trigger`, `schedule:consolidation`, …): told to the program that is the LLM, and to the
/// hooks inside it.
pub const TRIGGER_SOURCE: &str = "BUTLER_TRIGGER_SOURCE";
/// The session a program was started for.
pub const SESSION_ID: &str = "BUTLER_SESSION_ID";
/// The file with the MCP servers of the session.
pub const MCP_CONFIG: &str = "BUTLER_MCP_CONFIG";
/// Where Claude Code keeps its configuration, if not in the home directory.
pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
/// Where settings go by the XDG convention.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// Where an OpenTelemetry collector takes traces (OTLP/HTTP), as in `http://127.0.0.1:4318`.
pub const OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// The proxies that requests to an LLM's endpoint and to a collector go through, as curl understands them; read by
/// hyper-util.
pub const PROXIES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];
/// Any value: no colours (no-color.org).
pub const NO_COLOR: &str = "NO_COLOR";
/// Where data goes by the XDG convention.
pub const XDG_DATA_HOME: &str = "XDG_DATA_HOME";

/// A variable that is set and not empty.
pub fn var(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
