//! Layer normalisation of rows that are stored in pieces.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

use super::HIDDEN;
use super::kernel::{Piece, WIDTH};

/// As in the model's config.json.
const EPSILON: f32 = 1e-12;

/// The learned scale and shift.
pub struct Norm {
    pub scale: Vec<Piece>,
    pub shift: Vec<Piece>,
}

/// Normalises every row to mean 0 and variance 1, then applies the learned scale and shift.
pub struct Normalise<'a> {
    /// The pieces of all rows, in strips.
    pub x: &'a mut [Piece],
    pub rows: usize,
    pub norm: &'a Norm,
}

impl SimdOp for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let stride = self.x.len() / (HIDDEN / WIDTH);
        for row in 0..self.rows {
            let mut sum = ops.zero();
            for piece in self.x[row..].iter().step_by(stride) {
                for column in (0..WIDTH).step_by(ops.len()) {
                    sum = ops.add(sum, ops.load(&piece.0[column..]));
                }
            }
            let mean = ops.splat(ops.sum(sum) / HIDDEN as f32);
            let mut squares = ops.zero();
            for piece in self.x[row..].iter().step_by(stride) {
                for column in (0..WIDTH).step_by(ops.len()) {
                    let difference = ops.sub(ops.load(&piece.0[column..]), mean);
                    squares = ops.mul_add(difference, difference, squares);
                }
            }
            let deviation = (ops.sum(squares) / HIDDEN as f32 + EPSILON).sqrt();
            let factor = ops.splat(1.0 / deviation);
            let learned = self.norm.scale.iter().zip(&self.norm.shift);
            for (piece, (scale, shift)) in self.x[row..].iter_mut().step_by(stride).zip(learned) {
                for column in (0..WIDTH).step_by(ops.len()) {
                    let place = &mut piece.0[column..];
                    let unit = ops.mul(ops.sub(ops.load(place), mean), factor);
                    let result = ops.mul_add(unit, ops.load(&scale.0[column..]), ops.load(&shift.0[column..]));
                    ops.store(result, place);
                }
            }
        }
    }
}
