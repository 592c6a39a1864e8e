//! What every write needs besides its own data.

use butler_domain::event::Origin;
use butler_domain::{TenantId, Timestamp};

use crate::Session;

/// A write on behalf of one tenant: where it happens, when, and who its events name.
pub struct WriteContext<'a> {
    /// A connection, or the transaction that the write belongs to.
    pub session: &'a mut Session,
    pub tenant: &'a TenantId,
    pub now: Timestamp,
    pub origin: &'a Origin,
}

impl WriteContext<'_> {
    /// The same context for a further statement.
    pub(crate) fn again(&mut self) -> WriteContext<'_> {
        WriteContext { session: self.session, tenant: self.tenant, now: self.now, origin: self.origin }
    }
}

/// A job's write: for one tenant or, on the owner's session, for all.
pub struct JobContext<'a> {
    pub session: &'a mut Session,
    /// `None` for all tenants.
    pub tenant: Option<&'a TenantId>,
    pub now: Timestamp,
    pub origin: &'a Origin,
}

/// A write on the owner's session whose rows name their tenants: to tokens and grants, or of a restore.
pub struct OwnerContext<'a> {
    /// A connection, or the transaction that the write belongs to.
    pub session: &'a mut Session,
    pub now: Timestamp,
    pub origin: &'a Origin,
}
