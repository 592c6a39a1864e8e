//! all-MiniLM-L6-v2: a BERT with six layers, mean pooling and normalisation to length 1.

mod arena;
mod attention;
mod dense;
mod forward;
mod kernel;
mod norm;
mod packed;
mod tokens;
mod weights;

use std::path::Path;

use rten_simd::ops::BitOps;
use rten_simd::{Isa, SimdOp};

pub use forward::Scratch;
pub(crate) use tokens::model_prefix;

use crate::Vector;
use crate::error::EmbedError;
use crate::locate::{TOKENIZER, WEIGHTS};

// The network's shape, as in the model's config.json.
const LAYERS: usize = 6;
const HEADS: usize = 12;
const HIDDEN: usize = crate::DIMENSIONS;
const INNER: usize = 1536;
const POSITIONS: usize = 512;
const VOCABULARY: usize = 30522;

/// The length to which sentence-transformers truncates a text, including the two special tokens.
pub const MAX_TOKENS: usize = 256;

/// The loaded model. All threads share it, and each has its own [`Scratch`].
pub struct Model {
    tokens: tokens::Tokens,
    weights: weights::Weights,
}

impl Model {
    /// Loads the model in `dir`, which [`crate::locate_model`] has verified.
    pub fn load(dir: &Path) -> Result<Model, EmbedError> {
        Ok(Model {
            tokens: tokens::Tokens::load(&dir.join(TOKENIZER))?,
            weights: weights::Weights::load(&dir.join(WEIGHTS))?,
        })
    }

    /// The token ids of `text`, including the special tokens, at most [`MAX_TOKENS`].
    pub fn token_ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        self.tokens.ids(text)
    }

    /// Whether `word`, in lower case, is one token.
    pub fn is_token(&self, word: &str) -> bool {
        self.tokens.contains(word)
    }

    /// Computes the vectors of sequences of 1 to [`MAX_TOKENS`] token ids, in order. With `parallel`, all threads of
    /// the calling thread's rayon pool take part, otherwise only the calling thread.
    pub fn forward(&self, sequences: &[Vec<u32>], scratch: &mut Scratch, parallel: bool) -> Vec<Vector> {
        forward::forward(&self.weights, scratch, sequences, parallel)
    }
}

/// The SIMD instruction set that is used on this processor.
pub fn instructions() -> &'static str {
    struct Lanes;

    impl SimdOp for Lanes {
        type Output = usize;

        fn eval<I: Isa>(self, isa: I) -> usize {
            isa.f32().len()
        }
    }

    match kernel::run(Lanes) {
        16 => "AVX-512",
        8 => "AVX2",
        _ if cfg!(target_arch = "aarch64") => "NEON",
        _ => "portable",
    }
}

#[cfg(test)]
mod tests;
