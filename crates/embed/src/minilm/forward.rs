//! The forward pass over a ragged batch: the linear layers run over all tokens of all sequences laid end to end,
//! attention over each sequence alone. Nothing is padded, and a text's vector does not depend on its company.

use std::sync::Arc;

use rayon::prelude::*;
use rten_gemm::{GemmError, GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_simd::SimdOp;
use rten_tensor::Matrix;

use super::attention::attend;
use super::ops::{AddBias, AddBiasGelu, LayerNorm};
use super::weights::{Dense, Layer, Weights};
use super::{HIDDEN, INNER, QKV};
use crate::Vector;

/// Rows one task takes when several threads share the element-wise steps.
const ROWS_A_TASK: usize = 16;

/// The buffers of a forward pass, kept between calls so that a warm call allocates nothing but its answers.
#[derive(Default)]
pub struct Scratch {
    hidden: Vec<f32>,
    qkv: Vec<f32>,
    heads: Vec<f32>,
    context: Vec<f32>,
    inner: Vec<f32>,
}

impl Scratch {
    fn fit(&mut self, tokens: usize) -> Buffers<'_> {
        fn grown(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
            if buffer.len() < length {
                buffer.resize(length, 0.0);
            }
            &mut buffer[..length]
        }
        Buffers {
            hidden: grown(&mut self.hidden, tokens * HIDDEN),
            qkv: grown(&mut self.qkv, tokens * QKV),
            heads: grown(&mut self.heads, tokens * HIDDEN),
            context: grown(&mut self.context, tokens * HIDDEN),
            inner: grown(&mut self.inner, tokens * INNER),
        }
    }
}

struct Buffers<'a> {
    hidden: &'a mut [f32],
    qkv: &'a mut [f32],
    heads: &'a mut [f32],
    context: &'a mut [f32],
    inner: &'a mut [f32],
}

/// The vectors of `sequences`, in order. Runs on the calling thread's rayon pool.
pub fn forward(
    weights: &Weights,
    gemm: &GemmExecutor,
    scratch: &mut Scratch,
    sequences: &[Vec<u32>],
) -> Result<Vec<Vector>, GemmError> {
    let mut b = scratch.fit(sequences.iter().map(Vec::len).sum());
    let tokens = sequences.iter().flat_map(|ids| ids.iter().enumerate());
    for (row, (position, token)) in b.hidden.chunks_exact_mut(HIDDEN).zip(tokens) {
        weights.embed_token(*token, position, row);
    }
    by_rows(b.hidden, HIDDEN, |rows| LayerNorm { rows, bias: None, norm: &weights.embedding_norm }.dispatch());
    for layer in &weights.layers {
        run_layer(layer, gemm, &mut b, sequences)?;
    }
    let mut rest = &b.hidden[..];
    Ok(sequences
        .iter()
        .map(|ids| {
            let (rows, after) = rest.split_at(ids.len() * HIDDEN);
            rest = after;
            pool(rows)
        })
        .collect())
}

fn run_layer(
    layer: &Layer,
    gemm: &GemmExecutor,
    b: &mut Buffers<'_>,
    sequences: &[Vec<u32>],
) -> Result<(), GemmError> {
    multiply(gemm, b.hidden, &layer.attention, b.qkv, 0.0)?;
    by_rows(b.qkv, QKV, |rows| AddBias { rows, bias: &layer.attention.bias }.dispatch());
    let mut start = 0;
    for ids in sequences {
        let range = start..start + ids.len();
        let hidden = range.start * HIDDEN..range.end * HIDDEN;
        let qkv = &b.qkv[range.start * QKV..range.end * QKV];
        attend(gemm, qkv, &mut b.heads[hidden.clone()], &mut b.context[hidden])?;
        start = range.end;
    }
    // Products land on what is already there: that is the residual connection.
    multiply(gemm, b.context, &layer.attention_out, b.hidden, 1.0)?;
    normalise(b.hidden, &layer.attention_out, &layer.attention_norm);
    multiply(gemm, b.hidden, &layer.inner, b.inner, 0.0)?;
    by_rows(b.inner, INNER, |rows| AddBiasGelu { rows, bias: &layer.inner.bias }.dispatch());
    multiply(gemm, b.inner, &layer.inner_out, b.hidden, 1.0)?;
    normalise(b.hidden, &layer.inner_out, &layer.inner_norm);
    Ok(())
}

/// `out = x · dense + keep · out`; the bias is left to the step that follows, which passes over the rows anyway.
fn multiply(gemm: &GemmExecutor, x: &[f32], dense: &Dense, out: &mut [f32], keep: f32) -> Result<(), GemmError> {
    let inputs = dense.matrix.rows();
    let x = Matrix::from_data([x.len() / inputs, inputs], x);
    let options = GemmOptions { beta: keep, ..GemmOptions::default() };
    gemm.gemm(out, GemmInputA::Unpacked(x), GemmInputB::Packed(&dense.matrix), options)
}

fn normalise(rows: &mut [f32], dense: &Dense, norm: &super::ops::Norm) {
    by_rows(rows, HIDDEN, |rows| LayerNorm { rows, bias: Some(&dense.bias), norm }.dispatch());
}

/// Runs `step` over whole rows, shared among the pool's threads if it has several.
fn by_rows(rows: &mut [f32], width: usize, step: impl Fn(&mut [f32]) + Send + Sync) {
    if rayon::current_num_threads() > 1 && rows.len() > ROWS_A_TASK * width {
        rows.par_chunks_mut(ROWS_A_TASK * width).for_each(step);
    } else {
        step(rows);
    }
}

/// The mean of the rows, scaled to length one.
fn pool(rows: &[f32]) -> Vector {
    let mut sum = [0f32; HIDDEN];
    for row in rows.chunks_exact(HIDDEN) {
        sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
    let count = (rows.len() / HIDDEN) as f32;
    sum.iter_mut().for_each(|s| *s /= count);
    let length = sum.iter().map(|s| s * s).sum::<f32>().sqrt().max(1e-12);
    sum.iter_mut().for_each(|s| *s /= length);
    Arc::from(sum.as_slice())
}
