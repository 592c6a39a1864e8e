//! Processes one batch: leases episodes, asks the model, and consolidates, fails or releases every episode.

use std::time::Duration;

use butler_domain::consolidation::{AfterFailure, ConsolidationResult, after_failure};
use butler_domain::event::Origin;
use butler_domain::{EpisodeId, Timestamp};
use butler_store::WriteContext;
use butler_store::consolidation::known;
use butler_store::consolidation::lease::{self, Group, Leased};
use butler_store::consolidation::outcome::{self, Failed};
use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::prompt::{self, Known, Prompt, estimate_tokens};
use super::redact::redact;
use super::report::GroupReport;
use crate::isolation::caught;
use crate::runtime::{Completion, Runtime, RuntimeError, Session, TRIGGER_CONSOLIDATION};
use crate::{Memory, MemoryError};

/// The duration of a lease. A live worker renews it; after a crash the batch is unavailable for this long.
const LEASE: TimeDelta = TimeDelta::minutes(2);
const RENEW_EVERY: Duration = Duration::from_secs(30);
/// Existing facts in the prompt, so that the model does not repeat them.
const KNOWN_FACTS: i32 = 100;
/// Existing rules in the prompt.
const KNOWN_RULES: i32 = 50;
const KNOWN_PREDICATES: i64 = 60;
/// The length to which an error is truncated before it is stored with an episode.
const ERROR_CHARS: usize = 1000;

/// Whether to go on with the next batch of the group.
pub(super) enum Next {
    Continue,
    /// No episode is due, another worker has them, or the runtime does not work.
    Done,
}

/// Episodes that this worker has leased.
pub(super) struct Batch<'a> {
    pub group: &'a Group,
    /// Identifies the lease, so that a worker that lost it cannot write.
    pub token: Uuid,
    pub episodes: Vec<Leased>,
}

impl Batch<'_> {
    pub fn ids(&self) -> Vec<EpisodeId> {
        self.episodes.iter().map(|episode| episode.id).collect()
    }
}

/// Why a batch was not consolidated.
enum Fault {
    /// The server is stopping; the episodes were released.
    Stopped,
    /// Another worker has the episodes now.
    LeaseLost,
    Runtime(RuntimeError),
    /// The answer contains no usable action, or none could be applied.
    Answer(String),
}

impl Memory {
    pub(super) async fn run_batch(
        &self,
        runtime: &dyn Runtime,
        group: &Group,
        origin: &Origin,
        stop: &CancellationToken,
        report: &mut GroupReport,
    ) -> Result<Next, MemoryError> {
        let Some(mut batch) = self.lease_batch(group).await? else { return Ok(Next::Done) };
        report.counts.batches += 1;
        match caught(self.process(runtime, &mut batch, origin, stop, report)).await {
            Ok(next) => Ok(next),
            // The database is unavailable, which is not a failed attempt. If the release fails too, the lease expires.
            Err(MemoryError::Store(error)) if error.is_unavailable() => {
                let _ = self.release(&batch).await;
                Err(error.into())
            }
            // Counting the attempt keeps an error that recurs every time from being retried forever.
            Err(error) => {
                self.fail(&batch, &error.to_string(), origin, report).await?;
                Err(error)
            }
        }
    }

    async fn process(
        &self,
        runtime: &dyn Runtime,
        batch: &mut Batch<'_>,
        origin: &Origin,
        stop: &CancellationToken,
        report: &mut GroupReport,
    ) -> Result<Next, MemoryError> {
        let prompt = self.prompt(batch).await?;
        let batch = &*batch;
        let group = batch.group;
        let answer = self.request_answer(runtime, batch, &prompt, stop, report).await?;
        let fault = match answer {
            Ok(result) => match self.execute(batch, &result, origin, report).await? {
                Some(fault) => Fault::Answer(fault),
                None => return Ok(Next::Continue),
            },
            Err(fault) => fault,
        };
        let (error, next) = match fault {
            Fault::Stopped => {
                report.problem("stopped; the batch was released".to_owned());
                return Ok(Next::Done);
            }
            Fault::LeaseLost => {
                report.problem("the lease was lost: another worker has the episodes; nothing was written".to_owned());
                return Ok(Next::Done);
            }
            // A runtime that fails now would most likely fail for the next batch too.
            Fault::Runtime(error) => {
                tracing::warn!(error = error.without_quotes(), "the LLM gave no answer");
                (error.to_string(), Next::Done)
            }
            Fault::Answer(error) => (error, Next::Continue),
        };
        // The reason may quote the answer, which does not belong into a log.
        tracing::warn!(tenant = %group.tenant, butler = %group.butler, "a batch was not consolidated; the report has the reason");
        report.fail(error.clone());
        self.fail(batch, &error, origin, report).await?;
        Ok(next)
    }

    /// Leases episodes that are due. Returns `None` if there are none.
    async fn lease_batch<'a>(&self, group: &'a Group) -> Result<Option<Batch<'a>>, MemoryError> {
        let now = self.now();
        let token = Uuid::new_v4();
        let limit = i64::try_from(self.config().consolidation.batch_size).unwrap_or(i64::MAX);
        let mut conn = self.db().tenant(&group.tenant).await?;
        let episodes = lease::take(&mut conn, &group.tenant, &group.butler, token, now + LEASE, limit, now).await?;
        Ok(if episodes.is_empty() { None } else { Some(Batch { group, token, episodes }) })
    }

    /// Builds the prompt and releases the episodes that do not fit into it.
    async fn prompt(&self, batch: &mut Batch<'_>) -> Result<Prompt, MemoryError> {
        let (group, ids) = (batch.group, batch.ids());
        let (predicates, facts, rules) = {
            // Only the owner may run these searches, which bypass row-level security. The statements filter by tenant.
            let mut conn = self.db().owner().await?;
            (
                known::predicates(&mut conn, &group.tenant, &group.butler, KNOWN_PREDICATES).await?,
                known::facts(&mut conn, &group.tenant, &group.butler, &ids, KNOWN_FACTS).await?,
                known::rules(&mut conn, &group.tenant, &group.butler, &ids, KNOWN_RULES).await?,
            )
        };
        let cap = self.config().consolidation.prompt_token_cap;
        let known = Known { predicates: &predicates, facts: &facts, rules: &rules };
        let prompt = prompt::build(group.butler.as_str(), &batch.episodes, known, cap);
        let omitted = &ids[prompt.episodes..];
        if !omitted.is_empty() {
            let mut conn = self.db().tenant(&group.tenant).await?;
            lease::release(&mut conn, &group.tenant, omitted, batch.token).await?;
        }
        batch.episodes.truncate(prompt.episodes);
        Ok(prompt)
    }

    /// Waits for the model's answer and renews the lease meanwhile.
    async fn request_answer(
        &self,
        runtime: &dyn Runtime,
        batch: &Batch<'_>,
        prompt: &Prompt,
        stop: &CancellationToken,
        report: &mut GroupReport,
    ) -> Result<Result<ConsolidationResult, Fault>, MemoryError> {
        let session = Session {
            schema: Some(prompt::answer_schema(prompt)),
            ..Session::new(TRIGGER_CONSOLIDATION, prompt.text.clone())
        };
        let answer = runtime.complete(session);
        tokio::pin!(answer);
        let completion = loop {
            tokio::select! {
                answer = &mut answer => break answer,
                () = stop.cancelled() => {
                    self.release(batch).await?;
                    return Ok(Err(Fault::Stopped));
                }
                () = tokio::time::sleep(RENEW_EVERY) => {
                    if !self.renew_lease(batch).await {
                        return Ok(Err(Fault::LeaseLost));
                    }
                }
            }
        };
        Ok(match completion {
            Ok(completion) => read_answer(&completion, prompt, report).map(|mut result| {
                report.counts.redacted += redact(&mut result, self.redactor()) as u64;
                result
            }),
            Err(error) => Err(Fault::Runtime(error)),
        })
    }

    /// Returns `false` if another worker has the episodes. A database error returns `true`, because it may be
    /// temporary.
    async fn renew_lease(&self, batch: &Batch<'_>) -> bool {
        let renewed = async {
            let mut conn = self.db().tenant(&batch.group.tenant).await?;
            lease::renew(&mut conn, &batch.group.tenant, &batch.ids(), batch.token, self.now() + LEASE).await
        };
        match renewed.await {
            Ok(episodes) => episodes > 0,
            Err(error) => {
                tracing::warn!(%error, "the lease of a batch could not be renewed");
                true
            }
        }
    }

    async fn release(&self, batch: &Batch<'_>) -> Result<(), MemoryError> {
        let mut conn = self.db().tenant(&batch.group.tenant).await?;
        lease::release(&mut conn, &batch.group.tenant, &batch.ids(), batch.token).await?;
        Ok(())
    }

    /// Records a failed attempt: the episodes are retried later or become dead letters.
    async fn fail(
        &self,
        batch: &Batch<'_>,
        error: &str,
        origin: &Origin,
        report: &mut GroupReport,
    ) -> Result<(), MemoryError> {
        let now = self.now();
        // It may quote the answer of the model.
        let error: String = self.redactor().redact(error).text.chars().take(ERROR_CHARS).collect();
        let failed: Vec<Failed> = batch
            .episodes
            .iter()
            .map(|episode| Failed { id: episode.id, next: self.next_attempt(episode, now) })
            .collect();
        let mut conn = self.db().tenant(&batch.group.tenant).await?;
        let write = WriteContext { session: &mut conn, tenant: &batch.group.tenant, now, origin };
        let counts = outcome::failed(write, &failed, &error, batch.token).await?;
        report.counts.failed += counts.failed;
        report.counts.dead_lettered += counts.dead_lettered;
        Ok(())
    }

    fn next_attempt(&self, episode: &Leased, now: Timestamp) -> AfterFailure {
        after_failure(episode.retry_count + 1, self.config().consolidation.max_attempts, now)
    }
}

/// Parses the answer and counts its tokens.
fn read_answer(
    completion: &Completion,
    prompt: &Prompt,
    report: &mut GroupReport,
) -> Result<ConsolidationResult, Fault> {
    let estimate = |text: &str| estimate_tokens(text) as u64;
    report.counts.tokens_in += completion.tokens_in.unwrap_or(prompt.tokens as u64);
    report.counts.tokens_out += completion.tokens_out.unwrap_or_else(|| estimate(&completion.text));
    if completion.text.trim().is_empty() {
        return Err(Fault::Answer("the runtime returned an empty answer".to_owned()));
    }
    let result = prompt.read(&completion.text);
    report.counts.parse_errors += result.parse_errors.len() as u64;
    if let Some(reason) = result.failure() {
        return Err(Fault::Answer(reason));
    }
    for error in &result.parse_errors {
        report.problem(format!("in the answer: {error}"));
    }
    Ok(result)
}
