//! Reads one memory by its id, which counts as a reference.

use butler_domain::{EpisodeId, FactId, MemoryType, RuleId};
use uuid::Uuid;

use crate::views::{FactView, MemoryView, RuleView};
use crate::{Call, Memory, MemoryError};

impl Memory {
    /// Returns the memory in any state, or `None` if it does not exist.
    pub async fn get(&self, call: &Call, memory_type: MemoryType, id: Uuid) -> Result<Option<MemoryView>, MemoryError> {
        let mut conn = self.db().relaxed(&call.tenant).await?;
        let (tenant, now) = (&call.tenant, call.now);
        Ok(match memory_type {
            MemoryType::Episode => {
                butler_store::get::episode(&mut conn, tenant, EpisodeId(id), now).await?.map(MemoryView::Episode)
            }
            MemoryType::Fact => match butler_store::get::fact(&mut conn, tenant, FactId(id), now).await? {
                Some((fact, periods)) => {
                    let timeline = if periods.len() > 1 { periods } else { Vec::new() };
                    Some(MemoryView::Fact(FactView { timeline, ..FactView::at(fact, now) }))
                }
                None => None,
            },
            MemoryType::Rule => butler_store::get::rule(&mut conn, tenant, RuleId(id), now)
                .await?
                .map(|rule| MemoryView::Rule(RuleView::at(rule, now))),
        })
    }
}
