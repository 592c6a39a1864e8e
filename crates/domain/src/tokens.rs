//! The bundled tokenizer for token budgets: the byte-pair encoding `cl100k_base`. The client's model may count slightly
//! differently, but the count of a text is deterministic.

use crate::context::TokenCounter;

/// Counts tokens of `cl100k_base`. The tables are built on first use and shared by all instances.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Bpe;

impl TokenCounter for Bpe {
    fn count(&self, text: &str) -> usize {
        tiktoken::get_encoding("cl100k_base").expect("the encoding is compiled in").count(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokenizer_is_deterministic_and_the_published_one() {
        // The first four counts come from OpenAI's own library, the others from its port `tiktoken-rs`.
        let expected = [
            ("hello world", 2),
            ("tiktoken is great!", 6),
            ("", 0),
            ("お誕生日おめでとう", 9),
            ("one.\n\ntwo", 3),
            ("one.\n  two\n", 5),
            ("\r\n\r\n x", 2),
            ("- [user] [likes]: tea (confidence: 0.88)\n", 16),
            ("It's what they'LL do", 7),
            ("1234567 km", 4),
            ("a   b\t\tc  ", 6),
            ("naïve Ωmega ſtraße", 10),
            ("我喜欢喝乌龙茶。", 14),
            ("👩\u{200d}👩\u{200d}👧 😀", 14),
            ("<|endoftext|>", 7),
            ("antidisestablishmentarianismantidisestablishmentarianism", 12),
            ("fn main() {\n    println!(\"hi\");\n}\n", 10),
        ];
        for (text, tokens) in expected {
            assert_eq!((text, Bpe.count(text)), (text, tokens));
            assert_eq!(Bpe.count(text), tokens, "again, from the cache: {text:?}");
        }
    }
}
