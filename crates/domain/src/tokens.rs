//! The bundled tokenizer by which budgets are kept: the byte-pair encoding `cl100k_base`. The model at the other end may
//! count a little differently; what matters is that the same text always counts the same.

use crate::context::TokenCounter;

/// Its tables are built on first use and shared by all.
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
        // as OpenAI's own library counts them
        assert_eq!(Bpe.count("hello world"), 2);
        assert_eq!(Bpe.count("tiktoken is great!"), 6);
        assert_eq!(Bpe.count(""), 0);
        assert_eq!(Bpe.count("お誕生日おめでとう"), 9);
        assert_eq!(Bpe.count("# Memory Context\n"), Bpe.count("# Memory Context\n"));
    }
}
