//! The REST API: one table of operations, from which the router and the OpenAPI document are made.

mod activity;
mod answer;
mod butlers;
mod entities;
mod episodes;
mod error;
mod facts;
mod jobs;
mod letters;
mod live;
pub mod openapi;
mod operation;
mod page;
mod palette;
mod parameters;
mod reach;
mod recall;
mod rules;
mod scoped;
mod server;
mod state;
mod stats;
mod tokens;

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use butler_host::host::Host;
use operation::{Entry, entry};
use state::Api;

/// Every path, in the order of the document.
const TABLE: &[Entry] = &[
    entry::<stats::Stats>(),
    entry::<facts::list::ListFacts>(),
    entry::<facts::detail::GetFact>(),
    entry::<facts::edit::EditFact>(),
    entry::<facts::forget::ForgetFact>(),
    entry::<facts::confirm::ConfirmFact>(),
    entry::<facts::restore::RestoreFact>(),
    entry::<rules::list::ListRules>(),
    entry::<rules::detail::GetRule>(),
    entry::<rules::edit::EditRule>(),
    entry::<rules::forget::ForgetRule>(),
    entry::<rules::confirm::ConfirmRule>(),
    entry::<rules::restore::RestoreRule>(),
    entry::<rules::marks::MarkHelpful>(),
    entry::<rules::marks::MarkHarmful>(),
    entry::<episodes::ListEpisodes>(),
    entry::<episodes::GetEpisode>(),
    entry::<activity::ListActivity>(),
    entry::<activity::Timeline>(),
    entry::<entities::list::ListEntities>(),
    entry::<entities::detail::GetEntity>(),
    entry::<entities::merge::MergeEntity>(),
    entry::<palette::Search>(),
    entry::<recall::Recall>(),
    entry::<letters::ListDeadLetters>(),
    entry::<letters::RequeueDeadLetters>(),
    entry::<butlers::ListButlers>(),
    entry::<scoped::ButlerStats>(),
    entry::<scoped::ButlerFacts>(),
    entry::<scoped::ButlerRules>(),
    entry::<scoped::ButlerEpisodes>(),
    entry::<jobs::ListJobs>(),
    entry::<jobs::RunJob>(),
    entry::<tokens::ListTokens>(),
    entry::<tokens::CreateToken>(),
    entry::<tokens::RevokeToken>(),
    entry::<server::GetServer>(),
];

pub fn router(host: &Arc<Host>) -> Router<Arc<Host>> {
    let mut router = Router::new().route("/api/openapi.json", get(document)).route("/api/events", get(live::listen));
    for entry in TABLE {
        router = router.route(entry.path, (entry.router)());
    }
    router.with_state(Api::new(Arc::clone(host)))
}

async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi::text()).into_response()
}
