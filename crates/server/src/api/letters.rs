//! `GET /api/memory/dead-letters` and `POST …/requeue`: episodes nobody could learn from.

use std::sync::Arc;

use butler_domain::EpisodeId;
use butler_host::access::Right;
use butler_memory::Memory;
use butler_store::consolidation::dead_letters::DeadLetter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::answer::{At, Many, Meta, One};
use super::error::ApiError;
use super::facts::In;
use super::operation::{Asked, Operation, Verb};
use super::page::Paging;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Letters {
    /// The butler in whose database they are; all are asked if left out.
    butler: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

pub struct ListDeadLetters;

impl Operation for ListDeadLetters {
    type Path = ();
    type Query = Letters;
    type Body = ();
    type Answer = Many<At<DeadLetter>>;

    const ID: &'static str = "listDeadLetters";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/dead-letters";
    const TAG: &'static str = "jobs";
    const SUMMARY: &'static str =
        "Episodes whose attempts are used up, oldest first, with the last error, page by page.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), query: Letters, (): ()) -> Result<Self::Answer, ApiError> {
        let (asked, only) = (&asked, query.butler.as_deref());
        let wanted = query.paging.of(asked, only)?.without_cursor(false)?;
        let part =
            |memory: Arc<Memory>, page| async move { Ok(memory.dead_letters_page(&asked.call(&memory), page).await?) };
        let key = |letter: &DeadLetter| (letter.created_at, letter.id);
        asked.page(only, wanted, part, |a, b| key(a).cmp(&key(b)), |_| None).await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Which {
    /// Those to be tried again; all if left out.
    ids: Option<Vec<Uuid>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Requeued {
    /// How many wait again.
    pub requeued: u64,
}

pub struct RequeueDeadLetters;

impl Operation for RequeueDeadLetters {
    type Path = ();
    type Query = In;
    type Body = Which;
    type Answer = One<Requeued>;

    const ID: &'static str = "requeueDeadLetters";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/memory/dead-letters/requeue";
    const TAG: &'static str = "jobs";
    const SUMMARY: &'static str = "Let dead letters be tried again, as if never tried.";
    const RIGHT: Right = Right::Admin;

    async fn run(asked: Asked, (): (), place: In, body: Which) -> Result<Self::Answer, ApiError> {
        let asked = &asked;
        let ids: Option<Vec<EpisodeId>> = body.ids.map(|ids| ids.into_iter().map(EpisodeId).collect());
        let ids = ids.as_deref();
        let heard = asked
            .each(place.butler.as_deref(), |memory| async move {
                Ok(memory.requeue_dead_letters(&asked.call(&memory), ids).await?)
            })
            .await?;
        let requeued = heard.parts.iter().map(|(_, count)| count).sum();
        Ok(One { data: Requeued { requeued }, meta: Meta { unavailable: heard.unavailable } })
    }
}
