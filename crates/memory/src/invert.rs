//! Inversion: rewrites rules that did harm too often as anti-patterns, which warn against them.

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_domain::maturity::inverted_content;
use butler_store::WriteContext;
use butler_store::rules_feedback::{Inversion, Pending, invert, pending_inversion};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::isolation::{TenantOutcomes, caught};
use crate::{Memory, MemoryError};

/// Bounds the memory for the texts of a batch; usually only a few rules are pending.
const BATCH: i64 = 50;
/// A rule that is marked while it is being embedded is read again. After this many passes it is left to the next call.
const PASSES: u32 = 5;

/// What an inversion did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct InversionReport {
    pub rules_inverted: u64,
    /// The tenants whose rules could not be inverted, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

impl Memory {
    /// Waits until a mark flags a rule for inversion. A mark made before the call counts too. The host's inversion job
    /// then calls [`Self::invert_pending`].
    pub async fn inversion_requested(&self) {
        self.inversion().notified().await;
    }

    /// Inverts the flagged rules of one tenant, or of all. It is idempotent and may run concurrently with marks and with
    /// itself.
    pub async fn invert_pending(&self, tenant: Option<&TenantId>) -> Result<InversionReport, MemoryError> {
        let mut report = InversionReport::default();
        match caught(self.invert_flagged(tenant, &mut report.rules_inverted)).await {
            // Bad data of one tenant ends the pass over all tenants.
            Err(error) if tenant.is_none() && !error.is_unavailable() => {
                let mut outcomes = TenantOutcomes::default();
                for tenant in self.tenants().await? {
                    let inverted = caught(self.invert_flagged(Some(&tenant), &mut report.rules_inverted)).await;
                    outcomes.note(&tenant, inverted)?;
                }
                report.errors = outcomes.finish()?;
            }
            outcome => outcome?,
        }
        Ok(report)
    }

    /// Adds the number of inverted rules to `inverted`, also if it fails.
    async fn invert_flagged(&self, tenant: Option<&TenantId>, inverted: &mut u64) -> Result<(), MemoryError> {
        for _ in 0..PASSES {
            if self.invert_once(tenant, inverted).await? == 0 {
                break;
            }
        }
        Ok(())
    }

    pub(crate) async fn count_pending_inversions(&self, tenant: Option<&TenantId>) -> Result<u64, MemoryError> {
        let mut conn = self.db().owner().await?;
        let (mut count, mut last) = (0, None);
        loop {
            let batch = pending_inversion(&mut conn, tenant, last.as_ref(), BATCH).await?;
            count += batch.len() as u64;
            match batch.into_iter().next_back() {
                Some(rule) => last = Some(rule),
                None => return Ok(count),
            }
        }
    }

    /// Makes one pass over the flagged rules. Returns how many had changed meanwhile.
    async fn invert_once(&self, tenant: Option<&TenantId>, inverted: &mut u64) -> Result<u64, MemoryError> {
        let origin = Origin { actor: Some("inversion".to_owned()), request_id: None };
        let mut missed = 0;
        let mut conn = self.db().owner().await?;
        let mut last: Option<Pending> = None;
        loop {
            let batch = pending_inversion(&mut conn, tenant, last.as_ref(), BATCH).await?;
            for rule in &batch {
                let content = inverted_content(&rule.content, &reasons(&rule.metadata));
                let embedding = self.embed(&content).await?;
                let mut metadata = rule.metadata.clone();
                metadata.remove("needs_inversion");
                metadata.insert("original_content".to_owned(), rule.content.clone().into());
                let inversion = Inversion { content: &content, metadata: &metadata, embedding: &embedding };
                let now = self.now();
                let write = WriteContext { session: &mut conn, tenant: &rule.tenant, now, origin: &origin };
                if invert(write, rule, inversion).await? {
                    *inverted += 1;
                    tracing::info!(rule = %rule.id, tenant = %rule.tenant, "a rule became an anti-pattern");
                } else {
                    missed += 1;
                }
            }
            match batch.into_iter().next_back() {
                Some(rule) => last = Some(rule),
                None => return Ok(missed),
            }
        }
    }
}

fn reasons(metadata: &Map<String, Value>) -> Vec<&str> {
    match metadata.get("harmful_reasons") {
        Some(Value::Array(reasons)) => reasons.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(reason)) => vec![reason],
        _ => Vec::new(),
    }
}
