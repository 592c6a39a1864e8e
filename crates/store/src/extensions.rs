//! The PostgreSQL extensions. The catalogue is read first, because a role that may not create extensions can still use
//! them.

use crate::Session;
use crate::error::StoreError;

/// Each extension with its statement. Only the first one is required; without the others a feature is missing.
const NEEDED: [(&str, &str); 3] = [
    ("vector", "CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public"),
    ("uuid-ossp", r#"CREATE EXTENSION IF NOT EXISTS "uuid-ossp" WITH SCHEMA public"#),
    ("pg_trgm", "CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public"),
];

const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// The names of the extensions, for the report of what is missing.
pub(crate) const NAMES: [&str; 3] = [NEEDED[0].0, NEEDED[1].0, NEEDED[2].0];

/// Fails if pgvector is neither installed in this database nor available on the server.
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

/// Creates the extensions that the database lacks.
pub(crate) async fn create(session: &mut Session) -> Result<(), StoreError> {
    let installed = session
        .run(|pg| sqlx::query_scalar!(r#"SELECT extname::text AS "name!" FROM pg_extension"#).fetch_all(pg))
        .await?;
    for (name, statement) in NEEDED {
        if installed.iter().any(|found| found == name) {
            continue;
        }
        let mut result = session.run(|pg| sqlx::raw_sql(statement).execute(pg)).await;
        // Two butlers in two schemas of one database may create it at once; the second attempt finds it there.
        if matches!(&result, Err(error) if !error.is_unavailable() && !is_denied(error)) {
            result = session.run(|pg| sqlx::raw_sql(statement).execute(pg)).await;
        }
        match result {
            Ok(_) => {}
            Err(error) if error.is_unavailable() => return Err(error),
            Err(error) if name == "vector" && is_denied(&error) => {
                return Err(StoreError::VectorDenied { reason: error.to_string() });
            }
            Err(error) if name == "vector" => return Err(StoreError::VectorMissing { reason: error.to_string() }),
            Err(error) => {
                tracing::warn!(extension = name, %error, "the extension is not available; continuing without it")
            }
        }
    }
    Ok(())
}

fn is_denied(error: &StoreError) -> bool {
    error.code().as_deref() == Some(INSUFFICIENT_PRIVILEGE)
}
