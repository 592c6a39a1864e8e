//! The weights in the layout of the forward pass: the layers' matrices are packed into strips at load time; the word
//! table stays in the memory-mapped file and is read row by row.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};
use safetensors::{Dtype, SafeTensors};

use super::arena::Arena;
use super::kernel::{Piece, WIDTH, pieces};
use super::norm::Norm;
use super::packed::{Triple, pack};
use super::{HEADS, HIDDEN, INNER, LAYERS, MAX_TOKENS, POSITIONS, VOCABULARY};
use crate::error::EmbedError;

/// Triples of one layer's matrices: query, key, value, attention output, and the two feed-forward matrices.
const LAYER_TRIPLES: usize = (4 * HIDDEN * HIDDEN + 2 * HIDDEN * INNER) / TRIPLE;

/// Weights in a triple.
const TRIPLE: usize = Triple::ROWS * WIDTH;

/// Bytes of one row of the word table.
const ROW: usize = HIDDEN * size_of::<f32>();

/// A dense layer: `y = x · matrix + bias`.
pub struct Dense {
    /// The position of the matrix in the arena.
    matrix: Range<usize>,
    /// The scale of the columns, and the bias: one piece per strip.
    pub scale: Vec<Piece>,
    pub bias: Vec<Piece>,
}

pub struct Layer {
    /// Query, key and value side by side, so that one product computes all three.
    pub attention: Dense,
    pub attention_out: Dense,
    pub attention_norm: Norm,
    pub inner: Dense,
    pub inner_out: Dense,
    pub inner_norm: Norm,
}

pub struct Weights {
    /// A map of the word table only: 47 MB, of which only the rows in use become resident.
    words: Mmap,
    /// The sum of position and token type embeddings; there is only one token type.
    positions: Vec<Piece>,
    pub embedding_norm: Norm,
    pub layers: Vec<Layer>,
    arena: Arena,
}

impl Weights {
    pub fn load(path: &Path) -> Result<Weights, EmbedError> {
        let unreadable = EmbedError::unreadable(path);
        let file = File::open(path).map_err(&unreadable)?;
        let whole = map(&MmapOptions::new(), &file).map_err(&unreadable)?;
        let tensors = SafeTensors::deserialize(&whole)
            .map_err(|why| EmbedError::Damaged { path: path.to_owned(), why: why.to_string() })?;
        let arena = Arena::new(LAYERS * LAYER_TRIPLES).map_err(&unreadable)?;
        let mut reader = Reader { path, tensors, arena, used: 0 };

        let words = reader.bytes("embeddings.word_embeddings.weight", &[VOCABULARY, HIDDEN])?;
        let offset = words.as_ptr().addr() - whole.as_ptr().addr();
        // A separate map, so that dropping the map of the whole file frees the pages that packing the layers has
        // touched.
        let words = map(MmapOptions::new().offset(offset as u64).len(words.len()), &file).map_err(&unreadable)?;

        let mut positions = reader.floats("embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN])?;
        positions.truncate(MAX_TOKENS * HIDDEN);
        let kind = reader.floats("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
        for row in positions.chunks_exact_mut(HIDDEN) {
            row.iter_mut().zip(&kind).for_each(|(p, k)| *p += k);
        }
        let embedding_norm = reader.norm("embeddings.LayerNorm")?;
        let layers = (0..LAYERS).map(|n| reader.layer(n)).collect::<Result<_, _>>()?;
        Ok(Weights { words, positions: pieces(&positions), embedding_norm, layers, arena: reader.arena })
    }

    /// The strips of a dense layer's matrix, one after the other.
    pub fn matrix(&self, dense: &Dense) -> &[Triple] {
        &self.arena.triples()[dense.matrix.clone()]
    }

    /// Writes the sum of word, position and token type embeddings, before normalisation.
    pub fn embed_token<'a>(&self, token: u32, position: usize, row: impl Iterator<Item = &'a mut Piece>) {
        let word = self.words[token as usize * ROW..][..ROW].as_chunks::<4>().0.chunks_exact(WIDTH);
        let position = &self.positions[position * (HIDDEN / WIDTH)..];
        for ((piece, word), position) in row.zip(word).zip(position) {
            for ((x, word), position) in piece.0.iter_mut().zip(word).zip(position.0) {
                *x = f32::from_le_bytes(*word) + position;
            }
        }
    }
}

#[expect(unsafe_code, reason = "a memory map is how the word table costs no more memory than is used")]
fn map(options: &MmapOptions, file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is read as plain bytes, so any content is valid; the file is one this program has verified and
    // never rewrites in place (a new version goes to a new directory).
    unsafe { options.map(file) }
}

/// Reads tensors by name, reports which one is wrong, and packs matrices into the arena.
struct Reader<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
    arena: Arena,
    used: usize,
}

impl Reader<'_> {
    fn bytes(&self, name: &str, shape: &[usize]) -> Result<&[u8], EmbedError> {
        let damaged = |why| EmbedError::Damaged { path: self.path.to_owned(), why };
        let tensor = self.tensors.tensor(name).map_err(|why| damaged(format!("{name}: {why}")))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            let (dtype, found) = (tensor.dtype(), tensor.shape());
            return Err(damaged(format!("{name} is {dtype:?} {found:?}, not F32 {shape:?}")));
        }
        Ok(tensor.data())
    }

    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        Ok(self.bytes(name, shape)?.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn norm(&self, name: &str) -> Result<Norm, EmbedError> {
        Ok(Norm {
            scale: pieces(&self.floats(&format!("{name}.weight"), &[HIDDEN])?),
            shift: pieces(&self.floats(&format!("{name}.bias"), &[HIDDEN])?),
        })
    }

    /// Joins the named dense layers side by side into one.
    fn dense(&mut self, names: &[String], inputs: usize, outputs: usize) -> Result<Dense, EmbedError> {
        let (start, mut scale, mut bias) = (self.used, Vec::new(), Vec::new());
        for name in names {
            // The file stores matrices transposed, `[outputs, inputs]`, so 32 of its rows form a strip of columns.
            let transposed = self.floats(&format!("{name}.weight"), &[outputs, inputs])?;
            let strips = self.arena.triples_mut()[self.used..].chunks_exact_mut(inputs / Triple::ROWS);
            for (rows, strip) in transposed.chunks_exact(WIDTH * inputs).zip(strips) {
                scale.push(pack(rows, strip));
            }
            self.used += inputs * outputs / TRIPLE;
            bias.extend(pieces(&self.floats(&format!("{name}.bias"), &[outputs])?));
        }
        Ok(Dense { matrix: start..self.used, scale, bias })
    }

    fn layer(&mut self, n: usize) -> Result<Layer, EmbedError> {
        const { assert!(HIDDEN / HEADS == WIDTH, "attention takes a piece for a head") };
        const { assert!(HIDDEN.is_multiple_of(TRIPLE) && INNER.is_multiple_of(TRIPLE), "columns consist of triples") };
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
