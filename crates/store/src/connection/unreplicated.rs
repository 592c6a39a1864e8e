//! Which tenants wrote something that the replica may not have yet.
//!
//! A position in the write-ahead log is asked for when a tenant that wrote first reads again, not when it writes, so
//! that writing costs nothing. Positions are bytes since the beginning of the log.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use butler_domain::TenantId;

/// Tenants remembered one by one; beyond it all of them count as having written.
const REMEMBERED: usize = 4096;

/// Which of the writes a mark stands for: a later one replaces it.
pub(crate) type Turn = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WritePosition {
    /// Nothing the replica could lack.
    Replicated,
    /// Wrote; up to where in the log nobody has asked yet.
    Unknown(Turn),
    Known(Turn, i64),
}

#[derive(Debug, Default)]
pub(crate) struct UnreplicatedWrites(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    turn: Turn,
    /// `None`: every tenant.
    all: Option<(Turn, Option<i64>)>,
    tenants: HashMap<TenantId, (Turn, Option<i64>)>,
}

impl UnreplicatedWrites {
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

    /// A migration, or a worker.
    pub fn wrote_all(&self) {
        let mut state = self.state();
        state.turn += 1;
        state.all = Some((state.turn, None));
    }

    pub fn of(&self, tenant: &TenantId) -> WritePosition {
        let state = self.state();
        let both = [state.all, state.tenants.get(tenant).copied()];
        // the later of the two is the further one in the log
        match both.into_iter().flatten().max_by_key(|(turn, _)| *turn) {
            None => WritePosition::Replicated,
            Some((turn, None)) => WritePosition::Unknown(turn),
            Some((turn, Some(at))) => WritePosition::Known(turn, at),
        }
    }

    /// Everything up to a turn was in the log at this position.
    pub fn place(&self, until: Turn, at: i64) {
        let mut state = self.state();
        let State { all, tenants, .. } = &mut *state;
        for (turn, placed) in all.iter_mut().chain(tenants.values_mut()) {
            if *turn <= until && placed.is_none() {
                *placed = Some(at);
            }
        }
    }

    /// The replica has everything up to here.
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
        let asked = unreplicated.turn();
        unreplicated.wrote(&ann);
        unreplicated.place(asked, 100);
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
