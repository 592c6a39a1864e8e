//! The bundled tokenizer for token budgets: the byte-pair encoding `cl100k_base`. The client's model may count slightly
//! differently, but the count of a text is deterministic. ADR 209 says why this library.

use crate::context::TokenCounter;

/// Counts tokens of `cl100k_base`. Each thread that counts keeps a cache of 1.2 MB.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Bpe;

impl TokenCounter for Bpe {
    fn count(&self, text: &str) -> usize {
        tables().count(text)
    }
}

/// Builds the tables that all instances share, which takes 80 ms. Otherwise the first count does.
pub fn prepare() {
    tables();
}

fn tables() -> &'static tiktoken::CoreBpe {
    tiktoken::get_encoding("cl100k_base").expect("the encoding is compiled in")
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
            for turn in ["computed", "perhaps from the cache"] {
                assert_eq!(Bpe.count(text), tokens, "{turn}: {text:?}");
            }
        }
    }
}
