//! The SQL functions: `functions/*.sql`, applied at start when their text differs from what the database recorded.
//!
//! Several servers may share a database, so an older program must not replace a newer program's functions. The number in
//! `functions/REVISION` decides: a program with a smaller number leaves the functions alone.

use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::hex::hex;
use crate::sql_files::FUNCTIONS;
use crate::{Session, Tx};

/// Applied first, because these functions record and drop the others.
const FIRST: &str = "apply_functions";
const CREATE: &str = "CREATE OR REPLACE FUNCTION ";

/// The revision number, the hash of the files, and the functions that this program calls.
const REVISION: &str = include_str!("../functions/REVISION");

/// `CREATE OR REPLACE` cannot change a result type or a parameter's name.
const INVALID_DEFINITION: &str = "42P13";
/// A grant or comment names a function of which the old signature still exists.
const AMBIGUOUS: &str = "42725";

/// The SQL functions that a program brings along. Tests build other sets.
#[derive(Debug, Clone)]
pub struct FunctionSet {
    pub revision: i32,
    /// Each starts with `CREATE OR REPLACE FUNCTION` and ends with its grants and its comment.
    pub definitions: Vec<String>,
    /// What the program calls, as `signature -> result`.
    pub called: Vec<String>,
}

impl FunctionSet {
    /// The functions of this program.
    pub fn current() -> Self {
        let mut lines = REVISION.lines();
        let revision = lines.next().and_then(|number| number.parse().ok()).unwrap_or_default();
        let called = lines.skip(1).map(str::to_owned).collect();
        let (first, others): (Vec<_>, Vec<_>) = FUNCTIONS.iter().partition(|(name, _)| *name == FIRST);
        let definitions = first.into_iter().chain(others).flat_map(|(_, text)| split(text)).collect();
        Self { revision, definitions, called }
    }

    /// Identifies the text of all functions.
    pub fn hash(&self) -> String {
        hex(&Sha256::digest(self.definitions.concat()))
    }
}

/// Splits a file into its definitions. The text before the first one is the file's introduction.
fn split(text: &str) -> impl Iterator<Item = String> {
    let starts: Vec<usize> =
        text.match_indices(CREATE).map(|(at, _)| at).filter(|at| *at == 0 || text[..*at].ends_with('\n')).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| text[start..end].to_owned()).collect::<Vec<_>>().into_iter()
}

/// The name in a definition.
fn name(definition: &str) -> &str {
    let rest = definition.strip_prefix(CREATE).unwrap_or(definition);
    rest.split('(').next().unwrap_or(rest).trim()
}

/// Applies the functions unless the database has these or newer ones. With `migrated`, tables have just changed, so
/// they are applied in any case. Returns whether it did. The caller holds the migration lock.
pub(crate) async fn apply(session: &mut Session, functions: &FunctionSet, migrated: bool) -> Result<bool, StoreError> {
    let recorded =
        session.run(|pg| sqlx::query!("SELECT revision, hash FROM butler_functions").fetch_optional(pg)).await?;
    if let Some(recorded) = recorded {
        if recorded.revision > functions.revision {
            check_called(session, functions, recorded.revision).await?;
            return Ok(false);
        }
        if recorded.revision == functions.revision && recorded.hash == functions.hash() && !migrated {
            return Ok(false);
        }
    }
    // A function whose signature changed is dropped first. All others are replaced, which disturbs no running call.
    // PostgreSQL refuses to replace the changed ones, which is how they are found.
    let mut changed: Vec<String> = Vec::new();
    loop {
        match apply_once(session, functions, &changed).await {
            Ok(()) => return Ok(true),
            Err((Some(name), error)) if changes_signature(&error) && !changed.contains(&name) => changed.push(name),
            Err((Some(name), error)) if !error.is_unavailable() => {
                return Err(StoreError::Function { name, source: Box::new(error) });
            }
            Err((_, error)) => return Err(error),
        }
    }
}

/// An error, and the function that caused it.
type Failure = (Option<String>, StoreError);

async fn apply_once(session: &mut Session, functions: &FunctionSet, changed: &[String]) -> Result<(), Failure> {
    let other = |error| (None, error);
    let mut tx = session.begin().await.map_err(other)?;
    // A function may call one of a later file. The search path that SET FROM CURRENT captures ends with pg_temp, so
    // that no temporary table hides one of ours in a function that runs as the owner.
    tx.run(|pg| {
        sqlx::query!(
            "SELECT set_config('check_function_bodies', 'off', true) AS bodies,
                    set_config('search_path', current_setting('search_path') || ', pg_temp', true) AS path"
        )
        .fetch_one(pg)
    })
    .await
    .map_err(other)?;
    let mut to_drop = !changed.is_empty();
    for definition in &functions.definitions {
        let name = name(definition);
        run(&mut tx, definition).await.map_err(|error| (Some(name.to_owned()), error))?;
        if to_drop && name == "drop_recorded_functions" {
            to_drop = false;
            tx.run(|pg| sqlx::query!("SELECT FROM drop_recorded_functions($1)", changed).execute(pg))
                .await
                .map_err(other)?;
        }
    }
    let hash = functions.hash();
    tx.run(|pg| sqlx::query!("SELECT FROM record_functions($1, $2)", functions.revision, hash).execute(pg))
        .await
        .map_err(other)?;
    tx.commit().await.map_err(other)
}

async fn run(tx: &mut Tx<'_>, definition: &str) -> Result<(), StoreError> {
    // DDL takes no parameters. The text comes from our files or from a test.
    let statement = sqlx::AssertSqlSafe(definition.to_owned());
    tx.run(|pg| sqlx::raw_sql(statement).execute(pg)).await?;
    Ok(())
}

fn changes_signature(error: &StoreError) -> bool {
    matches!(error.code().as_deref(), Some(INVALID_DEFINITION | AMBIGUOUS))
}

/// Checks that a newer program's functions still serve this one.
async fn check_called(session: &mut Session, functions: &FunctionSet, found: i32) -> Result<(), StoreError> {
    let missing = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT called AS "called!" FROM unnest($1::text[]) AS called
                   WHERE called NOT IN (
                       SELECT p.proname || '(' || oidvectortypes(p.proargtypes) || ') -> ' || pg_get_function_result(p.oid)
                       FROM pg_proc p WHERE p.pronamespace = quote_ident(current_schema())::regnamespace)
                   ORDER BY 1"#,
                &functions.called
            )
            .fetch_all(pg)
        })
        .await?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(StoreError::NewerFunctions { found, known: functions.revision, missing: missing.join("; ") })
}

#[cfg(test)]
mod tests {
    use super::{FunctionSet, name, split};

    #[test]
    fn a_file_is_split_at_its_definitions() {
        let file = "-- why\nCREATE OR REPLACE FUNCTION one(a int) AS $$ 1 $$;\nGRANT x;\n\n-- next\nCREATE OR REPLACE FUNCTION\ntwo";
        let file = file.replace("FUNCTION\n", "FUNCTION ");
        let parts: Vec<String> = split(&file).collect();
        assert_eq!(parts.iter().map(|part| name(part)).collect::<Vec<_>>(), ["one", "two"]);
        assert!(parts[0].contains("GRANT x;"));
    }

    #[test]
    fn the_program_has_a_revision_and_applies_the_bookkeeping_first() {
        let functions = FunctionSet::current();
        assert!(functions.revision > 0);
        assert_eq!(name(&functions.definitions[0]), "drop_recorded_functions");
        let mut names: Vec<&str> = functions.definitions.iter().map(|definition| name(definition)).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "a grant by name alone needs names that are unique");
    }
}
