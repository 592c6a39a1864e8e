//! The context of a request, which every use case receives.

use butler_domain::event::Origin;
use butler_domain::{Source, TenantId, Timestamp};
use butler_store::{Session, WriteContext};

use crate::Memory;

/// The tenant, the origin and the time of a request.
#[derive(Debug, Clone)]
pub struct Call {
    pub tenant: TenantId,
    pub origin: Origin,
    pub now: Timestamp,
    /// The caller's session, to which the returned memories are attributed.
    pub session: Option<String>,
    /// The caller's key for this request. A repeated store with the same key returns the first answer and writes
    /// nothing.
    pub idempotency_key: Option<String>,
    /// How far the caller is trusted. The server decides; an argument can only lower it.
    pub source: Source,
}

impl Call {
    /// A call by the program itself, for example by a job.
    pub fn internal(memory: &Memory, tenant: TenantId, actor: impl Into<String>) -> Self {
        let origin = Origin { actor: Some(actor.into()), request_id: None };
        Self { tenant, origin, now: memory.now(), session: None, idempotency_key: None, source: Source::Agent }
    }

    /// The context of a write that this call makes.
    pub(crate) fn write<'a>(&'a self, session: &'a mut Session) -> WriteContext<'a> {
        WriteContext { session, tenant: &self.tenant, now: self.now, origin: &self.origin }
    }
}
