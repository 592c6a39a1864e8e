//! Self-attention of one sequence in one head. It needs no padding and no mask, because sequences are processed
//! separately.

use std::cell::RefCell;

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, Simd, SimdOp, SimdUnaryOp};
use rten_vecmath::Exp;

use super::kernel::{Piece, Tiled, WIDTH, in_tiles, run, tile};

/// The score of a missing key, whose share of the softmax becomes zero.
const ABSENT: f32 = -1e30;

/// The buffers of a head. Each thread keeps its own, so that layers do not allocate.
#[derive(Default)]
struct HeadBuffers {
    /// The transposed keys, in strips.
    keys: Vec<Piece>,
    /// The scores of one tile of queries.
    scores: Vec<Piece>,
}

thread_local! {
    static BUFFERS: RefCell<HeadBuffers> = RefCell::default();
}

/// Computes attention. Every slice has one piece per token, because a head is exactly as wide as a piece.
pub fn attend(query: &[Piece], key: &[Piece], value: &[Piece], out: &mut [Piece]) {
    BUFFERS.with_borrow_mut(|buffers| {
        let blocks = key.len().div_ceil(WIDTH);
        buffers.keys.resize(blocks * WIDTH, Piece::ZERO);
        buffers.scores.resize(blocks * WIDTH, Piece::ZERO);
        run(Head { query, key, value, keys: &mut buffers.keys, scores: &mut buffers.scores, out });
    });
}

struct Head<'a> {
    query: &'a [Piece],
    key: &'a [Piece],
    value: &'a [Piece],
    keys: &'a mut [Piece],
    scores: &'a mut [Piece],
    out: &'a mut [Piece],
}

impl SimdOp for Head<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(mut self, isa: I) {
        for (keys, strip) in self.key.chunks(WIDTH).zip(self.keys.chunks_exact_mut(WIDTH)) {
            for (column, key) in keys.iter().enumerate() {
                for (row, value) in strip.iter_mut().zip(key.0) {
                    row.0[column] = value;
                }
            }
        }
        in_tiles(isa, self.query.len(), &mut self);
    }
}

impl<I: Isa> Tiled<I> for Head<'_> {
    #[inline(always)]
    fn run<const R: usize>(&mut self, isa: I, first: usize) {
        self.score::<I, R>(isa, first);
        // A loop, not a closure: code that is not inlined here is not compiled for the selected instruction set.
        let mut shares = [0.0; R];
        for (row, share) in shares.iter_mut().enumerate() {
            *share = 1.0 / self.exponents::<I, R>(isa, row);
        }
        let ops = isa.f32();
        for column in (0..WIDTH).step_by(2 * ops.len()) {
            let sums = tile::<I, R>(isa, self.scores, R, self.value, column);
            for r in 0..R {
                let (out, share) = (&mut self.out[first + r].0[column..], ops.splat(shares[r]));
                ops.store(ops.mul(sums[r][0], share), out);
                ops.store(ops.mul(sums[r][1], share), &mut out[ops.len()..]);
            }
        }
    }
}

impl Head<'_> {
    /// The scores of all keys for `R` queries, in the layout that the next product expects.
    #[inline(always)]
    fn score<I: Isa, const R: usize>(&mut self, isa: I, first: usize) {
        let ops = isa.f32();
        let scale = ops.splat(1.0 / (WIDTH as f32).sqrt());
        for (strip, scores) in self.keys.chunks_exact(WIDTH).zip(self.scores.chunks_exact_mut(R)) {
            for column in (0..WIDTH).step_by(2 * ops.len()) {
                let sums = tile::<I, R>(isa, &self.query[first..], 0, strip, column);
                for r in 0..R {
                    let scores = &mut scores[r].0[column..];
                    ops.store(ops.mul(sums[r][0], scale), scores);
                    ops.store(ops.mul(sums[r][1], scale), &mut scores[ops.len()..]);
                }
            }
        }
        let (blocks, rest) = (self.key.len() / WIDTH, self.key.len() % WIDTH);
        if rest > 0 {
            for scores in &mut self.scores[blocks * R..][..R] {
                scores.0[rest..].fill(ABSENT);
            }
        }
    }

    /// Replaces the scores of one query by `exp(score - max)` and returns their sum, by which the caller divides.
    #[inline(always)]
    fn exponents<I: Isa, const R: usize>(&mut self, isa: I, row: usize) -> f32 {
        let ops = isa.f32();
        let blocks = self.key.len().div_ceil(WIDTH);
        let mut max = ops.splat(ABSENT);
        for scores in self.scores[..blocks * R].iter().skip(row).step_by(R) {
            for column in (0..WIDTH).step_by(ops.len()) {
                max = ops.max(max, ops.load(&scores.0[column..]));
            }
        }
        let max = ops.splat(max.to_array().into_iter().fold(ABSENT, f32::max));
        let mut sum = ops.zero();
        for scores in self.scores[..blocks * R].iter_mut().skip(row).step_by(R) {
            for column in (0..WIDTH).step_by(ops.len()) {
                let place = &mut scores.0[column..];
                let exponent = Exp {}.eval(isa, ops.sub(ops.load(place), max));
                ops.store(exponent, place);
                sum = ops.add(sum, exponent);
            }
        }
        ops.sum(sum)
    }
}
