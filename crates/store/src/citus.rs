//! Citus is not supported: with the schema distributed, one dead node stops every butler's writes, and a recall takes two
//! to three times as long (docs/scaling.md). So a butler refuses to start where Citus would distribute its schema.

use crate::{Session, StoreError};

/// What the catalogue says about Citus.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Citus {
    /// The extension is installed in this database.
    pub installed: bool,
    /// `citus.enable_schema_based_sharding`, if the server knows it.
    pub schema_sharding: Option<String>,
    /// The butler's schema is in `pg_dist_schema`.
    pub schema_is_distributed: bool,
    /// Tables of the butler's schema are in `pg_dist_partition`.
    pub distributed_tables: i64,
}

impl Citus {
    /// Why a butler must not use this schema; `None` if it may.
    pub fn objection(&self, schema: &str) -> Option<String> {
        if self.schema_is_distributed {
            return Some(format!("the schema {schema:?} is a distributed schema (pg_dist_schema)"));
        }
        if self.distributed_tables > 0 {
            let count = self.distributed_tables;
            return Some(format!("{count} tables of the schema {schema:?} are distributed (pg_dist_partition)"));
        }
        let sharding = self.schema_sharding.as_deref().is_some_and(|value| value == "on");
        (self.installed && sharding).then(|| {
            format!("citus.enable_schema_based_sharding is on, so Citus would distribute the schema {schema:?}")
        })
    }
}

/// Fails where Citus would distribute the schema. It must run before anything is created, because schema-based sharding
/// distributes a schema from the start.
pub(crate) async fn refuse(session: &mut Session, schema: &str) -> Result<(), StoreError> {
    match read(session, schema).await?.objection(schema) {
        Some(reason) => Err(StoreError::Distributed { reason }),
        None => Ok(()),
    }
}

// The tables of Citus exist only with Citus, so these statements cannot be checked at compile time.
const SCHEMA_IS_DISTRIBUTED: &str =
    "SELECT EXISTS (SELECT FROM pg_dist_schema WHERE schemaid = to_regnamespace(quote_ident($1)))";
const DISTRIBUTED_TABLES: &str = "SELECT count(*) FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
     WHERE c.relnamespace = to_regnamespace(quote_ident($1))";

async fn read(session: &mut Session, schema: &str) -> Result<Citus, StoreError> {
    let found = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS "installed!",
                          current_setting('citus.enable_schema_based_sharding', true) AS schema_sharding,
                          to_regclass('pg_dist_schema') IS NOT NULL AS "has_schemas!",
                          to_regclass('pg_dist_partition') IS NOT NULL AS "has_tables!""#
            )
            .fetch_one(pg)
        })
        .await?;
    let mut citus = Citus { installed: found.installed, schema_sharding: found.schema_sharding, ..Citus::default() };
    if found.has_schemas {
        citus.schema_is_distributed =
            session.run(|pg| sqlx::query_scalar(SCHEMA_IS_DISTRIBUTED).bind(schema).fetch_one(pg)).await?;
    }
    if found.has_tables {
        citus.distributed_tables =
            session.run(|pg| sqlx::query_scalar(DISTRIBUTED_TABLES).bind(schema).fetch_one(pg)).await?;
    }
    Ok(citus)
}

#[cfg(test)]
mod tests {
    use super::Citus;

    #[test]
    fn citus_that_leaves_the_schema_alone_is_no_objection() {
        assert_eq!(Citus::default().objection("public"), None);
        let installed = Citus { installed: true, schema_sharding: Some("off".to_owned()), ..Citus::default() };
        assert_eq!(installed.objection("public"), None);
        let setting_alone = Citus { schema_sharding: Some("on".to_owned()), ..Citus::default() };
        assert_eq!(setting_alone.objection("public"), None, "without the extension the setting means nothing");
    }

    #[test]
    fn a_schema_that_is_or_would_be_distributed_is_refused_with_the_reason() {
        let would = Citus { installed: true, schema_sharding: Some("on".to_owned()), ..Citus::default() };
        assert!(would.objection("home").unwrap_or_default().contains("would distribute the schema \"home\""));
        let is = Citus { schema_is_distributed: true, ..Citus::default() };
        assert!(is.objection("home").unwrap_or_default().contains("pg_dist_schema"));
        let tables = Citus { distributed_tables: 3, ..Citus::default() };
        assert!(tables.objection("home").unwrap_or_default().contains("3 tables"));
    }
}
