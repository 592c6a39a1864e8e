//! Compares the model with sentence-transformers.

use crate::common::{largest_difference, model_dir, references};
use butler_embed::minilm::{MAX_TOKENS, Model, Scratch};
use rayon::ThreadPoolBuilder;
use tokenizers::{Tokenizer, TruncationParams};

#[test]
fn token_ids_are_those_of_sentence_transformers() {
    let model = Model::load(&model_dir()).unwrap();
    for reference in references() {
        assert_eq!(model.token_ids(&reference.text).unwrap(), reference.token_ids, "{:?}", reference.text);
    }
}

#[test]
fn vectors_are_those_of_sentence_transformers() {
    let model = Model::load(&model_dir()).unwrap();
    let mut scratch = Scratch::default();
    for reference in references() {
        let vectors = model.forward(&[reference.token_ids], &mut scratch, true);
        let difference = largest_difference(&vectors[0], &reference.vector);
        assert!(difference <= 1e-5, "{:?} differs by {difference}", reference.text);
    }
}

#[test]
fn a_batch_equals_single_texts_on_any_number_of_threads() {
    let model = Model::load(&model_dir()).unwrap();
    let sequences: Vec<Vec<u32>> = references().into_iter().map(|reference| reference.token_ids).collect();
    let mut scratch = Scratch::default();
    let singles: Vec<_> =
        sequences.iter().map(|ids| model.forward(std::slice::from_ref(ids), &mut scratch, false).remove(0)).collect();
    assert_eq!(model.forward(&sequences, &mut scratch, false), singles, "to the last bit");
    for threads in [1, 3, 5] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| model.forward(&sequences, &mut scratch, true)), singles, "to the last bit");
    }
}

#[test]
fn a_text_is_truncated_at_256_tokens() {
    let model = Model::load(&model_dir()).unwrap();
    let long = "memory ".repeat(300);
    let ids = model.token_ids(&long).unwrap();
    assert_eq!(ids.len(), MAX_TOKENS);
    assert_eq!((ids[0], ids[MAX_TOKENS - 1]), (101, 102), "the special tokens stay");
    assert_eq!(model.token_ids(&"memory ".repeat(254)).unwrap(), ids, "tokens beyond the limit are ignored");
    assert_eq!(model.token_ids(&"memory ".repeat(253)).unwrap().len(), MAX_TOKENS - 1);
}

#[test]
fn the_prefix_of_a_long_text_has_the_same_tokens_as_the_full_text() {
    let model = Model::load(&model_dir()).unwrap();
    let mut plain = Tokenizer::from_file(model_dir().join("tokenizer.json")).unwrap();
    let truncation = TruncationParams { max_length: MAX_TOKENS, ..TruncationParams::default() };
    plain.with_padding(None).with_truncation(Some(truncation)).unwrap();
    for unit in ["Ünïcödé, words — and 3 numbers! ", "東京は日本の首都です", "no-spaces_here/but\tpunctuation.\n", "… "]
    {
        let text = unit.repeat((1 << 16) / unit.len());
        let expected = plain.encode(text.as_str(), true).unwrap();
        assert_eq!(model.token_ids(&text).unwrap(), expected.get_ids(), "{unit}");
    }
}
