//! The HTTP layer below MCP and REST: listeners, TLS, the checks every request passes, and the error envelope.

mod body;
mod doors;
mod gate;
mod guard;
mod health;
pub mod listen;
mod patience;
mod reject;
pub mod tls;

pub use body::{BODY_BYTES, read_body};
pub use doors::Doors;
pub use gate::{Gate, identify};
pub use guard::{Allowed, check};
pub use health::{healthz, readiness, readyz, replica_trouble};
pub use reject::{denied, reject};
