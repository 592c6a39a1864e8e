//! Records what a call gave to an agent, beside the reference counts.

use butler_domain::MemoryType;
use butler_store::injections::{Recipient, Served, ServedBy};
use butler_store::reference_counts::Referenced;
use uuid::Uuid;

use crate::search::Hit;
use crate::{Call, Memory};

impl Memory {
    /// Counts a reference to each memory of an answer, except of a search, and records that the call served them. Both are
    /// written later, so the caller does not wait.
    ///
    /// A call that found nothing is recorded only if it names a session, because only that session's page would show it.
    pub(crate) fn serve(&self, call: &Call, kind: ServedBy, query: &str, memories: &[(MemoryType, Uuid, Option<f64>)]) {
        let mut referenced = Referenced::default();
        if kind != ServedBy::Search {
            memories.iter().for_each(|(kind, id, _)| referenced.push(*kind, *id));
        }
        let is_recorded =
            self.config().injections_retention_days > 0 && (!memories.is_empty() || call.session.is_some());
        let served = is_recorded.then(|| {
            let Call { tenant, origin, now, .. } = call;
            let to = Recipient { tenant, origin, session: call.session.as_deref(), now: *now };
            Served::new(kind, to, query, memories.iter().copied())
        });
        self.db().count_later(&call.tenant, referenced, served, call.now);
    }

    pub(crate) fn serve_hits(&self, call: &Call, kind: ServedBy, query: &str, hits: &[Hit]) {
        let memories: Vec<_> = hits.iter().map(|hit| (hit.memory_type, hit.id, Some(hit.score))).collect();
        self.serve(call, kind, query, &memories);
    }
}
