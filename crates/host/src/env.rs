//! Every environment variable that the program reads.

/// The data directory: the private PostgreSQL with its data, and the state of a running server.
pub const DATA_DIR: &str = "BUTLER_DATA_DIR";
/// The butler.toml of a single butler.
pub const CONFIG: &str = "BUTLER_CONFIG";
/// A directory with one subdirectory per butler, each with a butler.toml.
pub const ROSTER: &str = "BUTLER_ROSTER";
/// The URL of an external PostgreSQL, used instead of the private one.
pub const DATABASE_URL: &str = "BUTLER_DATABASE_URL";
/// A directory with an unpacked PostgreSQL, for machines without network access.
pub const RUNTIME_DIR: &str = "BUTLER_RUNTIME_DIR";
/// A directory with an unpacked embedding model, for machines without network access.
pub const MODEL_DIR: &str = "BUTLER_MODEL_DIR";
/// The address `serve` listens on.
pub const LISTEN: &str = "BUTLER_LISTEN";
/// Host names under which clients may address `serve`, separated by commas.
pub const ALLOWED_HOSTS: &str = "BUTLER_ALLOWED_HOSTS";
/// The file with the certificate for HTTPS.
pub const TLS_CERT: &str = "BUTLER_TLS_CERT";
/// The file with the certificate's private key.
pub const TLS_KEY: &str = "BUTLER_TLS_KEY";
/// Maximum number of requests per second for each token.
pub const RATE_LIMIT: &str = "BUTLER_RATE_LIMIT";
/// The log filter, in the syntax of `tracing` (`info`, `butler=debug,butler_store=trace`); overrides `-v` and `-q`.
pub const LOG: &str = "BUTLER_LOG";
/// The log format: `text` or `json`.
pub const LOG_FORMAT: &str = "BUTLER_LOG_FORMAT";
/// Why a session was started (`trigger`, `schedule:consolidation`, …), set for the LLM program and for the hooks that
/// it runs.
pub const TRIGGER_SOURCE: &str = "BUTLER_TRIGGER_SOURCE";
/// The id of the session that a program was started for.
pub const SESSION_ID: &str = "BUTLER_SESSION_ID";
/// The session's MCP configuration file.
pub const MCP_CONFIG: &str = "BUTLER_MCP_CONFIG";
/// The directory of Claude Code's configuration, if it is not in the home directory.
pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
/// Codex's directory, if it is not `.codex` in the home directory.
pub const CODEX_HOME: &str = "CODEX_HOME";
/// Cline's file with MCP servers, if it is not in the home directory.
pub const CLINE_MCP_SETTINGS_PATH: &str = "CLINE_MCP_SETTINGS_PATH";
/// The XDG directory for configuration files.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The URL of an OpenTelemetry collector that accepts traces over OTLP/HTTP, for example `http://127.0.0.1:4318`.
pub const OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// The HTTP proxies for requests to LLM endpoints and collectors, with the meaning that curl gives them. hyper-util
/// reads these variables.
pub const PROXIES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];
/// A file with a number of seconds by which the process sees its clock shifted. For tests only.
pub const CLOCK_OFFSET_FILE: &str = "BUTLER_CLOCK_OFFSET_FILE";
/// Any value disables colours (no-color.org).
pub const NO_COLOR: &str = "NO_COLOR";
/// The XDG directory for data files.
pub const XDG_DATA_HOME: &str = "XDG_DATA_HOME";

/// Whether a text can be the name of a variable.
pub fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(plain)
}

/// The value of a variable that is set and not empty.
pub fn var(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Checks a name under `env` of a runtime: it must be valid, and the variable must not give access to the database.
pub fn check_name(name: &str) -> Result<(), String> {
    if !is_name(name) {
        return Err(format!(
            "contains {name:?}; expected the name of an environment variable, for example \"LLM_KEY\""
        ));
    }
    if name.starts_with("BUTLER_") || name.starts_with("PG") || name == "DATABASE_URL" {
        return Err(format!(
            "contains {name:?}; variables of butler and PostgreSQL never reach the program, because they give access to \
             the database"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_variables_have_valid_names() {
        assert_eq!(check_name("LLM_KEY"), Ok(()));
        for name in ["", "A B", "A=B", "1A", "BUTLER_LISTEN", "PGPASSWORD", "DATABASE_URL", "LLM_*"] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
