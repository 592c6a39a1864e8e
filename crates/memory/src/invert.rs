//! A rule that failed too often becomes a warning.

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_domain::maturity::inverted_content;
use butler_store::WriteContext;
use butler_store::rules_feedback::{Inversion, Pending, invert, pending_inversion};
use serde_json::{Map, Value};

use crate::{Memory, MemoryError};

/// Few rules wait at a time; this only bounds the memory their texts take.
const BATCH: i64 = 50;
/// A rule marked while it is embedded is read again. A rule marked that often meanwhile is left to the next call.
const PASSES: u32 = 5;

impl Memory {
    /// Returns when a mark has left a rule to be inverted (also one that came before this was called).
    /// The host's inversion job waits here and then calls [`Self::invert_pending`].
    pub async fn inversion_wanted(&self) {
        self.inversion().notified().await;
    }

    /// Inverts what marks flagged, of one tenant or of all. Returns how many rules became warnings. Repeating it, or
    /// running it beside marks and beside itself, is harmless.
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
                    tracing::info!(rule = %rule.id, tenant = %rule.tenant, "a rule became a warning");
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
