//! Self-attention of one sequence. No padding and no mask: sequences of a batch never see each other.

use std::cell::RefCell;

use rayon::prelude::*;
use rten_gemm::{GemmError, GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_simd::SimdOp;
use rten_tensor::Matrix;

use super::ops::SoftmaxRows;
use super::{HEADS, HIDDEN, QKV};

/// Width of one head.
const HEAD: usize = HIDDEN / HEADS;

thread_local! {
    /// The scores of one head, kept by each thread so that no layer allocates.
    static SCORES: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// `qkv` holds the sequence's rows of query, key and value; `heads` takes each head's answer as a block of its own,
/// `out` the same side by side.
pub fn attend(gemm: &GemmExecutor, qkv: &[f32], heads: &mut [f32], out: &mut [f32]) -> Result<(), GemmError> {
    let tokens = out.len() / HIDDEN;
    let block = tokens * HEAD;
    if rayon::current_num_threads() > 1 {
        heads.par_chunks_exact_mut(block).enumerate().try_for_each(|(n, head)| attend_head(gemm, qkv, n, head))?;
    } else {
        heads.chunks_exact_mut(block).enumerate().try_for_each(|(n, head)| attend_head(gemm, qkv, n, head))?;
    }
    for (n, head) in heads.chunks_exact(block).enumerate() {
        for (row, part) in out.chunks_exact_mut(HIDDEN).zip(head.chunks_exact(HEAD)) {
            row[n * HEAD..][..HEAD].copy_from_slice(part);
        }
    }
    Ok(())
}

fn attend_head(gemm: &GemmExecutor, qkv: &[f32], n: usize, out: &mut [f32]) -> Result<(), GemmError> {
    let tokens = out.len() / HEAD;
    let part = |which: usize| {
        let start = which * HIDDEN + n * HEAD;
        Matrix::from_slice_with_strides([tokens, HEAD], &qkv[start..], [QKV, 1]).expect("rows of qkv hold every head")
    };
    let (query, key, value) = (part(0), part(1), part(2));
    SCORES.with_borrow_mut(|buffer| {
        let needed = tokens * tokens;
        if buffer.len() < needed {
            buffer.resize(needed, 0.0);
        }
        let scores = &mut buffer[..needed];
        let scale = GemmOptions { alpha: 1.0 / (HEAD as f32).sqrt(), ..GemmOptions::default() };
        gemm.gemm(scores, GemmInputA::Unpacked(query), GemmInputB::Unpacked(key.transposed()), scale)?;
        SoftmaxRows { rows: scores, width: tokens }.dispatch();
        let weights = Matrix::from_data([tokens, tokens], &scores[..]);
        gemm.gemm(out, GemmInputA::Unpacked(weights), GemmInputB::Unpacked(value), GemmOptions::default())
    })
}
