//! Facts: storing one, which supersedes the active fact with the same key.

use butler_domain::conflicts::Side;
use butler_domain::fact::UNLINKED_OBJECT;
use butler_domain::ids::new_id;
use butler_domain::text::{fact_search_text, fact_text};
use butler_domain::times::StatedDates;
use butler_domain::{EntityId, EpisodeId, FactId, MemoryType, Permanence, Scope, StoredFact, TenantId, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::embedded::{Embedded, ModelRow};
use crate::error::unknown_outcome;
use crate::events::excerpt;
use crate::idempotency::Keyed;
use crate::tombstones;
use crate::trust::{self, Attempt, ForgottenStatement, Trust, read_answer};
use crate::{Session, StoreError, WriteContext};

/// A new fact is fully believed until it decays or a newer fact supersedes it.
pub const INITIAL_CONFIDENCE: f64 = 1.0;

/// A fact to store, with its embedding.
#[derive(Debug, Clone)]
pub struct NewFact {
    pub id: FactId,
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub scope: Scope,
    /// `None`, like the next one and the tags: that of the fact it supersedes, else the default.
    pub importance: Option<f64>,
    pub permanence: Option<Permanence>,
    /// `None`: the entity that the subject names, if exactly one does.
    pub entity_id: Option<EntityId>,
    /// Makes it a relation to this entity.
    pub object: Object,
    /// The active fact that it supersedes even if their slots differ.
    pub replaces: Option<FactId>,
    /// Whether the replaced fact was never true. If `false`, it was true until now.
    pub corrects: bool,
    /// When it is true. Open dates follow from the other facts of its key.
    pub dates: StatedDates,
    /// Whether the same statement with another importance, permanence or tags is a new version. A person who grades anew
    /// means it; a model repeats statements and grades them differently each time.
    pub regrades: bool,
    pub source_episode_id: Option<EpisodeId>,
    /// Further episodes that it is derived from. Those that no longer exist are left out.
    pub derived_from: Vec<EpisodeId>,
    pub source_butler: Option<String>,
    pub tags: Option<Vec<String>>,
    pub metadata: Map<String, Value>,
    /// The embedding of [`butler_domain::text::fact_text`].
    pub embedding: Embedded,
    pub trust: Trust,
}

impl NewFact {
    /// The statement in the form in which conflicts compare it.
    pub fn side(&self) -> Side {
        Side { subject: self.subject.clone(), predicate: self.predicate.clone(), content: self.content.clone() }
    }
}

/// The other end of a relation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Object {
    /// The fact is no relation.
    #[default]
    None,
    Entity(EntityId),
    /// The entity of this name, if exactly one has it.
    Name(String),
}

impl Object {
    fn id(&self) -> Option<EntityId> {
        if let Self::Entity(id) = self { Some(*id) } else { None }
    }

    fn name(&self) -> Option<&str> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }
}

/// The result of storing a fact. All outcomes but `Stored` wrote nothing, apart from a count of what was suppressed.
#[derive(Debug, Clone, PartialEq)]
pub enum FactOutcome {
    /// It is stored, confirmed if it was known, or proposed.
    Stored(StoredFact),
    /// The tenant has no entity with that id.
    NoEntity,
    /// The entity was merged into another one.
    EntityMerged { into: Option<EntityId> },
    /// The tenant has no entity with the object's id.
    NoObject,
    /// The object was merged into another entity.
    ObjectMerged { into: Option<EntityId> },
    /// The subject and the object are the same entity.
    EdgeToItself,
    /// The tenant has no episode with that id.
    NoEpisode,
    /// The fact that it replaces is no longer active.
    NotActive,
    /// It is known already. Its source needs approval, so it does not confirm the known fact either.
    Known(StoredFact),
    /// It repeats a forgotten statement.
    Forgotten(ForgottenStatement),
    /// A person rejected the same proposal.
    ProposalRejected,
}

/// The argument of `store_fact`.
#[derive(Serialize)]
struct FactRow<'a> {
    id: FactId,
    subject: &'a str,
    predicate: &'a str,
    content: &'a str,
    search_text: String,
    scope: &'a Scope,
    importance: Option<f64>,
    confidence: f64,
    decay_rate: Option<f64>,
    permanence: Option<Permanence>,
    entity_id: Option<EntityId>,
    object_entity_id: Option<EntityId>,
    object: Option<&'a str>,
    source_episode_id: Option<EpisodeId>,
    derived_from: &'a [EpisodeId],
    source_butler: Option<&'a str>,
    tags: Option<&'a [String]>,
    metadata: &'a Map<String, Value>,
    #[serde(flatten)]
    model: ModelRow<'a>,
    replaces: Option<FactId>,
    corrects: bool,
    #[serde(flatten)]
    dates: &'a StatedDates,
    regrades: bool,
    #[serde(flatten)]
    trust: &'a Trust,
    created_event_id: Uuid,
    superseded_event_ids: [Uuid; 2],
    event: Value,
}

impl<'a> FactRow<'a> {
    fn new(fact: &'a NewFact, trust: &'a Trust, now: Timestamp) -> Self {
        let text = fact_text(&fact.subject, &fact.predicate, &fact.content);
        // An edit keeps the object that an earlier version stored as text.
        let object = fact.object.name().or_else(|| fact.metadata.get(UNLINKED_OBJECT).and_then(Value::as_str));
        Self {
            id: fact.id,
            subject: &fact.subject,
            predicate: &fact.predicate,
            content: &fact.content,
            search_text: fact_search_text(&text, object),
            scope: &fact.scope,
            importance: fact.importance,
            confidence: INITIAL_CONFIDENCE,
            decay_rate: fact.permanence.map(Permanence::decay_rate),
            permanence: fact.permanence,
            entity_id: fact.entity_id,
            object_entity_id: fact.object.id(),
            object: fact.object.name(),
            source_episode_id: fact.source_episode_id,
            derived_from: &fact.derived_from,
            source_butler: fact.source_butler.as_deref(),
            tags: fact.tags.as_deref(),
            metadata: &fact.metadata,
            model: fact.embedding.model.row(),
            replaces: fact.replaces,
            corrects: fact.corrects,
            dates: &fact.dates,
            regrades: fact.regrades,
            trust,
            created_event_id: new_id(now),
            superseded_event_ids: [new_id(now), new_id(now)],
            event: created_payload(fact),
        }
    }
}

/// Stores a fact and supersedes the active one with the same key, or confirms it if both say the same, in one round
/// trip. Concurrent writers of one key wait for each other; none fails.
///
/// Fails with [`crate::Constraint::IdempotencyKey`] if a concurrent call used the key first: read its response with
/// [`crate::idempotency::find`].
///
/// If [`Trust`] says so, a statement that was forgotten before is not stored but counted as suppressed.
pub async fn store(
    mut write: WriteContext<'_>,
    fact: &NewFact,
    keyed: Option<&Keyed>,
) -> Result<FactOutcome, StoreError> {
    match attempt(write.again(), fact, &fact.trust, keyed).await? {
        Attempt::Done(outcome) => Ok(outcome),
        Attempt::Near(candidates) => match trust::forgotten(candidates, &fact.subject, &fact.content) {
            Some(statement) => {
                tombstones::suppressed(write.again(), MemoryType::Fact, statement.id).await?;
                Ok(FactOutcome::Forgotten(statement))
            }
            None => match attempt(write.again(), fact, &fact.trust.checked(), keyed).await? {
                Attempt::Done(outcome) => Ok(outcome),
                Attempt::Near(_) => Err(unknown_outcome("store_fact", "forgotten")),
            },
        },
    }
}

/// One call of `store_fact`.
async fn attempt(
    write: WriteContext<'_>,
    fact: &NewFact,
    trust: &Trust,
    keyed: Option<&Keyed>,
) -> Result<Attempt<FactOutcome>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let argument = FactRow::new(fact, trust, now);
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT outcome AS "outcome!", merged_into, answer
                   FROM store_fact($1, $2, $3, $4, $5, $6, $7)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                Json(&argument) as _,
                &fact.embedding.vector[..],
                keyed.map(|keyed| Json(keyed.row())) as _,
            )
            .fetch_one(pg)
        })
        .await?;
    let into = row.merged_into.map(EntityId);
    Ok(Attempt::Done(match (&row.outcome[..], row.answer) {
        ("stored" | "confirmed" | "proposed", Some(answer)) => FactOutcome::Stored(read_answer(answer)?),
        ("known", Some(answer)) => FactOutcome::Known(read_answer(answer)?),
        ("forgotten", Some(answer)) => return Ok(Attempt::Near(read_answer(answer)?)),
        ("rejected", _) => FactOutcome::ProposalRejected,
        ("no_entity", _) => FactOutcome::NoEntity,
        ("entity_merged", _) => FactOutcome::EntityMerged { into },
        ("no_object", _) => FactOutcome::NoObject,
        ("object_merged", _) => FactOutcome::ObjectMerged { into },
        ("edge_to_itself", _) => FactOutcome::EdgeToItself,
        ("no_episode", _) => FactOutcome::NoEpisode,
        ("not_active", _) => FactOutcome::NotActive,
        (other, _) => return Err(unknown_outcome("store_fact", other)),
    }))
}

/// The statement that a fact makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement<'a> {
    pub subject: &'a str,
    pub predicate: &'a str,
    pub content: &'a str,
}

/// Whether the tenant has a fact with exactly this statement, whatever its validity.
pub async fn exists(
    session: &mut Session,
    tenant: &TenantId,
    scope: &Scope,
    statement: Statement<'_>,
) -> Result<bool, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT FROM facts WHERE tenant_id = $1 AND subject = $2 AND predicate = $3 AND content = $4
                                                      AND scope = $5) AS "exists!""#,
                tenant.as_str(),
                statement.subject,
                statement.predicate,
                statement.content,
                scope.as_str()
            )
            .fetch_one(pg)
        })
        .await
}

/// What the event says about the fact. `store_fact` adds what it decides: importance, permanence, tags and entities.
fn created_payload(fact: &NewFact) -> Value {
    json!({
        "subject": fact.subject,
        "predicate": fact.predicate,
        "content": excerpt(&fact.content),
        "scope": fact.scope,
        "source_butler": fact.source_butler,
        "source_episode_id": fact.source_episode_id,
        "validity": "active",
    })
}
