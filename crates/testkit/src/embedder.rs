//! An embedder without a model: equal texts have equal vectors, and texts that share words have similar ones.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use butler_embed::{DIMENSIONS, EmbedError, EmbedStats, Embedder, ModelId, Vector};
use futures::FutureExt;
use futures::future::BoxFuture;

/// Embeds words by their hash, and counts the texts.
#[derive(Debug)]
pub struct FakeEmbedder {
    version: &'static str,
    known: &'static [&'static str],
    texts: AtomicU64,
}

impl Default for FakeEmbedder {
    fn default() -> Self {
        Self::of_version("1")
    }
}

impl FakeEmbedder {
    /// Another version of the fake model, whose vectors are not comparable with those of the first.
    pub fn of_version(version: &'static str) -> Self {
        Self { version, known: &[], texts: AtomicU64::new(0) }
    }

    /// A model whose vocabulary consists of these words.
    pub fn with_vocabulary(known: &'static [&'static str]) -> Self {
        Self { known, ..Self::default() }
    }

    /// The number of texts embedded so far.
    pub fn texts(&self) -> u64 {
        self.texts.load(Ordering::Relaxed)
    }

    /// The vector of a text, without a future.
    pub fn vector(&self, text: &str) -> Vector {
        let mut vector = vec![0_f32; DIMENSIONS];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let mut hasher = DefaultHasher::new();
            (self.version, word.to_lowercase()).hash(&mut hasher);
            let hash = hasher.finish();
            for turn in 0..4 {
                let bits = hash.rotate_left(turn * 16);
                vector[bits as usize % DIMENSIONS] += if bits & (1 << 15) == 0 { 1.0 } else { -1.0 };
            }
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length == 0.0 {
            // There are no words, or they cancel each other out.
            vector[0] = 1.0;
        } else {
            vector.iter_mut().for_each(|x| *x /= length);
        }
        vector.into()
    }
}

impl Embedder for FakeEmbedder {
    fn embed(&self, text: Option<&str>) -> BoxFuture<'_, Result<Vector, EmbedError>> {
        self.texts.fetch_add(1, Ordering::Relaxed);
        let vector = self.vector(text.unwrap_or(" "));
        async move { Ok(vector) }.boxed()
    }

    fn embed_batch(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vector>, EmbedError>> {
        self.texts.fetch_add(texts.len() as u64, Ordering::Relaxed);
        async move { Ok(texts.iter().map(|text| self.vector(text)).collect()) }.boxed()
    }

    fn model(&self) -> ModelId {
        ModelId { model: "fake", version: self.version, dimensions: DIMENSIONS }
    }

    fn is_known_word(&self, word: &str) -> bool {
        self.known.contains(&word)
    }

    fn stats(&self) -> EmbedStats {
        EmbedStats { loaded: true, texts: self.texts(), ..EmbedStats::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn equal_texts_have_equal_vectors_and_shared_words_similar_ones() {
        let fake = FakeEmbedder::default();
        let peanuts = fake.vector("allergic to peanuts");
        assert_eq!(peanuts, fake.vector("Allergic to  PEANUTS."));
        assert!(cosine(&peanuts, &fake.vector("peanuts")) > cosine(&peanuts, &fake.vector("weather in Paris")));
        assert_ne!(peanuts, FakeEmbedder::of_version("2").vector("allergic to peanuts"));
        assert_eq!(fake.vector("")[0], 1.0);
    }
}
