//! The extensions PostgreSQL needs, asked for at every start: a role that may not create them is fine where they exist.

use crate::connection::session::Session;
use crate::error::StoreError;

/// Each with its statement; all but the first only cost a feature when they are missing.
const WANTED: [(&str, &str); 3] = [
    ("vector", "CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public"),
    ("uuid-ossp", r#"CREATE EXTENSION IF NOT EXISTS "uuid-ossp" WITH SCHEMA public"#),
    ("pg_trgm", "CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public"),
];

/// What butler looks for, for the report of what is missing.
pub(crate) const NAMES: [&str; 3] = [WANTED[0].0, WANTED[1].0, WANTED[2].0];

/// Whether pgvector is installed or could be.
pub(crate) async fn check_vector(session: &mut Session) -> Result<(), StoreError> {
    let found = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')
                       OR EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') AS "found!""#
            )
            .fetch_one(pg)
        })
        .await?;
    if found {
        return Ok(());
    }
    Err(StoreError::VectorMissing { reason: "this server has no such extension".to_owned() })
}

/// Creates what is missing; a second attempt, since two butlers in two schemas of one database may do so at once.
pub(crate) async fn create(session: &mut Session) -> Result<(), StoreError> {
    for (name, statement) in WANTED {
        let mut result = session.run(|pg| sqlx::raw_sql(statement).execute(pg)).await;
        if matches!(&result, Err(error) if !error.is_unavailable()) {
            result = session.run(|pg| sqlx::raw_sql(statement).execute(pg)).await;
        }
        match result {
            Ok(_) => {}
            Err(error) if error.is_unavailable() => return Err(error),
            Err(error) if name == "vector" => return Err(StoreError::VectorMissing { reason: error.to_string() }),
            Err(error) => tracing::warn!(extension = name, %error, "extension not available, going on without it"),
        }
    }
    Ok(())
}
