//! The one inner loop everything heavy runs through: a few rows times a strip of columns.
//!
//! Activations are kept in pieces of 32 numbers, all tokens' first pieces, then all their second ones, and so on; a
//! weight matrix in strips of 32 columns, one after the other. Then a product reads both from front to back, its result
//! is again in pieces, one strip of columns can be given to each thread, and a piece is just what an attention head
//! works on.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

/// Numbers in a piece, and columns in a strip.
pub const WIDTH: usize = 32;

/// Aligned to the cache lines it fills, so that no vector is loaded from two of them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Piece(pub [f32; WIDTH]);

impl Piece {
    pub const ZERO: Piece = Piece([0.0; WIDTH]);
}

/// On the best instructions this processor has. A test may choose lesser ones.
pub fn run<Op: SimdOp>(work: Op) -> Op::Output {
    #[cfg(test)]
    return super::tests::run_on_chosen(work);
    #[cfg(not(test))]
    work.dispatch()
}

/// Cuts a vector into pieces.
pub fn pieces(values: &[f32]) -> Vec<Piece> {
    values.as_chunks().0.iter().map(|chunk| Piece(*chunk)).collect()
}

/// What is read next while this strip is in use: the memory is far slower than the arithmetic.
#[derive(Clone, Copy)]
pub struct Ahead {
    from: *const f32,
    step: usize,
}

impl Ahead {
    /// Fetches nothing new.
    pub fn none(strip: &[Piece]) -> Ahead {
        Ahead { from: strip.as_ptr().cast(), step: 0 }
    }

    /// One turn's share of the strip that follows `strip` in memory, when `turns` tiles use this one.
    pub fn next(strip: &[Piece], turn: usize, turns: usize) -> Ahead {
        let step = WIDTH / turns;
        // Past the last strip this names no memory of ours, which is fine: to prefetch is a hint and never a fault.
        let end = strip.as_ptr_range().end.cast::<f32>();
        Ahead { from: end.wrapping_add(turn * strip.len() * step), step }
    }
}

/// Rows `0..R` of `x` times `strip`, in the two vectors of columns that begin at `column`. `x` has a piece of each row
/// for every 32 rows of the strip, `step` pieces apart.
///
/// Each sum is one chain from the first row of the strip to the last, so a result depends neither on the tile it was
/// computed in nor on the number of threads.
#[inline(always)]
pub fn tile<I: Isa, const R: usize>(
    isa: I,
    x: &[Piece],
    step: usize,
    strip: &[Piece],
    column: usize,
    ahead: Ahead,
) -> [[I::F32; 2]; R] {
    let ops = isa.f32();
    let mut sums = [[ops.zero(); 2]; R];
    let mut fetch = ahead.from;
    for (block, strip) in strip.chunks(WIDTH).enumerate() {
        let rows = &x[block * step..][..R];
        for (k, weights) in (0..WIDTH).zip(strip) {
            // Also keeps the compiler from loading more ahead than there are registers.
            ops.prefetch(fetch);
            ops.prefetch(fetch.wrapping_add(WIDTH / 2));
            fetch = fetch.wrapping_add(ahead.step);
            let weights = &weights.0[column..];
            let (first, second) = (ops.load(weights), ops.load(&weights[ops.len()..]));
            for r in 0..R {
                let value = ops.splat(rows[r].0[k]);
                sums[r][0] = ops.mul_add(value, first, sums[r][0]);
                sums[r][1] = ops.mul_add(value, second, sums[r][1]);
            }
        }
    }
    sums
}

/// What is done with a tile of `R` rows, the first of which is `first`.
pub trait Tiled<I: Isa> {
    fn run<const R: usize>(&mut self, isa: I, first: usize);
}

/// How many tiles `rows` are cut into: as few as leave the sums of each in registers.
#[inline(always)]
pub fn tiles<I: Isa>(isa: I, rows: usize) -> usize {
    rows.div_ceil(match isa.f32().len() {
        16 => 12,
        _ if cfg!(target_arch = "aarch64") => 8,
        _ => 6,
    })
}

/// Runs `work` over all `rows`, in tiles of about one size.
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
