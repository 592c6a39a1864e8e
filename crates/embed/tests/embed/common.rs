//! Locates the real model. The first test that needs it fetches it into the user's cache.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde::Deserialize;

/// A text with the token ids and the vector that sentence-transformers computes.
#[derive(Deserialize)]
pub struct Reference {
    pub text: String,
    pub token_ids: Vec<u32>,
    pub vector: Vec<f32>,
}

pub fn references() -> Vec<Reference> {
    serde_json::from_str(include_str!("../fixtures/minilm.json")).expect("the fixture is JSON")
}

pub fn model_dir() -> PathBuf {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        butler_embed::locate_model(None, &butler_fetch::default_cache_dir(), &butler_fetch::Silent)
            .expect("the model can be fetched")
    })
    .clone()
}

pub fn largest_difference(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}
