//! What the decisions about proposals and conflicts must leave behind.

use std::collections::HashSet;

use uuid::Uuid;

use super::{Check, Damage};
use crate::journal::{Change, Entry, Journal, Kind, Outcome};

/// The proposals that calls approved, or those that they rejected. An approval counts although its outcome is unknown,
/// because it may have taken effect; a rejection counts only if it was acknowledged.
pub(super) fn of(journal: &Journal, approvals: bool) -> HashSet<Uuid> {
    let decisions = journal.entries.values().filter_map(|entry| match (&entry.change, entry.outcome) {
        (_, Outcome::Refused) => None,
        (Change::Decide { approve: false, .. }, Outcome::Unknown) => None,
        (Change::Decide { proposal, approve, .. }, _) if *approve == approvals => Some(*proposal),
        _ => None,
    });
    decisions.collect()
}

impl Check<'_> {
    /// A proposal is stored at most once, and only after an approval.
    pub(super) fn proposed(&mut self, request: &str, entry: &Entry, content: &str, id: Option<Uuid>) {
        let Some(id) = id else {
            let detail = "the answer does not say that it is a proposal";
            return self.found(Damage::Unapproved, request, entry, detail);
        };
        self.event(request, entry, "proposal_made", id);
        self.at_most_once(request, entry, content);
        if self.contents.contains_key(content) {
            if self.rejected.contains(&id) {
                self.found(Damage::RejectedStored, request, entry, "");
            } else if !self.approved.contains(&id) {
                self.found(Damage::Unapproved, request, entry, "");
            }
        }
    }

    pub(super) fn decided(&mut self, request: &str, entry: &Entry) {
        let Change::Decide { kind, proposal, approve, memory, changed } = entry.change else { return };
        let (state, event) =
            if approve { ("approved", "proposal_approved") } else { ("rejected", "proposal_rejected") };
        if changed {
            self.event(request, entry, event, if approve { memory } else { Some(proposal) });
        }
        // an erasure deletes the proposals that name the entity
        if self.rows.proposals.get(&proposal).is_some_and(|row| row.state != state) {
            self.found(Damage::MissingDecision, request, entry, "");
        }
        if approve && memory.is_none_or(|id| !self.is_removed(kind, id) && self.row(kind, id).is_none()) {
            self.found(Damage::Lost, request, entry, "");
        }
    }

    pub(super) fn resolved(&mut self, request: &str, entry: &Entry) {
        let Change::Resolve { conflict, sides, resolution, content } = &entry.change else { return };
        let [a, b] = *sides;
        self.event(request, entry, "conflict_resolved", a);
        let known = self.rows.conflicts.get(conflict);
        // an erased fact takes its conflicts with it
        let is_erased = known.is_none() && sides.iter().any(|id| self.rows.erased.contains(id));
        if !is_erased && known.is_none_or(|known| known.resolution.as_deref() != Some(*resolution)) {
            self.found(Damage::MissingResolution, request, entry, "");
        }
        let discarded: &[Uuid] = match *resolution {
            "keep_a" | "merge" => &[b],
            "keep_b" => &[a],
            "forget_both" => &[a, b],
            _ => &[],
        };
        for fact in discarded {
            self.forgotten(request, entry, Kind::Fact, *fact, false);
        }
        if let (Some(content), Some(known)) = (content, known) {
            self.merged(request, entry, content, known.result);
        }
        for side in sides {
            let fact = self.rows.facts.get(side);
            if fact.is_some_and(|fact| self.active.get(fact.content.as_str()).is_some_and(|facts| *facts > 1)) {
                self.found(Damage::SideActiveTwice, request, entry, &side.to_string());
            }
        }
    }

    /// The fact that a merge of two facts stored.
    fn merged(&mut self, request: &str, entry: &Entry, content: &str, result: Option<Uuid>) {
        let Some(fact) = result.and_then(|id| self.rows.facts.get(&id)) else {
            if result.is_none_or(|id| !self.rows.erased.contains(&id)) {
                self.found(Damage::Lost, request, entry, "");
            }
            return;
        };
        if fact.content != content {
            self.found(Damage::Changed, request, entry, "");
        }
        self.at_most_once(request, entry, content);
    }
}
