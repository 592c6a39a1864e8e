//! Dry runs that execute a step and roll it back, so that their report cannot differ from the real run.

use butler_store::{Session, StoreError, Tx};

/// One step of a job. In a dry run it has its own transaction, which [`Self::end`] rolls back.
pub(crate) enum JobStep<'a> {
    Real(&'a mut Session),
    DryRun(Tx<'a>),
}

impl<'a> JobStep<'a> {
    pub async fn begin(session: &'a mut Session, dry_run: bool) -> Result<Self, StoreError> {
        Ok(if dry_run { Self::DryRun(session.begin().await?) } else { Self::Real(session) })
    }

    pub fn session(&mut self) -> &mut Session {
        match self {
            Self::Real(session) => session,
            Self::DryRun(transaction) => transaction,
        }
    }

    pub async fn end(self) -> Result<(), StoreError> {
        match self {
            Self::Real(_) => Ok(()),
            Self::DryRun(transaction) => transaction.rollback().await,
        }
    }
}
