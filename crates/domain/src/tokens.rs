//! The bundled tokenizer for token budgets: the byte-pair encoding `cl100k_base`. The client's model may count slightly
//! differently, but the count of a text is deterministic.

use crate::context::TokenCounter;

/// Counts tokens of `cl100k_base`. The tables are built on first use and shared by all instances.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Bpe;

impl TokenCounter for Bpe {
    fn count(&self, text: &str) -> usize {
        tiktoken_rs::cl100k_base_singleton().count_ordinary(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokenizer_is_deterministic_and_the_published_one() {
        // The expected counts come from OpenAI's own library.
        assert_eq!(Bpe.count("hello world"), 2);
        assert_eq!(Bpe.count("tiktoken is great!"), 6);
        assert_eq!(Bpe.count(""), 0);
        assert_eq!(Bpe.count("お誕生日おめでとう"), 9);
        assert_eq!(Bpe.count("# Memory Context\n"), Bpe.count("# Memory Context\n"));
    }
}
