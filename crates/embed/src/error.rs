use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use butler_fetch::FetchError;

/// Why a text has no vector; each message ends with what the user can do about it. It can be cloned because one failed
/// load is the answer to everyone who was waiting for it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    #[error("the embedding model is not there: {0}")]
    Fetch(Arc<FetchError>),

    #[error(
        "there is no {path}: name a directory that holds model.safetensors and tokenizer.json with `--model-dir`, \
         or leave the option out and run `butler setup`, which fetches the model",
        path = path.display()
    )]
    Missing { path: PathBuf },

    #[error(
        "{path} is not the model's file: {why}. Put a good copy in its place, or leave out `--model-dir` \
         and run `butler setup`, which fetches the model",
        path = path.display()
    )]
    Damaged { path: PathBuf, why: String },

    #[error(
        "{path} is not the model's file any more: {why}. Delete {cache} and run `butler setup`, which fetches it anew",
        path = path.display(),
        cache = cache.display()
    )]
    DamagedCache { path: PathBuf, why: String, cache: PathBuf },

    #[error(
        "cannot read {path}: {source}. Make it readable for this user, or name another copy with `--model-dir`",
        path = path.display()
    )]
    Unreadable { path: PathBuf, source: Arc<io::Error> },

    #[error("cannot start an embedding thread: {source}. Raise the limit of processes (`ulimit -u`) and try again")]
    Threads { source: Arc<io::Error> },

    #[error("this text cannot be embedded: {why}. The engine goes on; please report the text")]
    Failed { why: String },

    #[error("the embedding engine has stopped; start the server again")]
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
