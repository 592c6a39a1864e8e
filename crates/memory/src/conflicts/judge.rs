//! The optional judge: a language model says for each open pair what it is and why. It never changes a fact.

use butler_domain::TenantId;
use butler_domain::consolidation::{Judgement, parse_verdicts};
use butler_domain::instructions::suspicious;
use butler_store::conflicts::judge::{self, UnjudgedPair};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{ConflictsReport, prompt};
use crate::isolation::caught;
use crate::runtime::{Runtime, RuntimeError, Session, TRIGGER_CONFLICTS};
use crate::{Call, Memory, MemoryError};

/// The actor in the events of the judge.
pub const ACTOR: &str = "judge";
/// The most pairs of a prompt: small models lose count of more.
const BATCH: usize = 20;
/// The most pairs of a tenant in one run, so that a store with thousands of them does not occupy the model all night.
const JUDGED: i64 = 200;

/// Why a batch was not judged.
enum Fault {
    Stopped,
    /// The runtime gave no answer, so the next one would most likely fail too.
    Runtime(RuntimeError),
}

impl Memory {
    /// Has the open pairs judged, if the judge is enabled and there is a language model. Pairs without a usable verdict
    /// stay as they are, and the next run tries again.
    pub async fn judge_conflicts(
        &self,
        tenant: Option<&TenantId>,
        stop: &CancellationToken,
        report: &mut ConflictsReport,
    ) -> Result<(), MemoryError> {
        let config = &self.config().conflicts;
        let Some(runtime) = self.runtime().filter(|_| config.enabled && config.judge) else { return Ok(()) };
        let tenants = match tenant {
            Some(tenant) => vec![tenant.clone()],
            None => self.tenants().await?,
        };
        for tenant in &tenants {
            match caught(self.judge_conflicts_of(runtime.as_ref(), tenant, stop, report)).await {
                Ok(Ok(())) => {}
                Ok(Err(Fault::Stopped)) => break,
                Ok(Err(Fault::Runtime(error))) => {
                    tracing::warn!(error = error.without_quotes(), "the LLM did not judge conflicts");
                    report.errors.push(format!("the judge gave no answer: {}", error.without_quotes()));
                    break;
                }
                Err(MemoryError::Store(error)) if error.is_unavailable() => return Err(error.into()),
                Err(error) => {
                    tracing::error!(%tenant, %error, "the conflicts of a tenant were not judged");
                    report.errors.push(format!("{tenant}: {error}"));
                }
            }
        }
        Ok(())
    }

    async fn judge_conflicts_of(
        &self,
        runtime: &dyn Runtime,
        tenant: &TenantId,
        stop: &CancellationToken,
        report: &mut ConflictsReport,
    ) -> Result<Result<(), Fault>, MemoryError> {
        let pairs = {
            let mut conn = self.db().tenant(tenant).await?;
            judge::unjudged(&mut conn, tenant, JUDGED).await?
        };
        // Text that talks to the model could decide about the other pairs of its prompt. A person judges it.
        let pairs: Vec<_> = pairs
            .into_iter()
            .filter(|pair| [&pair.a, &pair.b].iter().all(|side| suspicious(&side.content).is_empty()))
            .collect();
        let mut rest = pairs.as_slice();
        while !rest.is_empty() {
            let batch = &rest[..rest.len().min(BATCH)];
            let cap = self.config().consolidation.prompt_token_cap;
            let prompt = prompt::build(self.butler().as_str(), batch, cap);
            let batch = &batch[..prompt.pairs];
            rest = &rest[prompt.pairs..];
            let session = Session {
                schema: Some(prompt::answer_schema(&prompt)),
                ..Session::new(TRIGGER_CONFLICTS, prompt.text.clone())
            };
            let answer = tokio::select! {
                answer = runtime.complete(session) => answer,
                () = stop.cancelled() => return Ok(Err(Fault::Stopped)),
            };
            let answer = match answer {
                Ok(answer) => answer,
                // The model may refuse only this prompt, so the run continues.
                Err(
                    error @ (RuntimeError::Refused { .. }
                    | RuntimeError::TooLarge { .. }
                    | RuntimeError::Malformed { .. }),
                ) => {
                    report.judge_failed += batch.len() as u64;
                    report.errors.push(format!("{tenant}: the judge gave no answer: {}", error.without_quotes()));
                    continue;
                }
                Err(error) => {
                    report.judge_failed += batch.len() as u64;
                    return Ok(Err(Fault::Runtime(error)));
                }
            };
            let verdicts = self.read_verdicts(&answer.text, &prompt, batch);
            report.judge_failed += (batch.len() - verdicts.len()) as u64;
            if verdicts.is_empty() {
                continue;
            }
            let call = Call::internal(self, tenant.clone(), ACTOR);
            let mut conn = self.db().tenant(tenant).await?;
            let mut tx = conn.begin().await?;
            let counts = judge::judge(call.write(&mut tx), &verdicts).await?;
            tx.commit().await?;
            report.judged += counts.judged;
            report.judged_no_conflict += counts.closed;
        }
        Ok(Ok(()))
    }

    fn read_verdicts(&self, answer: &str, prompt: &prompt::Prompt, batch: &[UnjudgedPair]) -> Vec<(Uuid, Judgement)> {
        let mut said = parse_verdicts(answer, &prompt.text, batch.len());
        let numbered = batch.iter().zip(1..);
        numbered
            .filter_map(|(pair, number)| {
                let mut judgement = said.remove(&number)?;
                // A model may write out a secret that the fact spells in a form that redaction does not recognise.
                self.redactor().redact_text(&mut judgement.reason);
                Some((pair.id, judgement))
            })
            .collect()
    }
}
