//! The REST API. The router and the OpenAPI document are both generated from one table of operations.

mod activity;
mod backups;
mod butlers;
mod changes;
mod conflicts;
mod dead_letters;
mod entities;
mod envelope;
mod episodes;
mod error;
mod facts;
mod fan_out;
mod grants;
mod injections;
mod jobs;
mod live;
mod llm_test;
pub mod openapi;
mod operation;
mod page;
mod palette;
mod parameters;
mod per_butler;
mod proposals;
mod recall;
mod replies;
mod rules;
mod server;
mod state;
mod stats;
mod times;
mod tokens;
mod tombstones;
mod transfer;
mod why_not;

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use butler_host::host::Host;
use operation::{OperationEntry, entry};
use state::Api;

/// Every operation, in the order of the OpenAPI document.
const OPERATIONS: &[OperationEntry] = &[
    entry::<stats::Stats>(),
    entry::<facts::list::ListFacts>(),
    entry::<facts::detail::GetFact>(),
    entry::<facts::edit::EditFact>(),
    entry::<facts::forget::ForgetFact>(),
    entry::<facts::confirm::ConfirmFact>(),
    entry::<facts::restore::RestoreFact>(),
    entry::<facts::undo::UndoFact>(),
    entry::<rules::list::ListRules>(),
    entry::<rules::detail::GetRule>(),
    entry::<rules::edit::EditRule>(),
    entry::<rules::forget::ForgetRule>(),
    entry::<rules::confirm::ConfirmRule>(),
    entry::<rules::restore::RestoreRule>(),
    entry::<rules::undo::UndoRule>(),
    entry::<rules::feedback::MarkHelpful>(),
    entry::<rules::feedback::MarkHarmful>(),
    entry::<episodes::ListEpisodes>(),
    entry::<episodes::GetEpisode>(),
    entry::<activity::ListActivity>(),
    entry::<activity::Timeline>(),
    entry::<entities::list::ListEntities>(),
    entry::<entities::detail::GetEntity>(),
    entry::<entities::edit::EditEntity>(),
    entry::<entities::neighbors::GetNeighbors>(),
    entry::<entities::graph::GetGraph>(),
    entry::<entities::merge::MergeEntity>(),
    entry::<entities::unmerge::UnmergeEntity>(),
    entry::<entities::duplicates::ListDuplicates>(),
    entry::<entities::duplicates::KeepApart>(),
    entry::<entities::forget::ForgetEntity>(),
    entry::<palette::Search>(),
    entry::<recall::Recall>(),
    entry::<why_not::ExplainWhyNot>(),
    entry::<injections::ListInjections>(),
    entry::<changes::GetChanges>(),
    entry::<conflicts::ListConflicts>(),
    entry::<conflicts::ResolveConflict>(),
    entry::<conflicts::ReopenConflict>(),
    entry::<dead_letters::ListDeadLetters>(),
    entry::<dead_letters::RequeueDeadLetters>(),
    entry::<proposals::ListProposals>(),
    entry::<proposals::ApproveProposal>(),
    entry::<proposals::RejectProposal>(),
    entry::<proposals::UndoDecision>(),
    entry::<tombstones::ListTombstones>(),
    entry::<tombstones::AllowAgain>(),
    entry::<butlers::ListButlers>(),
    entry::<per_butler::ButlerStats>(),
    entry::<per_butler::ButlerFacts>(),
    entry::<per_butler::ButlerRules>(),
    entry::<per_butler::ButlerEpisodes>(),
    entry::<jobs::ListJobs>(),
    entry::<jobs::RunJob>(),
    entry::<tokens::ListTokens>(),
    entry::<tokens::CreateToken>(),
    entry::<tokens::RevokeToken>(),
    entry::<tokens::RotateToken>(),
    entry::<grants::ListGrants>(),
    entry::<grants::RevokeGrant>(),
    entry::<server::GetServer>(),
    entry::<backups::ListBackups>(),
    entry::<backups::CreateBackup>(),
    entry::<llm_test::TestLlm>(),
];

pub fn router(host: &Arc<Host>) -> Router<Arc<Host>> {
    let mut router = Router::new().route("/api/openapi.json", get(document)).route("/api/events", get(live::listen));
    router = router.route("/api/export", get(transfer::export)).route("/api/import", post(transfer::import));
    for entry in OPERATIONS {
        router = router.route(entry.path, (entry.router)());
    }
    router.with_state(Api::new(Arc::clone(host)))
}

async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi::text()).into_response()
}
