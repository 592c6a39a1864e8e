//! Converts text to token ids, exactly like sentence-transformers.

use std::path::Path;
use std::str::FromStr;

use tokenizers::{Tokenizer, TruncationParams};

use super::{MAX_TOKENS, VOCABULARY};
use crate::error::EmbedError;

/// The ids of BERT's tokens before and after every text.
const CLS: u32 = 101;
const SEP: u32 = 102;

pub struct Tokens(Tokenizer);

impl Tokens {
    pub fn load(path: &Path) -> Result<Tokens, EmbedError> {
        let damaged = |why: String| EmbedError::Damaged { path: path.to_owned(), why };
        let bytes = std::fs::read(path).map_err(EmbedError::unreadable(path))?;
        let text = String::from_utf8(bytes).map_err(|why| damaged(why.to_string()))?;
        // `from_bytes` is generic, so this crate would compile the library's parser a second time.
        let mut tokenizer = Tokenizer::from_str(&text).map_err(|why| damaged(why.to_string()))?;
        // The file specifies 128 tokens with padding. Like sentence-transformers, we override both.
        let truncation = TruncationParams { max_length: MAX_TOKENS, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|why| damaged(why.to_string()))?;
        tokenizer.with_padding(None);

        let (size, cls, sep) =
            (tokenizer.get_vocab_size(true), tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]"));
        if (size, cls, sep) != (VOCABULARY, Some(CLS), Some(SEP)) {
            return Err(damaged(format!(
                "it has {size} words, [CLS] {cls:?} and [SEP] {sep:?}, so it belongs to another model"
            )));
        }
        Ok(Tokens(tokenizer))
    }

    pub fn ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let encoding =
            self.0.encode_fast(model_prefix(text), true).map_err(|why| EmbedError::Failed { why: why.to_string() })?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Whether `word` is a token by itself.
    pub fn contains(&self, word: &str) -> bool {
        self.0.token_to_id(word).is_some()
    }
}

/// The beginning of `text` that the model can see. The rest cannot change the vector, so a megabyte is as fast as a
/// page, and texts that differ only after the prefix share a cache entry.
///
/// A word with an ASCII letter or digit has at least one token, and so has a Chinese character. The cut is made only at
/// the end of such a word or character, so the tokens of the prefix are the first tokens of the whole text.
pub fn model_prefix(text: &str) -> &str {
    let (mut tokens, mut in_word) = (0, false);
    for (at, c) in text.char_indices() {
        let ends_word = in_word && matches!(c, ' ' | '\n' | '\t');
        if ends_word || matches!(c, '\u{4e00}'..='\u{9fff}') {
            (tokens, in_word) = (tokens + 1, false);
        } else if c.is_ascii_alphanumeric() {
            in_word = true;
        }
        if tokens == MAX_TOKENS {
            return &text[..at + c.len_utf8()];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_only_after_the_maximum_number_of_tokens() {
        let words = "word ".repeat(1000);
        assert_eq!(model_prefix(&words).len(), MAX_TOKENS * "word ".len());
        assert_eq!(model_prefix(&"京".repeat(1000)).len(), MAX_TOKENS * "京".len());
        let punctuation = "… — ! ".repeat(1000);
        assert_eq!(model_prefix(&punctuation), punctuation, "characters that may not be tokens are not counted");
        assert_eq!(model_prefix("short"), "short");
    }
}
