//! Conflicts: pairs of facts that contradict or repeat each other. Storing a fact and a nightly job find them, and a
//! person or an agent with the right resolves them.

pub mod judge;
mod prompt;
pub(crate) mod waiting;

use std::collections::{BTreeMap, HashMap};

pub use butler_domain::Resolution;
use butler_domain::conflicts::{Side, conflict};
use butler_domain::times::StatedDates;
use butler_domain::validate::Invalid;
use butler_domain::{FactId, Scope, TenantId};
use butler_store::conflicts::{self, Candidate, FoundBy, NewConflict};
pub use butler_store::conflicts::{Conflict, Listing};
use butler_store::restore::{self, RestoreOutcome};
use butler_store::{Database, Session, StoreError, facts, forget};
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::edit::without_fading_status;
use crate::isolation::{TenantOutcomes, caught};
use crate::jobs::CONFLICTS;
use crate::remember::{FactInput, stored};
use crate::restore::key_taken;
use crate::{Call, Memory, MemoryError};
use waiting::NewFact;

/// The job compares the facts stored since its last run, and those that an import marked. Two days leave room for a night on
/// which it did not run.
const RECENT: TimeDelta = TimeDelta::days(2);
/// The most facts of a tenant that the job compares in one run, the newest first.
const COMPARED: i64 = 5_000;
/// How many facts are compared in one statement.
const COMPARED_AT_ONCE: usize = 50;

/// A validated resolution.
#[derive(Debug, Clone)]
pub struct ResolveInput {
    pub resolution: Resolution,
    /// The text of a merge.
    pub content: Option<String>,
    /// With `keep_both`: the scope and the time of b from now on.
    pub scope: Option<Scope>,
    pub dates: StatedDates,
}

/// Conflicts, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conflicts {
    pub conflicts: Vec<Conflict>,
    /// How many there are, including those that were not returned.
    pub total: i64,
}

/// What the job did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ConflictsReport {
    pub facts_compared: u64,
    pub conflicts_found: u64,
    /// Pairs that a language model judged. Zero without a judge.
    pub judged: u64,
    /// Those of them that it takes for no conflict, and that are closed.
    pub judged_no_conflict: u64,
    /// Pairs without a usable verdict. They stay as they are, and the next run tries again.
    pub judge_failed: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

impl Memory {
    /// Looks for conflicts of a newly stored fact a moment after the response. Listing conflicts and building a context
    /// wait for it.
    pub(crate) fn find_conflicts_later(&self, call: &Call, id: FactId, side: Side) {
        if !self.config().conflicts.enabled {
            return;
        }
        let (db, tenant, new_facts) = (self.db().clone(), call.tenant.clone(), self.new_facts().clone());
        self.new_facts().add(NewFact { call: call.clone(), id, side }, || {
            self.db().in_background(&call.tenant, async move {
                let facts = new_facts.gathered(&tenant).await;
                if let Err(error) = find_after_store(&db, &tenant, facts).await {
                    tracing::warn!(%error, "cannot look for conflicts of new facts; the nightly job will");
                }
            });
        });
    }

    /// Waits until the conflicts of all facts of this tenant that were stored before now are recorded.
    pub async fn await_conflict_search(&self, tenant: &TenantId) {
        self.new_facts().compare_now(tenant);
        self.db().background_done(tenant).await;
    }

    /// Compares the new facts of all tenants now. The work ends in the background, before the database is closed.
    pub fn start_conflict_search(&self) {
        self.new_facts().compare_all_now();
    }

    /// The open conflicts of which both facts are active, or the resolved ones.
    pub async fn list_conflicts(&self, call: &Call, listing: Listing) -> Result<Conflicts, MemoryError> {
        self.await_conflict_search(&call.tenant).await;
        let mut conn = self.db().relaxed(&call.tenant).await?;
        let (conflicts, total) = conflicts::list(&mut conn, &call.tenant, call.now, listing).await?;
        Ok(Conflicts { conflicts, total })
    }

    /// One conflict in any state; `None` if the tenant has no such conflict.
    pub async fn get_conflict(&self, call: &Call, id: Uuid) -> Result<Option<Conflict>, MemoryError> {
        let listing = Listing { open: true, id: Some(id), limit: 1, offset: 0 };
        Ok(self.list_conflicts(call, listing).await?.conflicts.pop())
    }

    /// Resolves an open conflict in one transaction and returns it; `None` if the tenant has no such conflict.
    pub async fn resolve_conflict(
        &self,
        call: &Call,
        id: Uuid,
        input: &ResolveInput,
    ) -> Result<Option<Conflict>, MemoryError> {
        check(input)?;
        let mut conn = self.db().tenant(&call.tenant).await?;
        // Embedding a merged text takes longer than a transaction should.
        let Some(known) = conflicts::lock(&mut conn, &call.tenant, id).await? else { return Ok(None) };
        let version = self.new_version(&mut conn, call, &known, input).await?;
        let mut tx = conn.begin().await?;
        let Some(locked) = conflicts::lock(&mut tx, &call.tenant, id).await? else { return Ok(None) };
        if !locked.is_open {
            return Err(MemoryError::InvalidState {
                message: format!("conflict {id} is resolved already"),
                hint: "reopen it first".to_owned(),
            });
        }
        let result = match &version {
            Some(fact) => {
                let outcome = facts::store(call.write(&mut tx), fact, None).await?;
                let stored = stored(fact, outcome)?;
                if stored.proposed {
                    return Err(MemoryError::InvalidState {
                        message: "the new text needs a person's approval".to_owned(),
                        hint: "resolve the conflict in the dashboard or with `butler conflicts`".to_owned(),
                    });
                }
                Some(stored.id)
            }
            None => None,
        };
        let forgotten: &[FactId] = match input.resolution {
            Resolution::KeepA | Resolution::Merge => &[locked.b],
            Resolution::KeepB => &[locked.a],
            Resolution::ForgetBoth => &[locked.a, locked.b],
            Resolution::KeepBoth => &[],
        };
        for fact in forgotten {
            forget::fact(call.write(&mut tx), *fact).await?;
        }
        conflicts::close(call.write(&mut tx), id, input.resolution.as_str(), result).await?;
        tx.commit().await?;
        drop(conn);
        self.get_conflict(call, id).await
    }

    /// Undoes the resolution of a conflict in one transaction: restores the facts that it made inactive, and opens the
    /// conflict again. `None`: the tenant has no such conflict.
    pub async fn reopen_conflict(&self, call: &Call, id: Uuid) -> Result<Option<Conflict>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let expiry = self.config().confidence.expiry_threshold;
        let mut tx = conn.begin().await?;
        let Some(locked) = conflicts::lock(&mut tx, &call.tenant, id).await? else { return Ok(None) };
        for fact in &locked.ended {
            let outcome = restore::fact(call.write(&mut tx), *fact, expiry).await?;
            if let Some(RestoreOutcome::KeyTaken { by }) = outcome {
                return Err(key_taken(by));
            }
        }
        conflicts::reopen(call.write(&mut tx), id).await?;
        tx.commit().await?;
        drop(conn);
        self.get_conflict(call, id).await
    }

    /// The fact that a merge, or another scope or time, stores.
    async fn new_version(
        &self,
        conn: &mut Session,
        call: &Call,
        known: &conflicts::LockedConflict,
        input: &ResolveInput,
    ) -> Result<Option<facts::NewFact>, MemoryError> {
        let id = match input.resolution {
            Resolution::Merge => known.a,
            Resolution::KeepBoth if input.scope.is_some() || !input.dates.is_empty() => known.b,
            _ => return Ok(None),
        };
        let Some(old) = butler_store::browse::facts::one(conn, &call.tenant, id.0, call.now).await? else {
            return Ok(None);
        };
        let old = old.fact;
        let version = FactInput {
            subject: old.subject,
            predicate: old.predicate,
            content: input.content.clone().unwrap_or(old.content),
            importance: Some(old.importance),
            permanence: Some(old.permanence),
            scope: match &input.scope {
                Some(scope) => scope.clone(),
                None => Scope::new(old.scope).map_err(Invalid::from)?,
            },
            tags: Some(old.tags),
            entity_id: old.entity_id,
            object_entity_id: old.object_entity_id,
            object: None,
            source_episode_id: old.source_episode_id,
            source_butler: old.source_butler,
            dates: input.dates.clone(),
            override_tombstone: true,
            metadata: without_fading_status(old.metadata),
        };
        let mut fact = self.new_fact(call, version).await?;
        (fact.replaces, fact.corrects) = (Some(id), true);
        fact.trust.vouch_for_episodes();
        Ok(Some(fact))
    }

    /// Compares the facts stored or imported lately with all others of their tenant.
    pub async fn find_conflicts(&self, tenant: Option<&TenantId>) -> Result<ConflictsReport, MemoryError> {
        let mut report = ConflictsReport::default();
        if !self.config().conflicts.enabled {
            return Ok(report);
        }
        let tenants = match tenant {
            Some(tenant) => vec![tenant.clone()],
            None => self.tenants().await?,
        };
        let mut outcomes = TenantOutcomes::default();
        for tenant in &tenants {
            let outcome = caught(self.find_conflicts_of(tenant)).await;
            if let Ok((compared, found)) = &outcome {
                report.facts_compared += compared;
                report.conflicts_found += found;
            }
            outcomes.note(tenant, outcome)?;
        }
        report.errors = outcomes.finish()?;
        Ok(report)
    }

    async fn find_conflicts_of(&self, tenant: &TenantId) -> Result<(u64, u64), MemoryError> {
        let call = Call::internal(self, tenant.clone(), CONFLICTS);
        let now = call.now;
        let mut conn = self.db().owner().await?;
        let facts = conflicts::to_compare(&mut conn, tenant, now - RECENT, COMPARED).await?;
        let mut found = 0;
        for facts in facts.chunks(COMPARED_AT_ONCE) {
            for (_, pairs) in pairs_of(&mut conn, tenant, facts, true).await? {
                found += conflicts::record(call.write(&mut conn), FoundBy::Job, &pairs).await?;
            }
        }
        let ids: Vec<FactId> = facts.iter().map(|(id, _)| *id).collect();
        conflicts::compared(&mut conn, tenant, &ids).await?;
        Ok((ids.len() as u64, found))
    }
}

async fn find_after_store(db: &Database, tenant: &TenantId, facts: Vec<NewFact>) -> Result<(), StoreError> {
    let mut conn = db.tenant(tenant).await?;
    let (calls, sides): (HashMap<FactId, Call>, Vec<(FactId, Side)>) =
        facts.into_iter().map(|NewFact { call, id, side }| ((id, call), (id, side))).unzip();
    for sides in sides.chunks(COMPARED_AT_ONCE) {
        for (id, pairs) in pairs_of(&mut conn, tenant, sides, false).await? {
            conflicts::record(calls[&id].write(&mut conn), FoundBy::Store, &pairs).await?;
        }
    }
    Ok(())
}

/// Of each fact, the pairs in which it is in conflict with another one. A pair of two of these facts belongs to the newer
/// one, whose call completed it. Ids sort by age, so the fact with the greater one is the newer.
async fn pairs_of(
    conn: &mut Session,
    tenant: &TenantId,
    facts: &[(FactId, Side)],
    wide: bool,
) -> Result<BTreeMap<FactId, Vec<NewConflict>>, StoreError> {
    let sides: HashMap<FactId, &Side> = facts.iter().map(|(id, side)| (*id, side)).collect();
    let ids: Vec<FactId> = facts.iter().map(|(id, _)| *id).collect();
    let mut pairs: BTreeMap<FactId, Vec<NewConflict>> = BTreeMap::new();
    for Candidate { of: id, id: other, related, side, similarity } in
        conflicts::candidates(conn, tenant, &ids, wide).await?
    {
        let Some((kind, why)) = sides.get(&id).and_then(|own| conflict(own, &side, related, similarity)) else {
            continue;
        };
        let (newer, older) = if id > other { (id, other) } else { (other, id) };
        let of_fact = pairs.entry(if sides.contains_key(&newer) { newer } else { id }).or_default();
        if !of_fact.iter().any(|pair| (pair.newer, pair.older) == (newer, older)) {
            of_fact.push(NewConflict { newer, older, kind, why, score: similarity });
        }
    }
    Ok(pairs)
}

/// Rejects arguments that the resolution does not use.
fn check(input: &ResolveInput) -> Result<(), Invalid> {
    match (input.resolution, &input.content) {
        (Resolution::Merge, None) => {
            return Err(Invalid::new("content", "is required").hint("pass the text that says what both facts said"));
        }
        (Resolution::Merge, Some(_)) | (_, None) => {}
        (_, Some(_)) => return Err(Invalid::new("content", "is for the resolution merge only")),
    }
    if input.resolution != Resolution::KeepBoth && (input.scope.is_some() || !input.dates.is_empty()) {
        let field = if input.scope.is_some() { "scope" } else { "valid_from" };
        return Err(Invalid::new(field, "is for the resolution keep_both only"));
    }
    Ok(())
}
