//! `GET /api/backups` and `POST /api/backups`: the backups of a butler's database.

use axum::http::StatusCode;
use butler_domain::Timestamp;
use butler_host::access::Right;
use butler_host::backup::{self, Backup};
use butler_memory::tool::ErrorCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::envelope::{List, Single, WithHome};
use super::error::ApiError;
use super::facts::ButlerQuery;
use super::operation::{Operation, RequestContext, Verb};

/// A backup of all tenants of a butler.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BackupView {
    /// The name by which `butler backup verify` and `restore` find it.
    pub name: String,
    pub created_at: Timestamp,
    pub bytes: u64,
    /// How many facts it holds, of all tenants.
    pub facts: i64,
}

impl From<Backup> for BackupView {
    fn from(stored: Backup) -> Self {
        let facts = stored.manifest.contents.rows.get("facts").copied().unwrap_or(0);
        Self { name: stored.name, created_at: stored.manifest.created_at, bytes: stored.bytes, facts }
    }
}

pub struct ListBackups;

impl Operation for ListBackups {
    type Path = ();
    type Query = ButlerQuery;
    type Body = ();
    type Answer = List<WithHome<BackupView>>;

    const ID: &'static str = "listBackups";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/backups";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "List the backups of a butler, or of all butlers, newest first.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, (): (), query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        require_all_tenants(&ctx)?;
        let mut all = Vec::new();
        for butler in ctx.butlers(query.butler.as_deref())? {
            let home = butler.name.to_string();
            let found = backup::list(&ctx.api.host.backup_folder(&butler))?;
            all.extend(found.into_iter().map(|stored| WithHome { home: home.clone(), item: BackupView::from(stored) }));
        }
        all.sort_by_key(|found| std::cmp::Reverse(found.item.created_at));
        Ok(List::complete(all, Vec::new()))
    }
}

pub struct CreateBackup;

impl Operation for CreateBackup {
    type Path = ();
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<BackupView>>;

    const ID: &'static str = "createBackup";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/backups";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "Back up a butler's database now. Default: the first butler.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, (): (), query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        require_all_tenants(&ctx)?;
        let butler = ctx.butlers(query.butler.as_deref())?.into_iter().next();
        let butler = butler.ok_or_else(|| ApiError::unavailable("no butler has a memory module"))?;
        let source = ctx.api.host.backup_source(&butler).await?;
        let item = BackupView::from(source.create().await?);
        Ok(Single::new(WithHome { home: butler.name.to_string(), item }))
    }
}

/// A backup holds all tenants.
fn require_all_tenants(ctx: &RequestContext) -> Result<(), ApiError> {
    if ctx.restricted_to().is_none() {
        return Ok(());
    }
    let message = "a backup holds all tenants, but the token is restricted to one";
    Err(ApiError::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, message)
        .hint("export the tenant instead, or run `butler backup` on the server's machine"))
}
