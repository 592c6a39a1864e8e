//! all-MiniLM-L6-v2: a BERT of six layers, mean pooling, unit length.

mod attention;
mod forward;
mod ops;
mod tokens;
mod weights;

use std::path::Path;

use rten_gemm::GemmExecutor;

pub use forward::Scratch;
pub(crate) use tokens::enough;

use crate::Vector;
use crate::error::EmbedError;

// The network's shape, as in the model's config.json.
const LAYERS: usize = 6;
const HEADS: usize = 12;
const HIDDEN: usize = crate::DIMENSIONS;
const INNER: usize = 1536;
const QKV: usize = 3 * HIDDEN;
const VOCABULARY: usize = 30522;

/// What sentence-transformers keeps of a text, the two special tokens included.
pub const MAX_TOKENS: usize = 256;

/// The model, ready to run; shared by all threads, each with its own [`Scratch`].
pub struct Model {
    tokens: tokens::Tokens,
    weights: weights::Weights,
    gemm: GemmExecutor,
}

impl Model {
    /// Loads `model.safetensors` and `tokenizer.json` of `dir`. It trusts them: [`crate::locate_model`] verifies.
    pub fn load(dir: &Path) -> Result<Model, EmbedError> {
        let gemm = GemmExecutor::new();
        Ok(Model {
            tokens: tokens::Tokens::load(&dir.join("tokenizer.json"))?,
            weights: weights::Weights::load(&dir.join(crate::locate::WEIGHTS), &gemm)?,
            gemm,
        })
    }

    /// The token ids of `text`, special ones included, at most [`MAX_TOKENS`].
    pub fn token_ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        self.tokens.ids(text)
    }

    /// The vectors of `sequences` of token ids, in order, computed on the rayon pool of the calling thread: with one
    /// thread there, on this thread alone.
    pub fn forward(&self, sequences: &[Vec<u32>], scratch: &mut Scratch) -> Result<Vec<Vector>, EmbedError> {
        forward::forward(&self.weights, &self.gemm, scratch, sequences)
            .map_err(|why| EmbedError::Compute { why: why.to_string() })
    }

    /// Which of the library's kernels this processor gets.
    pub fn kernel(&self) -> &str {
        self.gemm.kernel_name()
    }
}
