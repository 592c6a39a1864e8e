//! The weights of the deep mode, the ranking for memories that are turns of a conversation.
//!
//! The SQL function `episodes_deep` scores the episodes, because the score of a turn also depends on its neighbours and
//! its session. docs/retrieval.md explains the method.

/// The weights of deep mode. A small grid search chose them; values nearby perform about as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeepWeights {
    /// Share of the keyword score, 0 to 1. The semantic score has the rest.
    pub keyword: f64,
    /// How much less a word counts that only a neighbouring turn has, from 0 (no less) to 1 (nothing).
    pub own_text: f64,
    /// Weight of a neighbouring turn's cosine similarity, added to the turn's own.
    pub neighbour: f64,
    /// Bonus for a turn by the speaker whom the query names.
    pub speaker: f64,
    /// Weight of the session's score: the mean of its five best turns, each of which counts half as much as the one before.
    pub session: f64,
    /// Exponent of the keyword score, scaled to 0–1: above 1, a few common words count less.
    pub exponent: f64,
}

impl Default for DeepWeights {
    fn default() -> Self {
        Self { keyword: 0.5, own_text: 0.5, neighbour: 0.3, speaker: 0.1, session: 0.5, exponent: 1.75 }
    }
}

impl DeepWeights {
    /// The weights in the order of `episodes_deep`'s array parameter.
    pub fn as_array(&self) -> [f64; 6] {
        [self.keyword, self.own_text, self.neighbour, self.speaker, self.session, self.exponent]
    }
}
