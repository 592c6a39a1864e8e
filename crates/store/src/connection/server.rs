//! What must be known about a server before it is used: its version, its connection limit, and whether sessions are real.

use crate::connection::session::Session;
use crate::error::StoreError;

/// Formats PostgreSQL's version number: 180006 is 18.6. Before version 10 there were three parts: 90624 is 9.6.24.
pub(crate) fn server_version(number: u32) -> String {
    if number < 100_000 {
        return format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100);
    }
    format!("{}.{}", number / 10_000, number % 10_000)
}

/// How many connections the server accepts from ordinary roles, for all programs together.
pub(crate) async fn connections(session: &mut Session) -> Result<usize, StoreError> {
    let most = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                          - coalesce(current_setting('reserved_connections', true)::int, 0) AS "most!""#
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(usize::try_from(most).unwrap_or(1))
}

/// Refuses a pooler in transaction mode. It runs the statements of two sessions on one server connection, so that schema,
/// role and tenant would be those of whichever session set them last.
pub(crate) async fn check_sessions(one: &mut Session, other: &mut Session) -> Result<(), StoreError> {
    remember(one, "one").await?;
    remember(other, "other").await?;
    let kept = one
        .run(|pg| sqlx::query_scalar!(r#"SELECT current_setting('butler.session', true) AS kept"#).fetch_one(pg))
        .await?;
    if kept.as_deref() == Some("one") { Ok(()) } else { Err(StoreError::Pooled) }
}

async fn remember(session: &mut Session, name: &str) -> Result<(), StoreError> {
    session.run(|pg| sqlx::query!("SELECT set_config('butler.session', $1, false)", name).fetch_one(pg)).await?;
    Ok(())
}
