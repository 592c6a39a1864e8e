//! Self-attention of one sequence in one head. No padding and no mask: sequences of a batch never see each other.

use std::cell::RefCell;

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, Simd, SimdOp, SimdUnaryOp};
use rten_vecmath::Exp;

use super::kernel::{Ahead, Piece, Tiled, WIDTH, in_tiles, run, tile};

/// The score of a key that is not there: its share of the softmax is zero.
const ABSENT: f32 = -1e30;

/// Working memory of a head, kept by each thread so that no layer allocates.
#[derive(Default)]
struct Working {
    /// The keys with rows and columns exchanged, in strips.
    keys: Vec<Piece>,
    /// The scores of one tile of queries.
    scores: Vec<Piece>,
}

thread_local! {
    static WORKING: RefCell<Working> = RefCell::default();
}

/// One piece a token each: a head is exactly as wide as a piece.
pub fn attend(query: &[Piece], key: &[Piece], value: &[Piece], out: &mut [Piece]) {
    WORKING.with_borrow_mut(|working| {
        let blocks = key.len().div_ceil(WIDTH);
        working.keys.resize(blocks * WIDTH, Piece::ZERO);
        working.scores.resize(blocks * WIDTH, Piece::ZERO);
        run(Head { query, key, value, keys: &mut working.keys, scores: &mut working.scores, out });
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
        // A loop, not a closure: what is not inlined here is not compiled for these instructions.
        let mut shares = [0.0; R];
        for (row, share) in shares.iter_mut().enumerate() {
            *share = 1.0 / self.exponents::<I, R>(isa, row);
        }
        let ops = isa.f32();
        for column in (0..WIDTH).step_by(2 * ops.len()) {
            let sums = tile::<I, R>(isa, self.scores, R, self.value, column, Ahead::none(self.value));
            for r in 0..R {
                let (out, share) = (&mut self.out[first + r].0[column..], ops.splat(shares[r]));
                ops.store(ops.mul(sums[r][0], share), out);
                ops.store(ops.mul(sums[r][1], share), &mut out[ops.len()..]);
            }
        }
    }
}

impl Head<'_> {
    /// Every key's score for `R` queries, in pieces as a product wants them.
    #[inline(always)]
    fn score<I: Isa, const R: usize>(&mut self, isa: I, first: usize) {
        let ops = isa.f32();
        let scale = ops.splat(1.0 / (WIDTH as f32).sqrt());
        for (strip, scores) in self.keys.chunks_exact(WIDTH).zip(self.scores.chunks_exact_mut(R)) {
            for column in (0..WIDTH).step_by(2 * ops.len()) {
                let sums = tile::<I, R>(isa, &self.query[first..], 0, strip, column, Ahead::none(strip));
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

    /// Turns the scores of one query into `exp(score - max)` and returns their sum; whoever uses them divides.
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
