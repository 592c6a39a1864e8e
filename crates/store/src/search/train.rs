//! Training of the vector indexes. An IVFFlat index uses the centres of the rows that existed when it was built.

use crate::{Session, StoreError};

/// Below this many rows exact search is as fast, and centres would be noise.
const WORTH_TRAINING: i64 = 1000;
/// An index is trained again when the store has this many times the rows it was trained on, or that fraction of them.
const GROWTH: i64 = 2;
/// An arbitrary lock key. One worker trains at a time.
const LOCK: i64 = 0x6976_6666;

/// A vector index that was trained, with its number of lists and the rows it was trained on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trained {
    pub relation: &'static str,
    pub lists: i32,
    pub rows: i64,
}

/// Trains each vector index whose table has grown enough, as the owner. Reads and writes continue meanwhile. It does
/// nothing if another process is training.
pub async fn retrain(session: &mut Session) -> Result<Vec<Trained>, StoreError> {
    let locked = session
        .run(|pg| sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock($1) AS "locked!""#, LOCK).fetch_one(pg))
        .await?;
    if !locked {
        return Ok(Vec::new());
    }
    let result = retrain_all(session).await;
    let unlocked = session.run(|pg| sqlx::query!("SELECT pg_advisory_unlock($1) AS done", LOCK).fetch_one(pg)).await;
    if unlocked.is_err() {
        session.discard();
    }
    result
}

async fn retrain_all(session: &mut Session) -> Result<Vec<Trained>, StoreError> {
    // An index that an interrupted rebuild left behind is invalid, but still slows down every insert.
    session.run(|pg| sqlx::query!("SELECT FROM drop_invalid_vector_indexes()").execute(pg)).await?;
    let mut trained = Vec::new();
    for relation in ["episodes", "facts", "rules"] {
        let state = session
            .run(|pg| {
                sqlx::query!(r#"SELECT rows AS "rows!", trained AS "trained!" FROM vector_index_state($1)"#, relation)
                    .fetch_one(pg)
            })
            .await?;
        let shrunk = state.rows >= WORTH_TRAINING && state.trained >= state.rows.saturating_mul(GROWTH);
        if !outgrown(state.rows, state.trained) && !shrunk {
            continue;
        }
        let lists = lists(state.rows);
        tracing::info!(relation, rows = state.rows, lists, "training the vector index");
        session
            .run(|pg| sqlx::query!("SELECT FROM set_vector_index_lists($1, $2)", relation, lists).execute(pg))
            .await?;
        // REINDEX CONCURRENTLY commits between its steps so that it blocks nobody, so it cannot run inside a function.
        let rebuild = match relation {
            "episodes" => "REINDEX INDEX CONCURRENTLY episodes_embedding",
            "facts" => "REINDEX INDEX CONCURRENTLY facts_embedding",
            _ => "REINDEX INDEX CONCURRENTLY rules_embedding",
        };
        session.run(|pg| sqlx::raw_sql(rebuild).execute(pg)).await?;
        session
            .run(|pg| {
                sqlx::query!("SELECT FROM set_vector_index_state($1, $2, $3)", relation, lists, state.rows).execute(pg)
            })
            .await?;
        trained.push(Trained { relation, lists, rows: state.rows });
    }
    Ok(trained)
}

/// Whether an index trained on this many rows no longer fits the current number.
pub(super) fn outgrown(rows: i64, trained: i64) -> bool {
    rows >= WORTH_TRAINING && rows >= trained.saturating_mul(GROWTH)
}

/// More lists than the usual square root of the rows: on real sentences, 2.5 times as many lists gave the same recall
/// in half the time. Training this many needs a few hundred megabytes.
const MOST_LISTS: f64 = 1000.0;
const FEWEST_LISTS: f64 = 20.0;

fn lists(rows: i64) -> i32 {
    (2.5 * (rows as f64).sqrt()).round().clamp(FEWEST_LISTS, MOST_LISTS) as i32
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_index_is_outgrown_by_twice_the_rows_it_has_seen_and_never_by_few() {
        for (rows, trained, is) in [
            (0, 0, false),
            (999, 0, false),
            (1000, 0, true),
            (1999, 1000, false),
            (2000, 1000, true),
            (i64::MAX, i64::MAX, true),
        ] {
            assert_eq!(super::outgrown(rows, trained), is, "{rows} {trained}");
        }
    }

    #[test]
    fn lists_grow_with_the_root_of_the_rows() {
        assert_eq!(super::lists(1000), 79);
        assert_eq!(super::lists(100_000), 791);
        assert_eq!(super::lists(i64::MAX), 1000);
        assert_eq!(super::lists(0), 20);
    }
}
