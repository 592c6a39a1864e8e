//! Who is on the transport, and whose memory that lets them work on.

use butler_domain::validate::Invalid;
use butler_domain::{Source, TenantId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub tenant: CallerTenant,
    /// Recorded with every change; the hosting butler where nobody is named.
    pub actor: Option<String>,
    /// Who speaks through this caller at most.
    pub source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallerTenant {
    /// Fixed by the token: naming another tenant is an error.
    Token(TenantId),
    /// Stdio and loopback without tokens: the arguments choose.
    Trusted,
}

impl Caller {
    pub fn trusted() -> Self {
        Self { tenant: CallerTenant::Trusted, actor: None, source: Source::Agent }
    }

    /// The same caller, when a person is at the keyboard: the command line and the dashboard.
    #[must_use]
    pub fn person(self) -> Self {
        Self { source: Source::Person, ..self }
    }

    /// The tenant of a call whose arguments name `wanted`.
    pub(crate) fn resolve(&self, wanted: Option<TenantId>) -> Result<TenantId, Invalid> {
        match (&self.tenant, wanted) {
            (CallerTenant::Trusted, wanted) => Ok(wanted.unwrap_or_default()),
            (CallerTenant::Token(own), Some(other)) if other != *own => {
                Err(Invalid::new("tenant_id", format!("{other:?} is not the tenant of this token"))
                    .hint("leave tenant_id out: the token decides"))
            }
            (CallerTenant::Token(own), _) => Ok(own.clone()),
        }
    }
}
