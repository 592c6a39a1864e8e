//! The weights in two thirds of their memory. A forward pass over a short text takes as long as reading all weights from
//! memory, so three weights share two words, from which the product unpacks them in registers. With many rows, the first
//! tile also stores the unpacked weights for the others.

use rten_simd::Isa;
use rten_simd::ops::{BitOps, IntOps, ToFloat};

use super::kernel::{Piece, WIDTH, add, two_vectors};

/// Three rows of a strip, which are [`WIDTH`] rows apart. A weight is its number times the scale of its column.
///
/// Three numbers share two words of 32 bits. Each word is the number of one of the first two rows, and its lower [`SHARED`]
/// bits are half of the third row's number. The upper bits are rounded so that the whole word comes nearest to the weight. The
/// rounding changes a vector by about 1e-6.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Triple([[i32; WIDTH]; 2]);

/// The bits of each word that belong to the third row.
const SHARED: i32 = 11;
const SHARED_MASK: i32 = (1 << SHARED) - 1;

/// The number of the third row has twice the shared bits; so many zeros follow them.
const THIRD_SHIFT: i32 = 32 - 2 * SHARED;

/// The number of the largest weight in a column. It is below the largest `i32`, because rounding the upper bits may increase
/// a number.
const LARGEST: f32 = (i32::MAX - (1 << (SHARED + 1))) as f32;

impl Triple {
    pub const ROWS: usize = 3;
    #[cfg(test)]
    pub const ZERO: Triple = Triple([[0; WIDTH]; 2]);

    fn set(&mut self, column: usize, numbers: [f64; Triple::ROWS]) {
        let third = nearest(numbers[2] / f64::from(1 << THIRD_SHIFT));
        let shared = [third >> SHARED & SHARED_MASK, third & SHARED_MASK];
        for ((words, number), shared) in self.0.iter_mut().zip(numbers).zip(shared) {
            let upper = nearest((number - f64::from(shared)) / f64::from(1 << SHARED));
            words[column] = upper << SHARED | shared;
        }
    }
}

/// The integer nearest to a number that fits into an `i32`; of two, the even one.
///
/// Loading the model rounds ten million numbers, and `f64::round` is a call of a function where the compiler may not assume
/// SSE 4.1.
fn nearest(number: f64) -> i32 {
    /// Added to a number, it leaves no bits for a fraction, and the integer in the lowest bits.
    const NO_FRACTION: f64 = 1.5 * (1_u64 << 52) as f64;
    (number + NO_FRACTION).to_bits() as i32
}

/// Packs 32 columns of weights, which lie one after the other, into a strip. Returns the scale of each column. The number of
/// weights in a column is a multiple of 96.
pub fn pack(columns: &[f32], strip: &mut [Triple]) -> Piece {
    let mut scale = Piece::ZERO;
    for (n, column) in columns.chunks_exact(strip.len() * Triple::ROWS).enumerate() {
        let largest = column.iter().fold(0.0, |largest: f32, weight| largest.max(weight.abs()));
        // Not zero, so that a column of zeros can be divided by it.
        scale.0[n] = (largest / LARGEST).max(f32::MIN_POSITIVE);
        let inverse_scale = 1.0 / f64::from(scale.0[n]);
        for (triples, weights) in strip.chunks_exact_mut(WIDTH).zip(column.chunks_exact(Triple::ROWS * WIDTH)) {
            for (k, triple) in triples.iter_mut().enumerate() {
                let number = |row: usize| f64::from(weights[row * WIDTH + k]) * inverse_scale;
                triple.set(n, [number(0), number(1), number(2)]);
            }
        }
    }
    scale
}

/// The memory to prefetch while a strip is in use, because memory is far slower than the arithmetic.
#[derive(Clone, Copy)]
pub struct Prefetch {
    from: *const u8,
    step: usize,
}

/// The number of bytes that one prefetch brings.
const CACHE_LINE: usize = 64;

impl Prefetch {
    /// The part of the next strip in memory that tile `turn` of `turns` prefetches. With several tiles, a step is shorter than
    /// a cache line, so several prefetches reach the same line.
    pub fn next(strip: &[Triple], turn: usize, turns: usize) -> Prefetch {
        // After the last strip the address is outside of the arena. That is fine, because a prefetch never faults.
        let end = strip.as_ptr_range().end.cast::<u8>();
        Prefetch { from: end.wrapping_add(turn * size_of_val(strip) / turns), step: CACHE_LINE / turns }
    }
}

/// Three rows of a strip, packed or unpacked.
pub trait Rows {
    /// The numbers of row 0, 1 or 2 in the two vectors of columns that begin at `column`.
    fn numbers<I: Isa>(&mut self, isa: I, row: usize, column: usize) -> [I::F32; 2];
}

impl Rows for &Triple {
    #[inline(always)]
    fn numbers<I: Isa>(&mut self, isa: I, row: usize, column: usize) -> [I::F32; 2] {
        let ints = isa.i32();
        let (first, second) = (&self.0[0][column..], &self.0[1][column..]);
        let first = [ints.load(first), ints.load(&first[ints.len()..])];
        let second = [ints.load(second), ints.load(&second[ints.len()..])];
        let words = match row {
            0 => first,
            1 => second,
            // No closure: code that is not inlined here is not compiled for the selected instruction set.
            _ => [third(isa, first[0], second[0]), third(isa, first[1], second[1])],
        };
        [ints.to_float(words[0]), ints.to_float(words[1])]
    }
}

#[inline(always)]
fn third<I: Isa>(isa: I, first: I::I32, second: I::I32) -> I::I32 {
    let ints = isa.i32();
    let lower = ints.and(ints.shift_left::<THIRD_SHIFT>(second), ints.splat(SHARED_MASK << THIRD_SHIFT));
    ints.or(ints.shift_left::<{ THIRD_SHIFT + SHARED }>(first), lower)
}

/// The numbers of a [`Triple`].
#[derive(Clone, Copy)]
pub struct Unpacked([Piece; Triple::ROWS]);

impl Unpacked {
    pub const ZERO: Unpacked = Unpacked([Piece::ZERO; Triple::ROWS]);
}

impl Rows for &Unpacked {
    #[inline(always)]
    fn numbers<I: Isa>(&mut self, isa: I, row: usize, column: usize) -> [I::F32; 2] {
        two_vectors(isa, &self.0[row], column)
    }
}

/// Unpacks the numbers and stores them.
impl Rows for (&Triple, &mut Unpacked) {
    #[inline(always)]
    fn numbers<I: Isa>(&mut self, isa: I, row: usize, column: usize) -> [I::F32; 2] {
        let ops = isa.f32();
        let numbers = self.0.numbers(isa, row, column);
        let stored = &mut self.1.0[row].0[column..];
        ops.store(numbers[0], stored);
        ops.store(numbers[1], &mut stored[ops.len()..]);
        numbers
    }
}

/// Multiplies rows `0..R` of `x` by two vectors of columns of a strip of weights. The sums still have to be multiplied by the
/// scale.
///
/// The order of the additions is fixed, so the result depends neither on the tile, nor on the number of threads, nor on
/// whether the strip is unpacked.
#[inline(always)]
pub fn weights_tile<I: Isa, const R: usize>(
    isa: I,
    x: &[Piece],
    step: usize,
    mut strip: impl ExactSizeIterator<Item: Rows>,
    column: usize,
    prefetch: Prefetch,
) -> [[I::F32; 2]; R] {
    let ops = isa.f32();
    let mut sums = [[ops.zero(); 2]; R];
    let mut fetch = prefetch.from;
    let blocks = strip.len() / WIDTH;
    for block in 0..blocks {
        let x = &x[block * Triple::ROWS * step..];
        let rows = [&x[..R], &x[step..][..R], &x[2 * step..][..R]];
        for (k, mut weights) in (0..WIDTH).zip(&mut strip) {
            for _ in 0..size_of::<Triple>() / CACHE_LINE {
                ops.prefetch(fetch.cast());
                fetch = fetch.wrapping_add(prefetch.step);
            }
            add::<I, R>(isa, &mut sums, rows[0], k, weights.numbers(isa, 0, column));
            add::<I, R>(isa, &mut sums, rows[1], k, weights.numbers(isa, 1, column));
            add::<I, R>(isa, &mut sums, rows[2], k, weights.numbers(isa, 2, column));
        }
    }
    sums
}
