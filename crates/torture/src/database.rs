//! The torture's own way to PostgreSQL: what it broke itself may take its time to come back.

use std::time::{Duration, Instant};

use anyhow::Context;
use sqlx::{Connection, PgConnection};

/// PostgreSQL goes through its log after a crash, and a busy machine lets it wait: whether the server came back in time is
/// checked elsewhere, so this one only ends a run that nothing can save.
const PATIENCE: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(200);
/// A server that was stopped takes a connection and says nothing.
const CONNECT: Duration = Duration::from_secs(30);

pub async fn connect(database_url: &str) -> anyhow::Result<PgConnection> {
    let connected = tokio::time::timeout(CONNECT, PgConnection::connect(database_url)).await;
    Ok(connected.context("no answer in time")??)
}

/// Again and again until it succeeds, or until nobody would wait any longer.
pub async fn patiently<T>(attempt: impl AsyncFnMut() -> anyhow::Result<T>) -> anyhow::Result<T> {
    within(PATIENCE, PAUSE, attempt).await
}

async fn within<T>(
    patience: Duration,
    pause: Duration,
    mut attempt: impl AsyncFnMut() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let begun = Instant::now();
    loop {
        match attempt().await {
            Err(_) if begun.elapsed() < patience => tokio::time::sleep(pause).await,
            outcome => return outcome.with_context(|| format!("PostgreSQL was not back within {patience:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[tokio::test]
    async fn a_database_that_is_not_back_yet_is_waited_for() {
        let mut attempts = 0;
        let done = within(Duration::from_secs(60), Duration::ZERO, async || {
            attempts += 1;
            if attempts < 4 {
                bail!("the database system is in recovery mode");
            }
            Ok(attempts)
        });
        assert_eq!(done.await.unwrap(), 4);
    }

    #[tokio::test]
    async fn one_that_never_comes_back_is_told_with_what_it_said_last() {
        let never = within(Duration::ZERO, Duration::ZERO, async || -> anyhow::Result<()> { bail!("refused") });
        let error = format!("{:#}", never.await.unwrap_err());
        assert!(error.ends_with("refused") && error.contains("was not back within"), "{error}");
    }

    #[tokio::test]
    async fn a_connection_to_nobody_is_an_error_that_can_be_tried_again() {
        let nobody = connect("postgres://nobody@127.0.0.1:1/none");
        assert!(nobody.await.is_err());
    }
}
