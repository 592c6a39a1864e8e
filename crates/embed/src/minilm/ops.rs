//! The element-wise steps of the network, each one pass over its rows with the widest instructions the processor has.

use rten_simd::functional::simd_map;
use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdIterable, SimdOp, SimdUnaryOp};
use rten_vecmath::{Gelu, Normalize, NormalizeOptions, Softmax, Sum, SumSquareSub};

/// As in the model's config.json.
const NORM_EPSILON: f32 = 1e-12;

/// `row += bias` for every row.
pub struct AddBias<'a> {
    pub rows: &'a mut [f32],
    pub bias: &'a [f32],
}

impl SimdOp for AddBias<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        for row in self.rows.chunks_exact_mut(self.bias.len()) {
            add(isa, row, self.bias);
        }
    }
}

/// `row = gelu(row + bias)` for every row; the exact gelu (erf), not its tanh approximation, as BERT was trained.
pub struct AddBiasGelu<'a> {
    pub rows: &'a mut [f32],
    pub bias: &'a [f32],
}

impl SimdOp for AddBiasGelu<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        for row in self.rows.chunks_exact_mut(self.bias.len()) {
            let mut bias = self.bias.simd_iter_pad(ops);
            simd_map(
                ops,
                row,
                #[inline(always)]
                |x| {
                    let bias = bias.next().unwrap_or(ops.zero());
                    Gelu {}.eval(isa, ops.add(x, bias))
                },
            );
        }
    }
}

/// The learned scale and shift of a layer normalisation.
pub struct Norm {
    pub scale: Vec<f32>,
    pub shift: Vec<f32>,
}

/// `row = normalise(row + bias) · scale + shift` for every row.
pub struct LayerNorm<'a> {
    pub rows: &'a mut [f32],
    pub bias: Option<&'a [f32]>,
    pub norm: &'a Norm,
}

impl SimdOp for LayerNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let width = self.norm.scale.len();
        for row in self.rows.chunks_exact_mut(width) {
            if let Some(bias) = self.bias {
                add(isa, row, bias);
            }
            let mean = Sum::new(row).eval(isa) / width as f32;
            let variance = SumSquareSub::new(row, mean).eval(isa) / width as f32;
            Normalize::new_mut(
                row,
                NormalizeOptions {
                    pre_scale_bias: mean,
                    scale: 1.0 / (variance + NORM_EPSILON).sqrt(),
                    element_scale: Some(&self.norm.scale),
                    bias: 0.0,
                    element_bias: Some(&self.norm.shift),
                },
            )
            .eval(isa);
        }
    }
}

/// `row = softmax(row)` for every row of `width` values.
pub struct SoftmaxRows<'a> {
    pub rows: &'a mut [f32],
    pub width: usize,
}

impl SimdOp for SoftmaxRows<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        for row in self.rows.chunks_exact_mut(self.width) {
            Softmax::new_mut(row).eval(isa);
        }
    }
}

#[inline(always)]
fn add<I: Isa>(isa: I, row: &mut [f32], other: &[f32]) {
    let ops = isa.f32();
    let mut other = other.simd_iter_pad(ops);
    simd_map(
        ops,
        row,
        #[inline(always)]
        |x| ops.add(x, other.next().unwrap_or(ops.zero())),
    );
}
