use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use butler_fetch::FetchError;

/// Why a text could not be embedded. Each message ends with what the user can do. The type is `Clone`, because all
/// waiting callers get the error of one failed load.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    #[error("the embedding model is missing: {0}")]
    Fetch(Arc<FetchError>),

    #[error(
        "{path} does not exist. Set `--model-dir` to a directory with model.safetensors and tokenizer.json, \
         or omit the option and run `butler setup`, which fetches the model",
        path = path.display()
    )]
    Missing { path: PathBuf },

    #[error(
        "{path} is damaged or belongs to another model: {why}. Replace it with an intact copy, or omit `--model-dir` \
         and run `butler setup`, which fetches the model",
        path = path.display()
    )]
    Damaged { path: PathBuf, why: String },

    #[error(
        "{path} is damaged: {why}. Delete {cache} and run `butler setup`, which fetches the model again",
        path = path.display(),
        cache = cache.display()
    )]
    DamagedCache { path: PathBuf, why: String, cache: PathBuf },

    #[error(
        "cannot read {path}: {source}. Make it readable for this user, or set `--model-dir` to another copy",
        path = path.display()
    )]
    Unreadable { path: PathBuf, source: Arc<io::Error> },

    #[error("cannot start an embedding thread: {source}. Raise the process limit (`ulimit -u`) and try again")]
    Threads { source: Arc<io::Error> },

    #[error("this text cannot be embedded: {why}. Other texts are not affected; please report this text")]
    Failed { why: String },

    #[error("the embedding engine has stopped; restart the server")]
    Stopped,
}

impl EmbedError {
    pub(crate) fn unreadable(path: &std::path::Path) -> impl Fn(io::Error) -> EmbedError + use<> {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::NotFound => EmbedError::Missing { path: path.clone() },
            _ => EmbedError::Unreadable { path: path.clone(), source: Arc::new(source) },
        }
    }
}
