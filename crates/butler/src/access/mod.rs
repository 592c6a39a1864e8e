//! Who a request comes from, and what it may do.

mod gate;
pub mod keeper;
mod keyring;
mod limit;
mod rights;
mod secret;

use axum::http::StatusCode;
use axum::response::Response;
use butler_domain::TenantId;
use butler_memory::{Caller, CallerTenant};
use uuid::Uuid;

pub use gate::{Gate, identify};
pub use keyring::Keyring;
pub use rights::{Right, Rights};
pub use secret::{Secret, new_token, session_bearer};

use crate::http::reject;

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
    pub(crate) fn session(butler: String, tenant: TenantId) -> Self {
        let caller = Caller { tenant: CallerTenant::Token(tenant), actor: None };
        Self { caller, rights: Rights::SESSION, butler: Some(butler), token: None }
    }

    /// Somebody of another machine who brought nothing: may know that the server lives.
    pub(crate) fn stranger() -> Self {
        let caller = Caller { tenant: CallerTenant::Token(TenantId::default()), actor: None };
        Self { caller, rights: Rights::NONE, butler: None, token: None }
    }

    pub fn require(&self, right: Right) -> Result<(), Response> {
        if self.rights.include(right) {
            return Ok(());
        }
        let message = format!("this needs the right `{right}`; the token has {}", self.rights);
        Err(reject(StatusCode::FORBIDDEN, "forbidden", &message, Some(&right.remedy())))
    }

    pub fn may_use(&self, butler: &str) -> Result<(), Response> {
        match &self.butler {
            Some(own) if own != butler => {
                let message = format!("this token is for the butler {own:?}, not for {butler:?}");
                let hint = format!("use /butlers/{own}/mcp, or a token made without --butler");
                Err(reject(StatusCode::FORBIDDEN, "forbidden", &message, Some(&hint)))
            }
            _ => Ok(()),
        }
    }

    /// The token's tenant; a trusted caller names one, or means `default`.
    pub fn tenant(&self, wanted: Option<&str>) -> Result<TenantId, Response> {
        let wanted = wanted.map(TenantId::new).transpose().map_err(|error| {
            let message = format!("tenant: {error}");
            reject(StatusCode::BAD_REQUEST, "invalid_argument", &message, None)
        })?;
        match (&self.caller.tenant, wanted) {
            (CallerTenant::Trusted, wanted) => Ok(wanted.unwrap_or_default()),
            (CallerTenant::Token(own), Some(other)) if other != *own => {
                let message = format!("{:?} is not the tenant of this token", other.as_str());
                let hint = "leave the tenant out: the token decides";
                Err(reject(StatusCode::FORBIDDEN, "forbidden", &message, Some(hint)))
            }
            (CallerTenant::Token(own), _) => Ok(own.clone()),
        }
    }
}
