//! Names of tenants, scopes and butlers: trimmed, never empty, and short enough for an index key.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;

/// Why a name was rejected. Each variant carries the kind of name, such as `scope`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("{0} must not be empty")]
    Empty(&'static str),
    #[error("{what} is {len} bytes long; at most {max} are allowed")]
    TooLong { what: &'static str, len: usize, max: usize },
    #[error("{0} must not contain control characters")]
    Control(&'static str),
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $clean:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Trims and validates the name.
            pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
                let clean: fn(&str) -> String = $clean;
                let text = clean(&text.into()).trim().to_owned();
                if text.is_empty() {
                    return Err(NameError::Empty($what));
                }
                if text.len() > limits::NAME_BYTES {
                    return Err(NameError::TooLong { what: $what, len: text.len(), max: limits::NAME_BYTES });
                }
                if text.chars().any(char::is_control) {
                    return Err(NameError::Control($what));
                }
                Ok(Self(text))
            }

            /// The validated name, without white space around it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }
    };
}

name!(
    /// The owner of the data. Tenants never see each other's memories.
    ///
    /// Unlike in a scope or butler name, a NUL is rejected and not removed, so that two different inputs never become
    /// the same tenant.
    TenantId, "tenant_id", str::to_owned
);
name!(
    /// A namespace within a tenant: `global`, or one for a single role.
    Scope, "scope", crate::text::strip_nul
);
name!(
    /// The agent that a memory belongs to.
    Butler, "butler", crate::text::strip_nul
);

impl Default for TenantId {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl Scope {
    /// The scope that every butler sees.
    pub const GLOBAL: &'static str = "global";
}

impl Default for Scope {
    fn default() -> Self {
        Self(Self::GLOBAL.to_owned())
    }
}
