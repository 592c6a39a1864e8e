//! Dense layers: `y = x · matrix + bias` for one strip of columns, followed by the activation while the numbers are
//! still in registers.

use std::cell::RefCell;

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp, SimdUnaryOp};
use rten_vecmath::Gelu;

use super::kernel::{Piece, Tiled, WIDTH, in_tiles, tiles};
use super::packed::{Prefetch, Triple, Unpacked, weights_tile};

/// What is done with a product after its bias is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    Keep,
    /// The exact GELU (with erf), with which BERT was trained, not the tanh approximation.
    Gelu,
    /// Adds the product to the output: the residual connection.
    Add,
}

/// One strip of columns of a product.
pub struct Strip<'a> {
    /// The pieces of all rows: first the first pieces, after `stride` pieces the second ones, and so on.
    pub x: &'a [Piece],
    pub stride: usize,
    /// This strip of the matrix.
    pub strip: &'a [Triple],
    /// The scale of its columns.
    pub scale: &'a Piece,
    pub bias: &'a Piece,
    pub finish: Finish,
    /// The result, one piece per row.
    pub out: &'a mut [Piece],
}

/// With two tiles, unpacking a strip for each is faster than unpacking it once; with four or more it is slower (ADR 4).
const MAX_PACKED_TILES: usize = 2;

thread_local! {
    /// The buffer for one unpacked strip. Each thread keeps its own, so that products do not allocate.
    static UNPACKED: RefCell<Vec<Unpacked>> = RefCell::default();
}

impl SimdOp for Strip<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (rows, columns) = (self.out.len(), 2 * isa.f32().len());
        let tiles = tiles(isa, rows);
        let packed = tiles <= MAX_PACKED_TILES;
        // Taken, because a closure that borrows it would not be compiled for the selected instruction set.
        let mut unpacked = UNPACKED.take();
        unpacked.resize(self.strip.len().max(unpacked.len()), Unpacked::ZERO);
        let turns = tiles * (WIDTH / columns);
        let mut work = StripTile { strip: self, unpacked: &mut unpacked, packed, column: 0, turn: 0, turns };
        for column in (0..WIDTH).step_by(columns) {
            work.column = column;
            in_tiles(isa, rows, &mut work);
        }
        UNPACKED.set(unpacked);
    }
}

struct StripTile<'a> {
    strip: Strip<'a>,
    unpacked: &'a mut [Unpacked],
    /// Whether each tile unpacks the strip in registers.
    packed: bool,
    column: usize,
    turn: usize,
    turns: usize,
}

impl<I: Isa> Tiled<I> for StripTile<'_> {
    #[inline(always)]
    fn run<const R: usize>(&mut self, isa: I, first: usize) {
        let ops = isa.f32();
        let Strip { x, stride, strip, scale, bias, finish, out } = &mut self.strip;
        let prefetch = Prefetch::next(strip, self.turn, self.turns);
        self.turn += 1;
        let (x, stride, unpacked) = (&x[first..], *stride, &mut self.unpacked[..strip.len()]);
        let sums = match first {
            _ if self.packed => weights_tile::<I, R>(isa, x, stride, strip.iter(), self.column, prefetch),
            0 => weights_tile::<I, R>(isa, x, stride, strip.iter().zip(unpacked), self.column, prefetch),
            _ => weights_tile::<I, R>(isa, x, stride, unpacked.iter(), self.column, prefetch),
        };
        for (row, sums) in out[first..].iter_mut().zip(sums) {
            for (n, sum) in sums.into_iter().enumerate() {
                let column = self.column + n * ops.len();
                let sum = ops.mul_add(sum, ops.load(&scale.0[column..]), ops.load(&bias.0[column..]));
                let output = &mut row.0[column..];
                let result = match finish {
                    Finish::Keep => sum,
                    Finish::Gelu => Gelu {}.eval(isa, sum),
                    Finish::Add => ops.add(sum, ops.load(output)),
                };
                ops.store(result, output);
            }
        }
    }
}
