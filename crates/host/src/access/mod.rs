//! Who a request comes from, and what it may do.

mod keyring;
mod limit;
mod rights;
mod secret;

use butler_domain::TenantId;
use butler_memory::{Caller, CallerTenant};
use uuid::Uuid;

pub use butler_memory::tool::Right;
pub use keyring::{Keyring, Refusal};
pub use limit::Limiter;
pub use rights::Rights;
pub use secret::{Secret, new_token, session_bearer};

/// Why a caller may not do what it asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    Forbidden {
        message: String,
        hint: String,
    },
    /// The tenant's name itself is not valid.
    InvalidTenant {
        message: String,
    },
}

/// In the extensions of every request, and through rmcp in those of every MCP call.
#[derive(Debug, Clone)]
pub struct Access {
    pub caller: Caller,
    pub rights: Rights,
    /// `None`: all butlers.
    pub butler: Option<String>,
    /// The token it came with, for metrics and the rate limit.
    pub token: Option<Uuid>,
}

impl Access {
    /// Stdio, loopback without tokens, and the local command line.
    pub fn trusted() -> Self {
        Self { caller: Caller::trusted(), rights: Rights::ALL, butler: None, token: None }
    }

    /// A program that a session of this machine runs.
    pub fn session(butler: String, tenant: TenantId) -> Self {
        let caller = Caller { tenant: CallerTenant::Token(tenant), actor: None };
        Self { caller, rights: Rights::SESSION, butler: Some(butler), token: None }
    }

    /// Somebody of another machine who brought nothing: may know that the server lives.
    pub fn stranger() -> Self {
        let caller = Caller { tenant: CallerTenant::Token(TenantId::default()), actor: None };
        Self { caller, rights: Rights::NONE, butler: None, token: None }
    }

    pub fn require(&self, right: Right) -> Result<(), Denied> {
        if self.rights.include(right) {
            return Ok(());
        }
        let message = format!("this needs the right `{right}`; the token has {}", self.rights);
        Err(Denied::Forbidden { message, hint: right.remedy() })
    }

    pub fn may_use(&self, butler: &str) -> Result<(), Denied> {
        match &self.butler {
            Some(own) if own != butler => {
                let message = format!("this token is for the butler {own:?}, not for {butler:?}");
                let hint = format!("use /butlers/{own}/mcp, or a token made without --butler");
                Err(Denied::Forbidden { message, hint })
            }
            _ => Ok(()),
        }
    }

    /// The token's tenant; a trusted caller names one, or means `default`.
    pub fn tenant(&self, wanted: Option<&str>) -> Result<TenantId, Denied> {
        let wanted = wanted
            .map(TenantId::new)
            .transpose()
            .map_err(|error| Denied::InvalidTenant { message: format!("tenant: {error}") })?;
        match (&self.caller.tenant, wanted) {
            (CallerTenant::Trusted, wanted) => Ok(wanted.unwrap_or_default()),
            (CallerTenant::Token(own), Some(other)) if other != *own => {
                let message = format!("{:?} is not the tenant of this token", other.as_str());
                let hint = "leave the tenant out: the token decides".to_owned();
                Err(Denied::Forbidden { message, hint })
            }
            (CallerTenant::Token(own), _) => Ok(own.clone()),
        }
    }
}
