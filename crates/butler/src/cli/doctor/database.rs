//! Checks each butler's database.

use std::sync::Arc;

use butler_host::butler::Butler;
use butler_host::host::Host;
use butler_store::{Database, DatabaseOptions, Health, ReplicaState};

use super::check::Check;

/// Returns a warning for each database whose schema an older program created. `doctor` never migrates; `serve` does. If
/// the list is empty, the butlers can be started.
pub async fn outdated(host: &Host) -> Vec<Check> {
    if host.is_new() || host.start_private(Arc::new(butler_fetch::Silent)).await.is_err() {
        return Vec::new();
    }
    let mut checks = Vec::new();
    for butler in host.butlers() {
        // Starting the butler reports a database that cannot be queried.
        if let Some(health) = existing_health(host, &butler).await
            && !(health.migrations_pending.is_empty() || health.migrations_applied.is_empty())
        {
            checks.push(version(&butler, &health));
        }
    }
    checks
}

/// Reads the state of a database without creating it.
async fn existing_health(host: &Host, butler: &Butler) -> Option<Health> {
    let url = match host.external_url(butler) {
        Some(url) => url.to_owned(),
        None => host.urls(butler, butler.name.as_str()).await.ok()?.1,
    };
    let schema = butler.config.file.butler.database.schema.clone();
    let options = DatabaseOptions { schema, pool_size: 1, ..DatabaseOptions::new(url) };
    let database = Database::connect(options).await.ok()?;
    let health = database.health().await.ok();
    database.close().await;
    health
}

pub async fn all(host: &Host) -> Vec<Check> {
    if let Err(error) = host.start(Arc::new(butler_fetch::Silent)).await {
        return vec![Check::from_error("database", &error)];
    }
    let mut checks = Vec::new();
    for butler in host.butlers() {
        match inspect(&butler).await {
            Ok(found) => checks.extend(found),
            Err(error) => {
                let remedy = error.hint().unwrap_or_else(|| "see the server's log".to_owned());
                checks.push(Check::failed("database", format!("{}: {error}", butler.name), remedy));
            }
        }
    }
    checks
}

async fn inspect(butler: &Butler) -> Result<Vec<Check>, butler_store::StoreError> {
    let Some(database) = butler.database() else { return Ok(Vec::new()) };
    let health = database.health().await?;
    let broken = database.invalid_indexes().await?;
    let mut checks = vec![version(butler, &health), extensions(butler, &health), indexes(butler, &broken)];
    checks.extend(database.check_replica().await.map(|state| replica(butler, &state)));
    Ok(checks)
}

fn replica(butler: &Butler, state: &ReplicaState) -> Check {
    match butler_server::http::replica_trouble(state) {
        Some((message, remedy)) => Check::warned("replica", format!("{}: {message}", butler.name), remedy),
        None => Check::passed("replica", format!("{}: follows its primary and serves reads", butler.name)),
    }
}

fn version(butler: &Butler, health: &Health) -> Check {
    let detail = format!(
        "{}: PostgreSQL {}, {} migrations applied",
        butler.name,
        health.server_version,
        health.migrations_applied.len()
    );
    if health.migrations_pending.is_empty() {
        return Check::passed("database", detail);
    }
    let pending = health.migrations_pending.join(", ");
    Check::warned(
        "database",
        format!("{detail}; pending migrations: {pending}"),
        "start `butler serve` to migrate; to back up first, run `butler backup create` with the older program",
    )
}

fn extensions(butler: &Butler, health: &Health) -> Check {
    let Some(vector) = &health.vector_version else {
        let remedy = "run as a superuser in that database: CREATE EXTENSION vector WITH SCHEMA public";
        return Check::failed("extensions", format!("{}: pgvector is not installed", butler.name), remedy);
    };
    let detail = format!("{}: pgvector {vector}", butler.name);
    if health.extensions_missing.is_empty() {
        return Check::passed("extensions", detail);
    }
    let missing = health.extensions_missing.join(", ");
    let remedy = "for fuzzy name matching, run: CREATE EXTENSION pg_trgm WITH SCHEMA public";
    Check::warned("extensions", format!("{detail}; {missing} is not installed"), remedy)
}

fn indexes(butler: &Butler, broken: &[String]) -> Check {
    if broken.is_empty() {
        return Check::passed("indexes", format!("{}: all valid", butler.name));
    }
    let remedy = format!("psql \"$(butler db url --butler {})\" -c 'REINDEX INDEX {}'", butler.name, broken[0]);
    Check::failed("indexes", format!("{}: invalid: {}", butler.name, broken.join(", ")), remedy)
}
