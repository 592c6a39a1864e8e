//! Text to token ids, exactly as sentence-transformers does it.

use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};

use super::{MAX_TOKENS, VOCABULARY};
use crate::error::EmbedError;

/// The ids BERT puts around every text.
const CLS: u32 = 101;
const SEP: u32 = 102;

pub struct Tokens(Tokenizer);

impl Tokens {
    pub fn load(path: &Path) -> Result<Tokens, EmbedError> {
        let damaged = |why: String| EmbedError::Damaged { path: path.to_owned(), why };
        let bytes = std::fs::read(path).map_err(EmbedError::unreadable(path))?;
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|why| damaged(why.to_string()))?;
        // The file asks for 128 tokens, always padded; sentence-transformers overrides it, and so do we.
        let truncation = TruncationParams { max_length: MAX_TOKENS, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|why| damaged(why.to_string()))?;
        tokenizer.with_padding(None);

        let (size, cls, sep) =
            (tokenizer.get_vocab_size(true), tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]"));
        if (size, cls, sep) != (VOCABULARY, Some(CLS), Some(SEP)) {
            return Err(damaged(format!("it has {size} words, [CLS] {cls:?} and [SEP] {sep:?}: another model's")));
        }
        Ok(Tokens(tokenizer))
    }

    pub fn ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let encoding =
            self.0.encode_fast(enough(text), true).map_err(|why| EmbedError::Failed { why: why.to_string() })?;
        Ok(encoding.get_ids().to_vec())
    }
}

/// The beginning of `text` that already fills the model: what follows cannot change the vector, so a megabyte costs no
/// more than a page, and texts that differ only beyond it share a cache entry.
///
/// A word with an ASCII letter or digit is at least one token and so is a Chinese character, and both end where the
/// cut is made, so the tokens before the cut are those of the whole text.
pub fn enough(text: &str) -> &str {
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
    fn a_text_is_cut_only_after_enough_tokens() {
        let words = "word ".repeat(1000);
        assert_eq!(enough(&words).len(), MAX_TOKENS * "word ".len());
        assert_eq!(enough(&"京".repeat(1000)).len(), MAX_TOKENS * "京".len());
        let punctuation = "… — ! ".repeat(1000);
        assert_eq!(enough(&punctuation), punctuation, "what might not be a token does not count");
        assert_eq!(enough("short"), "short");
    }
}
