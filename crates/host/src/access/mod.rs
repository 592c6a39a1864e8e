//! Access rules: who the caller is and what it may do.

mod keyring;
mod limit;
mod marker;
mod new_token;
mod rights;
mod secret;

use butler_domain::{Source, TenantId};
use butler_memory::{Caller, CallerTenant};
use uuid::Uuid;

pub use butler_memory::tool::Right;
pub use butler_store::tokens::{Rotation, TokenHash, TokenRow, hash as hash_token};
pub use keyring::{Keyring, Refusal, TokenState};
pub use limit::Limiter;
pub use marker::TokenMarker;
pub use new_token::{Lifetime, expiry, grace, token_name};
pub use rights::Rights;
pub use secret::{Secret, new_token, session_bearer};
pub(crate) use secret::{derived, derived_token, hex, random, unhex};

/// The actor in audit events of what a command does without a server, as the owner of the data.
pub const CLI_ACTOR: &str = "cli";

/// Why a request is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    Forbidden {
        message: String,
        hint: String,
    },
    /// The requested tenant is not a valid name.
    InvalidTenant {
        message: String,
    },
}

/// The identity and rights of a caller. The server puts it into the extensions of every HTTP request, and rmcp passes
/// it on to every MCP call.
#[derive(Debug, Clone)]
pub struct Access {
    pub caller: Caller,
    pub rights: Rights,
    /// The only butler that the caller may use; `None` if it may use all.
    pub butler: Option<String>,
    /// The id of the caller's token, for the rate limit.
    pub token: Option<Uuid>,
    /// The hash of the secret that the caller presented. A rotation replaces the secret, but not the token.
    pub secret: Option<TokenHash>,
}

impl Access {
    /// A caller with all rights: stdio, loopback without tokens, and the local command line.
    pub fn trusted() -> Self {
        Self { caller: Caller::trusted(), rights: Rights::ALL, butler: None, token: None, secret: None }
    }

    /// The owner of the data directory, at the command line.
    pub fn owner() -> Self {
        Self { caller: Caller::trusted().person(), ..Self::trusted() }
    }

    /// The program of a session on this machine, restricted to its butler and tenant.
    pub fn session(butler: String, tenant: TenantId) -> Self {
        let caller =
            Caller { tenant: CallerTenant::Token(tenant), actor: None, source: Source::Agent, has_token: false };
        Self { caller, rights: Rights::SESSION, butler: Some(butler), token: None, secret: None }
    }

    /// A caller without a token on a network address, who may only see whether the server is ready.
    pub fn stranger() -> Self {
        let caller = Caller {
            tenant: CallerTenant::Token(TenantId::default()),
            actor: None,
            source: Source::Agent,
            has_token: false,
        };
        Self { caller, rights: Rights::NONE, butler: None, token: None, secret: None }
    }

    pub fn require(&self, right: Right) -> Result<(), Denied> {
        if self.rights.include(right) {
            return Ok(());
        }
        let message = format!("this requires the right `{right}`; the token has {}", self.rights);
        Err(Denied::Forbidden { message, hint: right.remedy() })
    }

    pub fn may_use(&self, butler: &str) -> Result<(), Denied> {
        match &self.butler {
            Some(own) if own != butler => {
                let message = format!("this token is for the butler {own:?}, not for {butler:?}");
                let hint = format!("use /butlers/{own}/mcp, or a token created without --butler");
                Err(Denied::Forbidden { message, hint })
            }
            _ => Ok(()),
        }
    }

    /// Whether the caller may see and revoke this token: a token of its tenant and, if the caller is limited to one butler,
    /// for that butler alone.
    pub fn may_manage(&self, token: &TokenRow) -> bool {
        let same_tenant = match &self.caller.tenant {
            CallerTenant::Trusted => true,
            CallerTenant::Token(own) => token.of_tenant() == Some(own),
        };
        same_tenant && (self.butler.is_none() || self.butler == token.butler)
    }

    /// Whether the caller may look at what another one gets: one of its tenant and, if the caller is limited to one
    /// butler, of that butler.
    pub fn may_look_as(&self, other: &Self) -> bool {
        let same_tenant = match (&self.caller.tenant, &other.caller.tenant) {
            (CallerTenant::Trusted, _) => true,
            (CallerTenant::Token(own), CallerTenant::Token(theirs)) => own == theirs,
            (CallerTenant::Token(_), CallerTenant::Trusted) => false,
        };
        same_tenant && (self.butler.is_none() || self.butler == other.butler)
    }

    /// Whether the caller may see and revoke what was granted for this tenant and butler.
    pub fn may_manage_grant(&self, tenant: &TenantId, butler: &str) -> bool {
        let same_tenant = match &self.caller.tenant {
            CallerTenant::Trusted => true,
            CallerTenant::Token(own) => own == tenant,
        };
        same_tenant && self.butler.as_deref().is_none_or(|own| own == butler)
    }

    /// Whether the caller may rotate this token, which hands out a secret: only its own token and those that it made,
    /// directly or not, so that revoking the caller's token also revokes the new secret. `all` holds their ancestors.
    pub fn may_rotate(&self, token: &TokenRow, all: &[TokenRow]) -> bool {
        let Some(own) = self.token else { return self.may_manage(token) };
        let parent = |token: &TokenRow| all.iter().find(|one| Some(one.id) == token.parent);
        // Limited to the number of tokens, in case somebody made a circle of parents by hand.
        let mut line = std::iter::successors(Some(token), |token| parent(token)).take(all.len() + 1);
        self.may_manage(token) && line.any(|token| token.id == own)
    }

    /// The tenant of the request: that of the token, or for a trusted caller the requested one, by default `default`.
    pub fn tenant(&self, requested: Option<&str>) -> Result<TenantId, Denied> {
        let requested = requested
            .map(TenantId::new)
            .transpose()
            .map_err(|error| Denied::InvalidTenant { message: format!("tenant: {error}") })?;
        match (&self.caller.tenant, requested) {
            (CallerTenant::Trusted, requested) => Ok(requested.unwrap_or_default()),
            (CallerTenant::Token(own), Some(other)) if other != *own => {
                let message = format!("this token is not for the tenant {:?}", other.as_str());
                let hint = "leave the tenant out: the token determines it".to_owned();
                Err(Denied::Forbidden { message, hint })
            }
            (CallerTenant::Token(own), _) => Ok(own.clone()),
        }
    }
}
