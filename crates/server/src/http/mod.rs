//! The HTTP layer below MCP and REST: listeners, TLS, the checks that every request passes, and error responses.

mod accept;
mod allowed_hosts;
mod authenticate;
mod body;
mod catch_panic;
mod connections;
mod head_timeout;
mod headers;
mod health;
pub mod listen;
mod listeners;
mod reject;
mod surrogates;
pub mod tls;

pub use accept::ClientConnection;
pub use allowed_hosts::{AllowedHosts, check_host_and_origin};
pub use authenticate::{Authenticator, authenticate};
pub use body::{BODY_BYTES, read_body, read_body_up_to};
pub use catch_panic::catch_panic;
pub use connections::{ConnectionLimits, Connections};
pub use head_timeout::Timeouts;
pub use headers::{client_network, is_json, protect};
pub use health::{healthz, readiness, readyz, replica_trouble};
pub use listeners::Listeners;
pub use reject::{ErrorBody, HttpCode, denied, reject};
pub(crate) use surrogates::replace_lone_surrogates;
