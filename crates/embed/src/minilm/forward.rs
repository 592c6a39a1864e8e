//! The forward pass over a batch of sequences of different lengths. The linear layers process the tokens of all
//! sequences together, attention each sequence separately. Nothing is padded, and a vector does not depend on the other
//! texts.

use std::sync::Arc;

use rayon::prelude::*;

use super::attention::attend;
use super::dense::{Finish, Strip};
use super::kernel::{self, Piece, WIDTH};
use super::norm::Normalise;
use super::weights::{Dense, Layer, Weights};
use super::{HEADS, HIDDEN, INNER, MAX_TOKENS};
use crate::Vector;

/// Pieces per token.
const HIDDEN_PIECES: usize = HIDDEN / WIDTH;
const INNER_PIECES: usize = INNER / WIDTH;

/// The buffers of a forward pass. They are reused, so that later calls allocate only the results.
#[derive(Default)]
pub struct Scratch {
    hidden: Vec<Piece>,
    qkv: Vec<Piece>,
    context: Vec<Piece>,
    inner: Vec<Piece>,
}

impl Scratch {
    fn fit(&mut self, tokens: usize, parallel: bool) -> Buffers<'_> {
        fn grown(buffer: &mut Vec<Piece>, length: usize) -> &mut [Piece] {
            if buffer.len() < length {
                buffer.resize(length, Piece::ZERO);
            }
            &mut buffer[..length]
        }
        // An odd stride, because pieces of one row at a power-of-two distance would evict each other from the cache.
        let stride = tokens | 1;
        Buffers {
            shape: Shape { tokens, stride, parallel },
            hidden: grown(&mut self.hidden, stride * HIDDEN_PIECES),
            qkv: grown(&mut self.qkv, stride * 3 * HIDDEN_PIECES),
            context: grown(&mut self.context, stride * HIDDEN_PIECES),
            inner: grown(&mut self.inner, stride * INNER_PIECES),
        }
    }
}

struct Buffers<'a> {
    shape: Shape,
    hidden: &'a mut [Piece],
    qkv: &'a mut [Piece],
    context: &'a mut [Piece],
    inner: &'a mut [Piece],
}

#[derive(Clone, Copy)]
struct Shape {
    tokens: usize,
    /// Whether to use all threads of the pool.
    parallel: bool,
    /// Distance between two strips, in pieces.
    stride: usize,
}

impl Shape {
    /// Runs `step` for each strip of `out`, in parallel if several threads may take part.
    fn each_strip(self, out: &mut [Piece], step: impl Fn(usize, &mut [Piece]) + Send + Sync) {
        let step = |(n, out): (usize, &mut [Piece])| step(n, &mut out[..self.tokens]);
        if self.parallel {
            out.par_chunks_exact_mut(self.stride).enumerate().for_each(step);
        } else {
            out.chunks_exact_mut(self.stride).enumerate().for_each(step);
        }
    }
}

/// The maximum number of tokens that are processed together. With more, the buffers would not fit into the cache.
const MAX_GROUP_TOKENS: usize = MAX_TOKENS;

/// The vectors of `sequences`, in order. With `parallel`, runs on the calling thread's rayon pool.
pub fn forward(weights: &Weights, scratch: &mut Scratch, sequences: &[Vec<u32>], parallel: bool) -> Vec<Vector> {
    let mut vectors = Vec::with_capacity(sequences.len());
    let mut rest = sequences;
    while !rest.is_empty() {
        let mut tokens = 0;
        let fits = |ids: &&Vec<u32>| {
            tokens += ids.len();
            tokens <= MAX_GROUP_TOKENS
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (group, after) = rest.split_at(count);
        run(weights, scratch.fit(group.iter().map(Vec::len).sum(), parallel), group, &mut vectors);
        rest = after;
    }
    vectors
}

fn run(weights: &Weights, mut b: Buffers<'_>, sequences: &[Vec<u32>], vectors: &mut Vec<Vector>) {
    let tokens = sequences.iter().flat_map(|ids| ids.iter().enumerate());
    for (row, (position, token)) in tokens.enumerate() {
        weights.embed_token(*token, position, b.hidden[row..].iter_mut().step_by(b.shape.stride));
    }
    kernel::run(Normalise { x: b.hidden, rows: b.shape.tokens, norm: &weights.embedding_norm });
    for layer in &weights.layers {
        run_layer(weights, layer, &mut b, sequences);
    }
    let mut start = 0;
    for ids in sequences {
        let range = start..start + ids.len();
        start = range.end;
        vectors.push(pool(b.hidden.chunks_exact(b.shape.stride).map(|pieces| &pieces[range.clone()])));
    }
}

fn run_layer(weights: &Weights, layer: &Layer, b: &mut Buffers<'_>, sequences: &[Vec<u32>]) {
    let shape = b.shape;
    let multiply = |dense: &Dense, x: &[Piece], out: &mut [Piece], finish| {
        let matrix = weights.matrix(dense);
        let height = matrix.len() / dense.bias.len();
        shape.each_strip(out, |n, out| {
            let strip = &matrix[n * height..][..height];
            let (scale, bias) = (&dense.scale[n], &dense.bias[n]);
            kernel::run(Strip { x, stride: shape.stride, strip, scale, bias, finish, out });
        });
    };
    multiply(&layer.attention, b.hidden, b.qkv, Finish::Keep);
    let qkv = &*b.qkv;
    shape.each_strip(b.context, |head, out| {
        let part = |which: usize| &qkv[(which * HEADS + head) * shape.stride..][..shape.tokens];
        let (query, key, value) = (part(0), part(1), part(2));
        let mut start = 0;
        for ids in sequences {
            let range = start..start + ids.len();
            start = range.end;
            attend(&query[range.clone()], &key[range.clone()], &value[range.clone()], &mut out[range]);
        }
    });
    multiply(&layer.attention_out, b.context, b.hidden, Finish::Add);
    kernel::run(Normalise { x: b.hidden, rows: b.shape.tokens, norm: &layer.attention_norm });
    multiply(&layer.inner, b.hidden, b.inner, Finish::Gelu);
    multiply(&layer.inner_out, b.inner, b.hidden, Finish::Add);
    kernel::run(Normalise { x: b.hidden, rows: b.shape.tokens, norm: &layer.inner_norm });
}

/// The mean over the tokens of a sequence, scaled to length 1.
fn pool<'a>(strips: impl Iterator<Item = &'a [Piece]>) -> Vector {
    let mut mean = [0f32; HIDDEN];
    for (mean, pieces) in mean.chunks_exact_mut(WIDTH).zip(strips) {
        for piece in pieces {
            mean.iter_mut().zip(piece.0).for_each(|(m, x)| *m += x);
        }
        mean.iter_mut().for_each(|m| *m /= pieces.len() as f32);
    }
    let length = mean.iter().map(|m| m * m).sum::<f32>().sqrt().max(1e-12);
    mean.iter_mut().for_each(|m| *m /= length);
    Arc::from(mean.as_slice())
}
