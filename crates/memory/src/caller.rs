//! Who makes a request, and which tenants they may name.

use butler_domain::validate::Invalid;
use butler_domain::{Source, TenantId};

/// Whoever sends requests over a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub tenant: CallerTenant,
    /// Recorded with every change. `None` stands for the hosting butler.
    pub actor: Option<String>,
    /// The highest trust that text of this caller can have.
    pub source: Source,
    /// Whether the caller presented a token. `butler mcp --tenant` fixes the tenant without one.
    pub has_token: bool,
}

/// Which tenant a caller works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallerTenant {
    /// The token fixes the tenant. Naming another one is an error.
    Token(TenantId),
    /// Stdio and loopback without tokens: the arguments name the tenant.
    Trusted,
}

impl Caller {
    /// Whether a person stands behind the caller: at the command line, or with a token, whose rights decide.
    pub fn is_person(&self) -> bool {
        self.source == Source::Person || self.has_token
    }

    /// A caller without a token, on this machine.
    pub fn trusted() -> Self {
        Self { tenant: CallerTenant::Trusted, actor: None, source: Source::Agent, has_token: false }
    }

    /// The same caller as a person, for the command line and the dashboard.
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
