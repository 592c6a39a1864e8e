//! all-MiniLM-L6-v2: a BERT of six layers, mean pooling, unit length.

mod arena;
mod attention;
mod dense;
mod forward;
mod kernel;
mod norm;
mod tokens;
mod weights;

use std::path::Path;

use rten_simd::ops::BitOps;
use rten_simd::{Isa, SimdOp};

pub use forward::Scratch;
pub(crate) use tokens::enough;

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

/// What sentence-transformers keeps of a text, the two special tokens included.
pub const MAX_TOKENS: usize = 256;

/// The model, ready to run; shared by all threads, each with its own [`Scratch`].
pub struct Model {
    tokens: tokens::Tokens,
    weights: weights::Weights,
}

impl Model {
    /// Loads the model of `dir`. It trusts the files: [`crate::locate_model`] verifies them.
    pub fn load(dir: &Path) -> Result<Model, EmbedError> {
        Ok(Model {
            tokens: tokens::Tokens::load(&dir.join(TOKENIZER))?,
            weights: weights::Weights::load(&dir.join(WEIGHTS))?,
        })
    }

    /// The token ids of `text`, special ones included, at most [`MAX_TOKENS`].
    pub fn token_ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        self.tokens.ids(text)
    }

    /// The vectors of `sequences` of token ids (1 to [`MAX_TOKENS`] each), in order, computed on the rayon pool of the
    /// calling thread: if that has one thread, on this thread alone.
    pub fn forward(&self, sequences: &[Vec<u32>], scratch: &mut Scratch) -> Vec<Vector> {
        forward::forward(&self.weights, scratch, sequences)
    }
}

/// Which instructions this processor computes with.
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
