//! Inversion: rewrites rules that did harm too often as anti-patterns, which warn against them.

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_domain::maturity::inverted_content;
use butler_store::WriteContext;
use butler_store::rules_feedback::{Inversion, Pending, invert, pending_inversion};
use serde_json::{Map, Value};

use crate::{Memory, MemoryError};

/// Bounds the memory for the texts of a batch; usually only a few rules are pending.
const BATCH: i64 = 50;
/// A rule that is marked while it is being embedded is read again. After this many passes it is left to the next call.
const PASSES: u32 = 5;

impl Memory {
    /// Waits until a mark flags a rule for inversion. A mark made before the call counts too. The host's inversion job
    /// then calls [`Self::invert_pending`].
    pub async fn inversion_requested(&self) {
        self.inversion().notified().await;
    }

    /// Inverts the flagged rules of one tenant, or of all, and returns their number. It is idempotent and may run
    /// concurrently with marks and with itself.
    pub async fn invert_pending(&self, tenant: Option<&TenantId>) -> Result<u64, MemoryError> {
        let mut inverted = 0;
        for _ in 0..PASSES {
            let (done, missed) = self.invert_once(tenant).await?;
            inverted += done;
            if missed == 0 {
                break;
            }
        }
        Ok(inverted)
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

    /// Makes one pass over the flagged rules. Returns how many it inverted, and how many had changed meanwhile.
    async fn invert_once(&self, tenant: Option<&TenantId>) -> Result<(u64, u64), MemoryError> {
        let origin = Origin { actor: Some("inversion".to_owned()), request_id: None };
        let (mut done, mut missed) = (0, 0);
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
                    done += 1;
                    tracing::info!(rule = %rule.id, tenant = %rule.tenant, "a rule became an anti-pattern");
                } else {
                    missed += 1;
                }
            }
            match batch.into_iter().next_back() {
                Some(rule) => last = Some(rule),
                None => return Ok((done, missed)),
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
