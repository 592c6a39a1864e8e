//! The weights as the forward pass wants them: the layers' matrices packed once for the processor's kernel, the word
//! table left in the file and read by row.

use std::fs::File;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};
use rten_gemm::{GemmExecutor, PackedBMatrix};
use rten_tensor::Matrix;
use safetensors::{Dtype, SafeTensors};

use super::ops::Norm;
use super::{HEADS, HIDDEN, INNER, LAYERS, MAX_TOKENS, VOCABULARY};
use crate::error::EmbedError;

/// Size in bytes of one row of the word table.
const ROW_BYTES: usize = HIDDEN * size_of::<f32>();

/// A dense layer: `y = x · matrix + bias`.
pub struct Dense {
    pub matrix: PackedBMatrix<f32>,
    pub bias: Vec<f32>,
}

pub struct Layer {
    /// Query, key and value side by side, so that one product makes all three.
    pub attention: Dense,
    pub attention_out: Dense,
    pub attention_norm: Norm,
    pub inner: Dense,
    pub inner_out: Dense,
    pub inner_norm: Norm,
}

pub struct Weights {
    /// The word table alone: 47 MB of which only the rows in use ever become resident.
    words: Mmap,
    /// Position and (the only) token type, added up ahead of time.
    positions: Vec<f32>,
    pub embedding_norm: Norm,
    pub layers: Vec<Layer>,
}

impl Weights {
    pub fn load(path: &Path, gemm: &GemmExecutor) -> Result<Weights, EmbedError> {
        let unreadable = |source: std::io::Error| EmbedError::Unreadable { path: path.to_owned(), source: source.into() };
        let file = File::open(path).map_err(unreadable)?;
        let map = map(MmapOptions::new(), &file).map_err(unreadable)?;
        let tensors = SafeTensors::deserialize(&map)
            .map_err(|why| EmbedError::Damaged { path: path.to_owned(), why: why.to_string() })?;
        let reader = Reader { path, tensors, gemm };

        let words = reader.bytes("embeddings.word_embeddings.weight", &[VOCABULARY, HIDDEN])?;
        let offset = words.as_ptr().addr() - map.as_ptr().addr();
        // Mapped anew so that dropping the whole map gives back the pages that packing the layers has touched.
        let words = self::map(MmapOptions::new().offset(offset as u64).len(words.len()).clone(), &file)
            .map_err(unreadable)?;

        let mut positions = reader.floats("embeddings.position_embeddings.weight", &[512, HIDDEN])?;
        positions.truncate(MAX_TOKENS * HIDDEN);
        positions.shrink_to_fit();
        let kind = reader.floats("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
        for row in positions.chunks_exact_mut(HIDDEN) {
            row.iter_mut().zip(&kind).for_each(|(p, k)| *p += k);
        }
        let embedding_norm = reader.norm("embeddings.LayerNorm")?;
        let layers = (0..LAYERS).map(|n| reader.layer(n)).collect::<Result<_, _>>()?;
        Ok(Weights { words, positions, embedding_norm, layers })
    }

    /// Word plus position plus token type, before normalisation. `row` has `HIDDEN` values.
    pub fn embed_token(&self, token: u32, position: usize, row: &mut [f32]) {
        let word = &self.words[token as usize * ROW_BYTES..][..ROW_BYTES];
        let position = &self.positions[position * HIDDEN..][..HIDDEN];
        for ((x, word), position) in row.iter_mut().zip(word.as_chunks::<4>().0).zip(position) {
            *x = f32::from_le_bytes(*word) + position;
        }
    }
}

#[expect(unsafe_code, reason = "a memory map is how the weights cost no more memory than is used")]
fn map(options: MmapOptions, file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is read only as plain bytes, so any content is valid; the file is one this program fetched and
    // verified, which nothing rewrites in place (a new version goes to a new directory).
    unsafe { options.map(file) }
}

/// Reads named tensors and says which one is wrong.
struct Reader<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
    gemm: &'a GemmExecutor,
}

impl Reader<'_> {
    fn bytes(&self, name: &str, shape: &[usize]) -> Result<&[u8], EmbedError> {
        let damaged = |why| EmbedError::Damaged { path: self.path.to_owned(), why };
        let tensor = self.tensors.tensor(name).map_err(|why| damaged(format!("{name}: {why}")))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            let (dtype, found) = (tensor.dtype(), tensor.shape());
            return Err(damaged(format!("{name} is {dtype:?} {found:?}, expected F32 {shape:?}")));
        }
        Ok(tensor.data())
    }

    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        Ok(self.bytes(name, shape)?.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
    }

    fn norm(&self, name: &str) -> Result<Norm, EmbedError> {
        Ok(Norm {
            scale: self.floats(&format!("{name}.weight"), &[HIDDEN])?,
            shift: self.floats(&format!("{name}.bias"), &[HIDDEN])?,
        })
    }

    /// One dense layer of the named ones, side by side. The file keeps each transposed, `[outputs, inputs]`, so that
    /// to put them side by side is to put them one after the other.
    fn dense(&self, names: &[String], inputs: usize, outputs: usize) -> Result<Dense, EmbedError> {
        let (mut transposed, mut bias) = (Vec::new(), Vec::new());
        for name in names {
            transposed.extend(self.floats(&format!("{name}.weight"), &[outputs, inputs])?);
            bias.extend(self.floats(&format!("{name}.bias"), &[outputs])?);
        }
        let matrix = Matrix::from_data([bias.len(), inputs], transposed.as_slice());
        Ok(Dense { matrix: self.gemm.prepack_b(matrix.transposed()), bias })
    }

    fn layer(&self, n: usize) -> Result<Layer, EmbedError> {
        const { assert!(HIDDEN % HEADS == 0) };
        let name = |part: &str| format!("encoder.layer.{n}.{part}");
        let qkv = ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
        Ok(Layer {
            attention: self.dense(&qkv, HIDDEN, HIDDEN)?,
            attention_out: self.dense(&[name("attention.output.dense")], HIDDEN, HIDDEN)?,
            attention_norm: self.norm(&name("attention.output.LayerNorm"))?,
            inner: self.dense(&[name("intermediate.dense")], HIDDEN, INNER)?,
            inner_out: self.dense(&[name("output.dense")], INNER, HIDDEN)?,
            inner_norm: self.norm(&name("output.LayerNorm"))?,
        })
    }
}
