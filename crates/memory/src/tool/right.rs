//! What a caller's token has to allow.

use std::fmt;

use butler_store::tokens::METRICS;

/// What a token can allow. No right includes another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    Read,
    Write,
    /// Running jobs, such as consolidation and cleanup, and forgetting entities.
    Admin,
    /// Reading `/metrics`, which counts over all tenants. A token with this right has no other, since every other right
    /// is limited to one tenant.
    Metrics,
}

impl Right {
    /// The name in a token's list of rights.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
            Self::Metrics => METRICS,
        }
    }

    /// What a caller without this right can do.
    pub fn remedy(self) -> String {
        let tenant = if self == Self::Metrics { "" } else { " --tenant TENANT" };
        format!("create a token with this right: butler token create --rights {}{tenant}", self.with_lesser())
    }

    const fn with_lesser(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "read,write",
            Self::Admin => "read,write,admin",
            Self::Metrics => METRICS,
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
