//! Facts that relations lead to from an entity that the query names: where they stand among the other results.

use butler_domain::Timestamp;
use butler_store::search::RetrievedMemory;

use super::{Hit, RatedMemory};

/// The last position, counted from 0, that the relation leading to the best fact may have.
const BEST_RELATION: usize = 2;

/// Places the facts that relations lead to, best first, among the sorted hits. Each comes after the relation that leads to
/// it, and before the first hit that shares neither a word nor an entity with the query. Of many such facts, the
/// later ones alternate with direct hits. With `needs_relation`, omits facts whose relation is not among the hits.
///
/// `complete` fills in the parts of the score.
pub(crate) fn place(
    hits: &mut Vec<Hit>,
    reached: Vec<RetrievedMemory>,
    needs_relation: bool,
    now: Timestamp,
    complete: impl Fn(&mut Hit),
) {
    // the number of facts placed, and the first place for another
    let (mut placed, mut next) = (0, 0);
    for memory in reached {
        let Some(way) = memory.matched.reached else { continue };
        let mut relation = hits.iter().position(|hit| hit.id == way.via);
        // The best of them is worth showing whole, with the relation before it.
        if let Some(place) = relation.filter(|place| placed == 0 && *place > BEST_RELATION) {
            let mut hit = hits.remove(place);
            hit.score = score_between(Some(hits[BEST_RELATION - 1].score), Some(hits[BEST_RELATION].score));
            complete(&mut hit);
            hits.insert(BEST_RELATION, hit);
            relation = Some(BEST_RELATION);
        }
        if relation.is_none() && needs_relation {
            continue;
        }
        // without words, nothing tells which hits are unrelated
        let has_words = hits.iter().any(|hit| hit.info.in_keyword);
        let unrelated = hits.iter().position(|hit| has_words && hit.is_unrelated()).unwrap_or(hits.len());
        let earliest = relation.map_or(unrelated, |relation| relation + 1);
        // after the better ones; from the third on, with a direct hit in between
        let wanted = earliest.max(next).min(unrelated).max(earliest);
        let known = hits.iter().position(|hit| hit.id == memory.id);
        let mut hit = match known {
            Some(place) if place <= wanted => {
                hits[place].info.reached = Some(way);
                placed += 1;
                next = next.max(place + 1);
                continue;
            }
            Some(place) => {
                let mut hit = hits.remove(place);
                hit.info.reached = Some(way);
                hit
            }
            None => Hit::new(RatedMemory { memory, relevance: None }, now),
        };
        hit.score = score_between(
            wanted.checked_sub(1).map(|before| hits[before].score),
            hits.get(wanted).map(|after| after.score),
        );
        complete(&mut hit);
        hits.insert(wanted, hit);
        placed += 1;
        next = wanted + if placed < 2 { 1 } else { 2 };
    }
}

/// A score below the one before and above the one after.
fn score_between(before: Option<f64>, after: Option<f64>) -> f64 {
    match (before, after) {
        (Some(before), Some(after)) => f64::midpoint(before, after).min(before.next_down()),
        (Some(before), None) => (before - 0.01 * before.abs()).min(before.next_down()),
        (None, Some(after)) => after.next_up(),
        (None, None) => 0.0,
    }
}

impl Hit {
    /// Whether it shares neither a word nor an entity with the query: it is only near in meaning.
    fn is_unrelated(&self) -> bool {
        !self.info.in_keyword && self.info.named != Some(true) && self.info.reached.is_none()
    }
}
