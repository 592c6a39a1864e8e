//! Compares the kernels with plain arithmetic, and the model with sentence-transformers, for every instruction set of
//! this processor.

use std::cell::Cell;

use rten_simd::isa::GenericIsa;
use rten_simd::ops::BitOps;
use rten_simd::{Isa, Simd, SimdOp};
use serde::Deserialize;

use super::attention::attend;
use super::dense::{Finish, Strip};
use super::kernel::{Piece, WIDTH};
use super::norm::{Norm, Normalise};
use super::packed::{Rows, Triple, pack};
use super::{HIDDEN, Model, Scratch, instructions, kernel};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Best,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

thread_local! {
    static CHOSEN: Cell<Chosen> = const { Cell::new(Chosen::Best) };
}

pub(super) fn run_on_chosen<Op: SimdOp>(work: Op) -> Op::Output {
    match CHOSEN.get() {
        Chosen::Best => work.dispatch(),
        #[cfg(target_arch = "x86_64")]
        Chosen::Avx512 => x86::avx512(work),
        #[cfg(target_arch = "x86_64")]
        Chosen::Avx2 => x86::avx2(work),
        Chosen::Portable => work.eval(GenericIsa::new()),
    }
}

/// Compiles the operation for this instruction set, like `dispatch`. Calling `eval` directly would not inline the
/// operations.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use rten_simd::SimdOp;
    use rten_simd::isa::{Avx2Isa, Avx512Isa};

    #[expect(unsafe_code, reason = "a test for each kind of instructions, not only for the best")]
    pub fn avx512<Op: SimdOp>(work: Op) -> Op::Output {
        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,f16c")]
        fn run<Op: SimdOp>(isa: Avx512Isa, work: Op) -> Op::Output {
            work.eval(isa)
        }
        let isa = Avx512Isa::new().expect("looked for by the test");
        // SAFETY: the value exists only where the processor has these instructions.
        unsafe { run(isa, work) }
    }

    #[expect(unsafe_code, reason = "a test for each kind of instructions, not only for the best")]
    pub fn avx2<Op: SimdOp>(work: Op) -> Op::Output {
        #[target_feature(enable = "avx,avx2,fma,f16c")]
        fn run<Op: SimdOp>(isa: Avx2Isa, work: Op) -> Op::Output {
            work.eval(isa)
        }
        let isa = Avx2Isa::new().expect("looked for by the test");
        // SAFETY: the value exists only where the processor has these instructions.
        unsafe { run(isa, work) }
    }
}

/// Runs the model with the named instruction set: each text alone, and all texts together.
fn gives_the_reference(chosen: Chosen, name: &str) {
    #[derive(Deserialize)]
    struct Reference {
        text: String,
        token_ids: Vec<u32>,
        vector: Vec<f32>,
    }

    let dir = crate::locate_model(None, &butler_fetch::default_cache_dir(), &butler_fetch::Silent)
        .expect("the model can be fetched");
    let model = Model::load(&dir).unwrap();
    let references: Vec<Reference> =
        serde_json::from_str(include_str!("../../tests/fixtures/minilm.json")).expect("the fixture is JSON");
    let sequences: Vec<Vec<u32>> = references.iter().map(|reference| reference.token_ids.clone()).collect();
    // On this thread alone, because the choice of instructions is thread-local.
    CHOSEN.set(chosen);
    assert_eq!(instructions(), name);
    let mut scratch = Scratch::default();
    let together = model.forward(&sequences, &mut scratch, false);
    for ((reference, ids), among_others) in references.iter().zip(&sequences).zip(together) {
        let alone = model.forward(std::slice::from_ref(ids), &mut scratch, false).remove(0);
        assert_eq!(alone, among_others, "{name}, to the last bit: {:?}", reference.text);
        let differences = alone.iter().zip(&reference.vector).map(|(a, b)| (a - b).abs());
        let largest = differences.fold(0.0, f32::max);
        assert!(largest <= 1e-5, "{name}: {:?} differs by {largest}", reference.text);
    }
}

#[test]
fn portable_instructions_give_the_vectors_of_sentence_transformers() {
    // Instruction sets are recognised by their width, and these are as wide as NEON's.
    gives_the_reference(Chosen::Portable, if cfg!(target_arch = "aarch64") { "NEON" } else { "portable" });
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_gives_the_vectors_of_sentence_transformers() {
    if rten_simd::isa::Avx2Isa::new().is_none() {
        return eprintln!("this processor has no AVX2");
    }
    gives_the_reference(Chosen::Avx2, "AVX2");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx_512_gives_the_vectors_of_sentence_transformers() {
    if rten_simd::isa::Avx512Isa::new().is_none() {
        return eprintln!("this processor has no AVX-512");
    }
    gives_the_reference(Chosen::Avx512, "AVX-512");
}

/// The instruction set that the program itself selects, for example NEON.
#[test]
fn the_best_instructions_give_the_vectors_of_sentence_transformers() {
    gives_the_reference(Chosen::Best, instructions());
}

/// Pseudo-random numbers between -1 and 1.
fn noise(seed: u32, count: usize) -> Vec<Piece> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / u32::MAX as f32 * 2.0 - 1.0
    };
    (0..count).map(|_| Piece(std::array::from_fn(|_| next()))).collect()
}

/// A packed strip, and its weights as they were before.
struct PackedStrip {
    strip: Vec<Triple>,
    scale: Piece,
    weights: Vec<Piece>,
}

impl PackedStrip {
    fn new(weights: Vec<Piece>) -> Self {
        let columns: Vec<f32> = (0..WIDTH).flat_map(|column| weights.iter().map(move |row| row.0[column])).collect();
        let mut strip = vec![Triple::ZERO; weights.len() / Triple::ROWS];
        let scale = pack(&columns, &mut strip);
        Self { strip, scale, weights }
    }

    fn times<'a>(
        &'a self,
        x: &'a [Piece],
        stride: usize,
        bias: &'a Piece,
        finish: Finish,
        out: &'a mut [Piece],
    ) -> Strip<'a> {
        Strip { x, stride, strip: &self.strip, scale: &self.scale, bias, finish, out }
    }
}

#[test]
fn a_packed_weight_is_within_a_millionth_of_the_largest_in_its_column() {
    let mut weights = noise(5, 192);
    for (k, row) in weights.iter_mut().enumerate() {
        let alternating = if k % 2 == 0 { 1.0 } else { -1.0 };
        row.0[..6].copy_from_slice(&[0.0, 1e-38, 1.0, -1.0, alternating, 1e-3 * alternating]);
    }
    let packed = PackedStrip::new(weights);
    let isa = GenericIsa::new();
    let lanes = isa.f32().len();
    for (k, weights) in packed.weights.iter().enumerate() {
        let (block, row) = (k / (Triple::ROWS * WIDTH), k / WIDTH % Triple::ROWS);
        for (column, weight) in weights.0.into_iter().enumerate() {
            let two_vectors =
                (&packed.strip[block * WIDTH + k % WIDTH]).numbers(isa, row, column / (2 * lanes) * 2 * lanes);
            let number = two_vectors[column / lanes % 2].to_array()[column % lanes];
            let found = number * packed.scale.0[column];
            let largest = packed.weights.iter().map(|row| row.0[column].abs()).fold(0.0, f32::max);
            assert!((found - weight).abs() <= largest * 1e-6 + 1e-37, "row {k}, column {column}: {found} for {weight}");
        }
    }
}

fn assert_close(found: &[Piece], expected: &[Piece]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        for (found, expected) in found.0.iter().zip(expected.0) {
            assert!((found - expected).abs() < 2e-5, "{found} is not {expected}");
        }
    }
}

/// The products of a row of `x` and every column of the strip, computed in f64.
fn product(x: &[Piece], stride: usize, strip: &[Piece], row: usize) -> [f64; WIDTH] {
    std::array::from_fn(|column| {
        let term = |k: usize| x[k / WIDTH * stride + row].0[k % WIDTH] as f64 * strip[k].0[column] as f64;
        (0..strip.len()).map(term).sum()
    })
}

#[test]
fn a_strip_is_the_product_for_any_number_of_rows() {
    let (packed, bias) = (PackedStrip::new(noise(1, 96)), noise(2, 1)[0]);
    for rows in (1..=20).chain([40]) {
        let (stride, before) = (rows + 1, noise(4, rows));
        let x = noise(3, 3 * stride);
        for finish in [Finish::Keep, Finish::Add] {
            let expected: Vec<Piece> = (0..rows)
                .map(|row| {
                    let sums = product(&x, stride, &packed.weights, row);
                    let start = if finish == Finish::Add { before[row].0 } else { [0.0; WIDTH] };
                    Piece(std::array::from_fn(|c| (sums[c] + (bias.0[c] + start[c]) as f64) as f32))
                })
                .collect();
            let mut best = before.clone();
            packed.times(&x, stride, &bias, finish, &mut best).dispatch();
            assert_close(&best, &expected);
            let mut portable = before.clone();
            packed.times(&x, stride, &bias, finish, &mut portable).eval(GenericIsa::new());
            assert_close(&portable, &expected);
            #[cfg(target_arch = "x86_64")]
            if let Some(isa) = rten_simd::isa::Avx2Isa::new() {
                let mut avx2 = before.clone();
                packed.times(&x, stride, &bias, finish, &mut avx2).eval(isa);
                assert_close(&avx2, &expected);
            }
        }
    }
}

#[test]
fn a_row_does_not_depend_on_other_rows() {
    // So many that all instruction sets need more tiles than MAX_PACKED_TILES. A single row needs one.
    let rows = 41;
    let (packed, bias) = (PackedStrip::new(noise(1, 384)), noise(2, 1)[0]);
    let x = noise(3, 12 * rows);
    let mut together = vec![Piece::ZERO; rows];
    packed.times(&x, rows, &bias, Finish::Gelu, &mut together).dispatch();
    for (row, together) in together.iter().enumerate() {
        let mut alone = [Piece::ZERO];
        packed.times(&x[row..], rows, &bias, Finish::Gelu, &mut alone).dispatch();
        assert_eq!(alone[0].0, together.0, "to the last bit");
    }
}

#[test]
fn attention_is_the_softmax_of_scores_times_values() {
    for tokens in [1, 2, 7, 31, 32, 33, 65, 256] {
        let (query, key, value) = (noise(1, tokens), noise(2, tokens), noise(3, tokens));
        let dot = |a: &Piece, b: &Piece| a.0.iter().zip(b.0).map(|(x, y)| *x as f64 * y as f64).sum::<f64>();
        let expected: Vec<Piece> = query
            .iter()
            .map(|query| {
                let weights: Vec<f64> = key.iter().map(|key| (dot(query, key) / (WIDTH as f64).sqrt()).exp()).collect();
                let sum: f64 = weights.iter().sum();
                let mixed = |c: usize| weights.iter().zip(&value).map(|(w, v)| w * v.0[c] as f64).sum::<f64>() / sum;
                Piece(std::array::from_fn(|c| mixed(c) as f32))
            })
            .collect();
        let mut out = vec![Piece::ZERO; tokens];
        attend(&query, &key, &value, &mut out);
        assert_close(&out, &expected);
    }
}

#[test]
fn a_normalised_row_has_mean_shift_and_deviation_scale() {
    let strips = HIDDEN / WIDTH;
    let norm = Norm { scale: vec![Piece([2.0; WIDTH]); strips], shift: vec![Piece([0.5; WIDTH]); strips] };
    let (rows, stride) = (4, 5);
    let before = noise(7, strips * stride);
    let mut best = before.clone();
    Normalise { x: &mut best, rows, norm: &norm }.dispatch();
    let mut portable = before.clone();
    Normalise { x: &mut portable, rows, norm: &norm }.eval(GenericIsa::new());
    assert_close(&portable, &best);
    for row in 0..rows {
        let values: Vec<f32> = best[row..].iter().step_by(stride).flat_map(|piece| piece.0).collect();
        let mean = values.iter().sum::<f32>() / HIDDEN as f32;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / HIDDEN as f32;
        assert!((mean - 0.5).abs() < 1e-5 && (variance.sqrt() - 2.0).abs() < 1e-4, "{mean} {variance}");
    }
    let untouched = |pieces: &[Piece]| pieces[rows..].iter().step_by(stride).map(|piece| piece.0).collect::<Vec<_>>();
    assert_eq!(untouched(&best), untouched(&before), "what lies between the strips is no row");
}

#[test]
fn tiles_cover_all_rows_once() {
    struct Seen(Vec<usize>);

    impl<I: Isa> kernel::Tiled<I> for Seen {
        fn run<const R: usize>(&mut self, _: I, first: usize) {
            self.0.extend(first..first + R);
        }
    }

    for rows in 0..100 {
        let mut seen = Seen(Vec::new());
        kernel::in_tiles(GenericIsa::new(), rows, &mut seen);
        assert_eq!(seen.0, (0..rows).collect::<Vec<_>>());
    }
}
