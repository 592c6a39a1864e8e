use std::path::PathBuf;

/// Why a text has no vector. Every message ends with what to do about it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    #[error("x")]
    Unreadable { path: PathBuf, #[source] source: std::sync::Arc<std::io::Error> },
    #[error("damaged {path}: {why}")]
    Damaged { path: PathBuf, why: String },
    #[error("tok {why}")]
    Tokenize { why: String },
    #[error("compute {why}")]
    Compute { why: String },
}
