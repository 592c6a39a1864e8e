//! Connections of the torture test itself to PostgreSQL, which may still be recovering from a fault.

use std::time::{Duration, Instant};

use anyhow::Context;
use sqlx::{Connection, PgConnection};

/// Recovery after a crash takes time, and longer on a busy machine. Whether it took too long is checked elsewhere; this
/// limit only ends a run that cannot go on.
const RETRY_FOR: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(200);
/// A paused server accepts a connection and does not answer.
const CONNECT: Duration = Duration::from_secs(30);

pub async fn connect(database_url: &str) -> anyhow::Result<PgConnection> {
    let connected = tokio::time::timeout(CONNECT, PgConnection::connect(database_url)).await;
    Ok(connected.context("no answer in time")??)
}

/// Repeats an attempt until it succeeds or the time is over.
pub async fn retry<T>(attempt: impl AsyncFnMut() -> anyhow::Result<T>) -> anyhow::Result<T> {
    within(RETRY_FOR, PAUSE, attempt).await
}

async fn within<T>(
    limit: Duration,
    pause: Duration,
    mut attempt: impl AsyncFnMut() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let begun = Instant::now();
    loop {
        match attempt().await {
            Err(_) if begun.elapsed() < limit => tokio::time::sleep(pause).await,
            outcome => return outcome.with_context(|| format!("PostgreSQL did not come back within {limit:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[tokio::test]
    async fn a_failed_attempt_is_repeated_until_it_succeeds() {
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
    async fn after_the_limit_the_last_error_is_returned() {
        let never = within(Duration::ZERO, Duration::ZERO, async || -> anyhow::Result<()> { bail!("refused") });
        let error = format!("{:#}", never.await.unwrap_err());
        assert!(error.ends_with("refused") && error.contains("did not come back within"), "{error}");
    }

    #[tokio::test]
    async fn a_connection_to_a_closed_port_is_an_error() {
        assert!(connect("postgres://nobody@127.0.0.1:1/none").await.is_err());
    }
}
