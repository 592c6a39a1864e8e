//! The plan of faults, made from the seed alone.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::dice::Dice;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// SIGKILL of `butler serve`; it is started again.
    KillServer,
    /// SIGKILL of the postmaster; the server must start it again.
    KillPostmaster,
    /// SIGKILL of one backend: PostgreSQL ends all other sessions and recovers.
    KillBackend,
    /// SIGKILL of the server and the postmaster; the next start recovers.
    KillBoth,
    /// SIGSTOP and SIGCONT of `butler serve`.
    PauseServer,
    /// SIGSTOP and SIGCONT of all processes of PostgreSQL.
    PausePostgres,
    /// Connections between clients and server break after some bytes.
    CutClients,
    /// Connections between server and PostgreSQL break after some bytes.
    CutDatabase,
    /// `pg_terminate_backend` of all sessions of the server.
    EndSessions,
    /// The disk of the data directory is full for a while.
    FillDisk,
    /// SIGKILL of the postmaster while the disk is full, so that it can recover only when there is space again.
    FillDiskAndKillPostmaster,
    /// The server's clock is set years ahead or back, then right again.
    JumpClock,
    /// A file is imported whose times and numbers no program can read.
    ImportPoison,
}

impl Fault {
    pub const ALL: [Self; 13] = [
        Self::KillServer,
        Self::KillPostmaster,
        Self::KillBackend,
        Self::KillBoth,
        Self::PauseServer,
        Self::PausePostgres,
        Self::CutClients,
        Self::CutDatabase,
        Self::EndSessions,
        Self::FillDisk,
        Self::FillDiskAndKillPostmaster,
        Self::JumpClock,
        Self::ImportPoison,
    ];

    pub fn needs_disk(self) -> bool {
        matches!(self, Self::FillDisk | Self::FillDiskAndKillPostmaster)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::KillServer => "SIGKILL of the server",
            Self::KillPostmaster => "SIGKILL of the postmaster",
            Self::KillBackend => "SIGKILL of a backend",
            Self::KillBoth => "SIGKILL of server and postmaster",
            Self::PauseServer => "pause of the server",
            Self::PausePostgres => "pause of PostgreSQL",
            Self::CutClients => "cuts between clients and server",
            Self::CutDatabase => "cuts between server and PostgreSQL",
            Self::EndSessions => "sessions ended by PostgreSQL",
            Self::FillDisk => "disk full",
            Self::FillDiskAndKillPostmaster => "disk full and SIGKILL of the postmaster",
            Self::JumpClock => "jump of the clock",
            Self::ImportPoison => "poisoned import",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Load without faults before this step.
    pub after: Duration,
    pub fault: Fault,
    /// The duration of a fault that has one.
    pub lasts: Duration,
}

/// The faults of one round.
pub fn round(seed: u64, number: u64, disk: bool) -> Vec<Step> {
    let mut dice = Dice::new(seed, 1_000_000 + number);
    let possible: Vec<Fault> = Fault::ALL.into_iter().filter(|fault| disk || !fault.needs_disk()).collect();
    let count = dice.between(3, 6);
    (0..count)
        .filter_map(|_| {
            Some(Step {
                fault: *dice.of(&possible)?,
                after: Duration::from_millis(dice.between(300, 4_000)),
                lasts: Duration::from_millis(dice.between(500, 5_000)),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Fault, round};

    #[test]
    fn the_same_seed_makes_the_same_plan() {
        assert_eq!(round(7, 3, true), round(7, 3, true));
        assert_ne!(round(7, 3, true), round(8, 3, true));
        assert_ne!(round(7, 3, true), round(7, 4, true));
    }

    #[test]
    fn every_fault_occurs_within_forty_rounds_and_disk_faults_only_with_a_disk() {
        let of = |disk| (0..40).flat_map(|number| round(1, number, disk)).map(|step| step.fault).collect::<Vec<_>>();
        assert!(Fault::ALL.iter().all(|fault| of(true).contains(fault)));
        assert!(!of(false).iter().any(|fault| fault.needs_disk()));
    }
}
