//! `GET /api/memory/dead-letters` and `POST …/requeue`: episodes nobody could learn from.

use domain::EpisodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::consolidation::dead_letters::DeadLetter;
use uuid::Uuid;

use super::answer::{At, Many, Meta, One};
use super::error::ApiError;
use super::facts::In;
use super::operation::{Asked, Operation, Verb};
use crate::access::Right;

/// There are hardly ever any; more than this are paged with `GET /api/memory/episodes?status=dead_letter`.
const SHOWN: i64 = 1000;

pub struct ListDeadLetters;

impl Operation for ListDeadLetters {
    type Path = ();
    type Query = In;
    type Body = ();
    type Answer = Many<At<DeadLetter>>;

    const ID: &'static str = "listDeadLetters";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/dead-letters";
    const TAG: &'static str = "jobs";
    const SUMMARY: &'static str = "Episodes whose attempts are used up, oldest first, with the last error.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let asked = &asked;
        let heard = asked
            .each(place.butler.as_deref(), |memory| async move {
                Ok(memory.dead_letters(&asked.call(&memory), SHOWN).await?)
            })
            .await?;
        let mut all = Vec::new();
        for (home, letters) in heard.parts {
            all.extend(letters.into_iter().map(|item| At { home: home.clone(), item }));
        }
        all.sort_by_key(|letter| letter.item.created_at);
        Ok(Many::whole(all, heard.unavailable))
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
