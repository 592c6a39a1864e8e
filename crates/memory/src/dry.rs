//! Doing a thing and taking it back: the honest way to say what it would do.

use butler_store::{Session, StoreError, Tx};

/// A step of a job: taken back at its end if it is dry.
pub(crate) enum Step<'a> {
    Real(&'a mut Session),
    Dry(Tx<'a>),
}

impl<'a> Step<'a> {
    pub async fn new(session: &'a mut Session, dry: bool) -> Result<Self, StoreError> {
        Ok(if dry { Self::Dry(session.begin().await?) } else { Self::Real(session) })
    }

    pub fn session(&mut self) -> &mut Session {
        match self {
            Self::Real(session) => session,
            Self::Dry(transaction) => transaction,
        }
    }

    pub async fn end(self) -> Result<(), StoreError> {
        match self {
            Self::Real(_) => Ok(()),
            Self::Dry(transaction) => transaction.rollback().await,
        }
    }
}
