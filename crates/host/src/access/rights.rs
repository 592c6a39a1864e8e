//! What a token allows.

use std::fmt;
use std::str::FromStr;

use butler_memory::tool::Right;
use butler_store::tokens::METRICS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    pub read: bool,
    pub write: bool,
    pub admin: bool,
    pub metrics: bool,
}

impl Rights {
    pub const ALL: Self = Self { read: true, write: true, admin: true, metrics: true };

    /// The rights of a session's program: memory, but nothing that concerns all tenants.
    pub(super) const SESSION: Self = Self { read: true, write: true, ..Self::NONE };

    pub(super) const NONE: Self = Self { read: false, write: false, admin: false, metrics: false };

    /// Reads names of rights and ignores unknown ones.
    pub fn named<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        names.fold(Self::NONE, |rights, name| match name {
            "read" => Self { read: true, ..rights },
            "write" => Self { write: true, ..rights },
            "admin" => Self { admin: true, ..rights },
            METRICS => Self { metrics: true, ..rights },
            _ => rights,
        })
    }

    pub const fn include(self, right: Right) -> bool {
        match right {
            Right::Read => self.read,
            Right::Write => self.write,
            Right::Admin => self.admin,
            Right::Metrics => self.metrics,
        }
    }

    pub fn iter(self) -> impl Iterator<Item = Right> {
        [Right::Read, Right::Write, Right::Admin, Right::Metrics].into_iter().filter(move |right| self.include(*right))
    }
}

impl FromStr for Rights {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || text.split(',').map(str::trim);
        if let Some(unknown) = names().find(|name| !["read", "write", "admin", METRICS].contains(name)) {
            return Err(format!("unknown right {unknown:?}; the rights are read, write, admin and {METRICS}"));
        }
        let rights = Self::named(names());
        if rights.metrics && rights.iter().count() > 1 {
            return Err(format!(
                "{METRICS} covers all tenants, so it cannot be combined with other rights: create a separate token for it"
            ));
        }
        Ok(rights)
    }
}

/// The form that `--rights` accepts: `read,write`.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Right::as_str).collect();
        f.write_str(&names.join(","))
    }
}
