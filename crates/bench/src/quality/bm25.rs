//! BM25 over PostgreSQL's own lexemes, the baseline for words.

use std::collections::HashMap;

use sqlx::{PgConnection, Row};

/// The usual constants: how soon repeating a term stops to count, and how much a long text is discounted.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Texts per statement.
const BATCH: usize = 1000;

/// The lexemes of a text with their number of occurrences.
type Lexemes = Vec<(String, f64)>;

pub struct Bm25 {
    /// The texts with each term, and how often they have it.
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
}

impl Bm25 {
    pub async fn new(pg: &mut PgConnection, texts: &[String]) -> anyhow::Result<Self> {
        let mut all = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            all.extend(lexemes(pg, batch).await?);
        }
        Ok(Self::index(&all))
    }

    fn index(texts: &[Lexemes]) -> Self {
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        for (position, text) in texts.iter().enumerate() {
            for (term, count) in text {
                postings.entry(term.clone()).or_default().push((position, *count));
            }
        }
        Self { postings, lengths: texts.iter().map(|text| text.iter().map(|(_, count)| count).sum()).collect() }
    }

    /// The positions of the best texts for a query, best first.
    pub async fn search(&self, pg: &mut PgConnection, query: &str, limit: usize) -> anyhow::Result<Vec<usize>> {
        let terms = lexemes(pg, &[query.to_owned()]).await?;
        Ok(self.rank(terms.iter().flatten().map(|(term, _)| term.as_str()), limit))
    }

    fn rank<'a>(&self, terms: impl Iterator<Item = &'a str>, limit: usize) -> Vec<usize> {
        let texts = self.lengths.len() as f64;
        let average = self.lengths.iter().sum::<f64>() / texts.max(1.0);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for found in terms.filter_map(|term| self.postings.get(term)) {
            let having = found.len() as f64;
            let rarity = (1.0 + (texts - having + 0.5) / (having + 0.5)).ln();
            for (position, count) in found {
                let length = 1.0 - B + B * self.lengths[*position] / average;
                *scores.entry(*position).or_default() += rarity * count * (K1 + 1.0) / (count + K1 * length);
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.into_iter().take(limit).map(|(position, _)| position).collect()
    }
}

async fn lexemes(pg: &mut PgConnection, texts: &[String]) -> anyhow::Result<Vec<Lexemes>> {
    let rows = sqlx::query(
        "SELECT t.n, l.lexeme, cardinality(l.positions) FROM unnest($1::text[]) WITH ORDINALITY AS t (text, n),
                unnest(to_tsvector('pg_catalog.english', t.text)) AS l",
    )
    .bind(texts)
    .fetch_all(pg)
    .await?;
    let mut all = vec![Lexemes::new(); texts.len()];
    for row in rows {
        let (number, lexeme, count): (i64, String, i32) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        all[usize::try_from(number - 1)?].push((lexeme, f64::from(count)));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{Bm25, Lexemes};

    fn index(texts: &[&str]) -> Bm25 {
        let count = |text: &&str| text.split(' ').map(|word| (word.to_owned(), 1.0)).collect();
        Bm25::index(&texts.iter().map(count).collect::<Vec<Lexemes>>())
    }

    #[test]
    fn a_rare_term_counts_more_than_a_frequent_one() {
        let texts = index(&["cello tea", "runa tea", "runa boat", "runa car"]);
        assert_eq!(texts.rank(["runa", "cello"].into_iter(), 2), [0, 1]);
    }

    #[test]
    fn a_short_text_comes_before_a_long_one_and_no_term_finds_nothing() {
        let texts = index(&["cello and much else that is long", "cello"]);
        assert_eq!(texts.rank(["cello"].into_iter(), 10), [1, 0]);
        assert_eq!(texts.rank(["harp"].into_iter(), 10), [] as [usize; 0]);
    }
}
