//! The layout of the numbers, and the parts that all matrix products share. Weights have a packed form (`packed`).
//!
//! Activations are stored in pieces of 32 numbers: first the first piece of every token, then the second piece of every
//! token, and so on. A weight matrix is stored in consecutive strips of 32 columns. With this layout a product reads
//! both sequentially, its result has the same layout, each thread can compute one strip, and a piece is exactly the
//! width of an attention head.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

/// Numbers in a piece, and columns in a strip.
pub const WIDTH: usize = 32;

/// A block of 32 numbers, aligned to cache lines, so that no vector load crosses two of them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Piece(pub [f32; WIDTH]);

impl Piece {
    pub const ZERO: Piece = Piece([0.0; WIDTH]);
}

/// Runs an operation with the best instruction set of this processor. Tests may select another one.
pub fn run<Op: SimdOp>(work: Op) -> Op::Output {
    #[cfg(test)]
    return super::tests::run_on_chosen(work);
    #[cfg(not(test))]
    work.dispatch()
}

/// Splits a vector into pieces.
pub fn pieces(values: &[f32]) -> Vec<Piece> {
    values.as_chunks().0.iter().map(|chunk| Piece(*chunk)).collect()
}

/// Multiplies rows `0..R` of `x` by two vectors of columns of `strip`, beginning at `column`. For every 32 rows of the
/// strip, `x` has one piece of each row; these groups are `step` pieces apart.
///
/// Each sum runs from the first row of the strip to the last, so the result depends neither on the tile nor on the
/// number of threads.
#[inline(always)]
pub fn tile<I: Isa, const R: usize>(
    isa: I,
    x: &[Piece],
    step: usize,
    strip: &[Piece],
    column: usize,
) -> [[I::F32; 2]; R] {
    let ops = isa.f32();
    let mut sums = [[ops.zero(); 2]; R];
    for (block, strip) in strip.chunks(WIDTH).enumerate() {
        let rows = &x[block * step..][..R];
        for (k, weights) in (0..WIDTH).zip(strip) {
            add::<I, R>(isa, &mut sums, rows, k, two_vectors(isa, weights, column));
        }
    }
    sums
}

/// The two vectors of a piece that begin at `column`.
#[inline(always)]
pub fn two_vectors<I: Isa>(isa: I, piece: &Piece, column: usize) -> [I::F32; 2] {
    let (ops, numbers) = (isa.f32(), &piece.0[column..]);
    [ops.load(numbers), ops.load(&numbers[ops.len()..])]
}

/// Adds the products of number `k` of each row of `x` and two vectors of weights.
#[inline(always)]
pub fn add<I: Isa, const R: usize>(isa: I, sums: &mut [[I::F32; 2]; R], x: &[Piece], k: usize, weights: [I::F32; 2]) {
    let ops = isa.f32();
    for r in 0..R {
        let value = ops.splat(x[r].0[k]);
        sums[r][0] = ops.mul_add(value, weights[0], sums[r][0]);
        sums[r][1] = ops.mul_add(value, weights[1], sums[r][1]);
    }
}

/// Processes a tile of `R` rows, beginning with `first`.
pub trait Tiled<I: Isa> {
    fn run<const R: usize>(&mut self, isa: I, first: usize);
}

/// The smallest number of tiles for `rows` such that the sums of each tile fit into registers.
#[inline(always)]
pub fn tiles<I: Isa>(isa: I, rows: usize) -> usize {
    rows.div_ceil(match isa.f32().len() {
        16 => 12,
        _ if cfg!(target_arch = "aarch64") => 8,
        _ => 6,
    })
}

/// Runs `work` over all `rows`, in tiles of about equal size.
#[inline(always)]
pub fn in_tiles<I: Isa>(isa: I, rows: usize, work: &mut impl Tiled<I>) {
    let mut first = 0;
    for left in (1..=tiles(isa, rows)).rev() {
        let size = (rows - first).div_ceil(left);
        match size {
            1 => work.run::<1>(isa, first),
            2 => work.run::<2>(isa, first),
            3 => work.run::<3>(isa, first),
            4 => work.run::<4>(isa, first),
            5 => work.run::<5>(isa, first),
            6 => work.run::<6>(isa, first),
            7 => work.run::<7>(isa, first),
            8 => work.run::<8>(isa, first),
            9 => work.run::<9>(isa, first),
            10 => work.run::<10>(isa, first),
            11 => work.run::<11>(isa, first),
            _ => work.run::<12>(isa, first),
        }
        first += size;
    }
}
