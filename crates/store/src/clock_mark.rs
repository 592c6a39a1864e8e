//! The latest time that a butler's processes trusted, and whether jobs that delete are on hold. Needs the owner's
//! session.

use butler_domain::Timestamp;
use butler_domain::clock::guard::{Mark, MarkChange};

use crate::{Session, StoreError};

/// Reads the mark; a new database has none, which is the default.
pub async fn read(session: &mut Session) -> Result<Mark, StoreError> {
    let row = session.run(|pg| sqlx::query!("SELECT latest, hold FROM butler_clock").fetch_optional(pg)).await?;
    Ok(row.map_or_else(Mark::default, |row| Mark { latest: row.latest, hold: row.hold }))
}

/// Applies a change to the mark. Other processes change it too, so only [`MarkChange::Accept`] ends a hold.
pub async fn change(session: &mut Session, change: &MarkChange) -> Result<(), StoreError> {
    match change {
        MarkChange::Advance(time) => advance(session, *time).await,
        MarkChange::Hold(reason) => hold(session, reason).await,
        MarkChange::Accept(time) => accept(session, *time).await,
    }
}

async fn advance(session: &mut Session, time: Timestamp) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "INSERT INTO butler_clock AS mark (latest) VALUES ($1)
                 ON CONFLICT (only_row) DO UPDATE SET latest = greatest(mark.latest, excluded.latest) WHERE mark.hold IS NULL",
                time
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

async fn hold(session: &mut Session, reason: &str) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "INSERT INTO butler_clock AS mark (hold) VALUES ($1)
                 ON CONFLICT (only_row) DO UPDATE SET hold = coalesce(mark.hold, excluded.hold)",
                reason
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

async fn accept(session: &mut Session, time: Timestamp) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "INSERT INTO butler_clock (latest) VALUES ($1)
                 ON CONFLICT (only_row) DO UPDATE SET latest = excluded.latest, hold = NULL",
                time
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}
