//! The environment of an LLM program that works on untrusted text. Whoever may store a memory may try to make the
//! program print its variables, so it gets only those it needs to run and to log in.

use std::ffi::OsString;

use crate::env::PROXIES;

const NAMES: [&str; 18] = [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TMPDIR",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    // Google Cloud's region for Claude on Vertex AI.
    "CLOUD_ML_REGION",
    // The keyring of a desktop, where some programs keep their login.
    "DBUS_SESSION_BUS_ADDRESS",
    // The proxy of Node.js programs.
    "NODE_USE_ENV_PROXY",
];
/// Locale, directories, and the variables of model providers.
const PREFIXES: [&str; 16] = [
    "LC_",
    "XDG_",
    "ANTHROPIC_",
    "CLAUDE_",
    "OPENAI_",
    "CODEX_",
    "GEMINI_",
    "GOOGLE_",
    "VERTEX_",
    "AWS_",
    "AZURE_",
    "OLLAMA_",
    "MISTRAL_",
    "GROQ_",
    "OPENROUTER_",
    "HF_",
];

/// The variables of this process that the program receives. `extra` names more.
pub fn allowed(extra: &[String]) -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| {
        name.to_str().is_some_and(|name| is_allowed(name) || extra.iter().any(|extra| extra == name))
    })
}

fn is_allowed(name: &str) -> bool {
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_what_it_needs_to_log_in_and_no_database() {
        for name in
            ["HOME", "PATH", "LC_ALL", "https_proxy", "NO_PROXY", "SSL_CERT_FILE", "CLAUDE_CONFIG_DIR", "AWS_REGION"]
        {
            assert!(is_allowed(name), "{name}");
        }
        for name in ["BUTLER_DATABASE_URL", "PGPASSWORD", "DATABASE_URL", "GITHUB_TOKEN", "HOMEPAGE", "SSH_AUTH_SOCK"] {
            assert!(!is_allowed(name), "{name}");
        }
    }
}
