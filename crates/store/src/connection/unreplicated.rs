//! Which tenants wrote something that the replica may not have yet.
//!
//! The log position of a write is read when the tenant next reads, not when it writes, so a write costs nothing extra.
//! Positions are bytes from the start of the log.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use butler_domain::TenantId;

/// How many tenants are remembered individually. Beyond this, every tenant counts as having written.
const REMEMBERED: usize = 4096;

/// Numbers the writes. A later write replaces an earlier one.
pub(crate) type Turn = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WritePosition {
    /// The replica lacks nothing of this tenant.
    Replicated,
    /// The tenant wrote, and the log position is not known yet.
    Unknown(Turn),
    Known(Turn, i64),
}

#[derive(Debug, Default)]
pub(crate) struct UnreplicatedWrites(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    turn: Turn,
    /// The last write that concerns every tenant.
    all: Option<(Turn, Option<i64>)>,
    tenants: HashMap<TenantId, (Turn, Option<i64>)>,
}

impl UnreplicatedWrites {
    /// Records that a tenant may have written.
    pub fn wrote(&self, tenant: &TenantId) {
        let mut state = self.state();
        state.turn += 1;
        let turn = state.turn;
        let known = state.tenants.len();
        if let Some(mark) = state.tenants.get_mut(tenant) {
            *mark = (turn, None);
        } else if known < REMEMBERED {
            state.tenants.insert(tenant.clone(), (turn, None));
        } else {
            state.tenants.clear();
            state.all = Some((turn, None));
        }
    }

    /// Records a write for all tenants, by a migration or a job.
    pub fn wrote_all(&self) {
        let mut state = self.state();
        state.turn += 1;
        state.all = Some((state.turn, None));
    }

    /// How far the replica must have come before this tenant may read from it.
    pub fn of(&self, tenant: &TenantId) -> WritePosition {
        let state = self.state();
        let both = [state.all, state.tenants.get(tenant).copied()];
        // The later write has the later log position.
        match both.into_iter().flatten().max_by_key(|(turn, _)| *turn) {
            None => WritePosition::Replicated,
            Some((turn, None)) => WritePosition::Unknown(turn),
            Some((turn, Some(at))) => WritePosition::Known(turn, at),
        }
    }

    /// Records that all writes up to `until` were in the log at this position.
    pub fn place(&self, until: Turn, at: i64) {
        let mut state = self.state();
        let State { all, tenants, .. } = &mut *state;
        for (turn, placed) in all.iter_mut().chain(tenants.values_mut()) {
            if *turn <= until && placed.is_none() {
                *placed = Some(at);
            }
        }
    }

    /// Records that the replica has replayed the log up to this position.
    pub fn replayed(&self, at: i64) {
        let mut state = self.state();
        let there = |mark: &(Turn, Option<i64>)| mark.1.is_some_and(|placed| placed <= at);
        state.tenants.retain(|_, mark| !there(mark));
        if state.all.as_ref().is_some_and(there) {
            state.all = None;
        }
    }

    pub fn turn(&self) -> Turn {
        self.state().turn
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(name: impl Into<String>) -> TenantId {
        TenantId::new(name).unwrap()
    }

    #[test]
    fn a_write_is_remembered_until_the_replica_has_it() {
        let (unreplicated, ann, bob) = (UnreplicatedWrites::default(), tenant("ann"), tenant("bob"));
        unreplicated.wrote(&ann);
        assert_eq!(
            (unreplicated.of(&ann), unreplicated.of(&bob)),
            (WritePosition::Unknown(1), WritePosition::Replicated)
        );
        unreplicated.place(unreplicated.turn(), 100);
        assert_eq!(unreplicated.of(&ann), WritePosition::Known(1, 100));
        unreplicated.replayed(99);
        assert_eq!(unreplicated.of(&ann), WritePosition::Known(1, 100));
        unreplicated.replayed(100);
        assert_eq!(unreplicated.of(&ann), WritePosition::Replicated);
    }

    #[test]
    fn a_write_after_the_position_was_asked_for_is_not_covered_by_it() {
        let (unreplicated, ann) = (UnreplicatedWrites::default(), tenant("ann"));
        unreplicated.wrote(&ann);
        let turn = unreplicated.turn();
        unreplicated.wrote(&ann);
        unreplicated.place(turn, 100);
        assert_eq!(unreplicated.of(&ann), WritePosition::Unknown(2));
    }

    #[test]
    fn what_concerns_all_concerns_each_and_too_many_are_all() {
        let (unreplicated, ann) = (UnreplicatedWrites::default(), tenant("ann"));
        unreplicated.wrote_all();
        assert_eq!(unreplicated.of(&ann), WritePosition::Unknown(1));
        unreplicated.place(1, 5);
        unreplicated.wrote(&ann);
        assert_eq!(unreplicated.of(&ann), WritePosition::Unknown(2));
        for n in 0..REMEMBERED {
            unreplicated.wrote(&tenant(format!("t{n}")));
        }
        assert!(matches!(unreplicated.of(&tenant("never")), WritePosition::Unknown(_)));
    }
}
