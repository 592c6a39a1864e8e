//! What a token allows.

use std::fmt;
use std::str::FromStr;

use memory::tool::ToolSpec;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    Read,
    Write,
    /// Jobs: consolidation and cleanup.
    Admin,
}

impl Right {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// What a caller without it can do.
    pub fn remedy(self) -> String {
        format!("make a token that has it: butler token create --rights {} --tenant TENANT", self.with_lesser())
    }

    const fn with_lesser(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "read,write",
            Self::Admin => "read,write,admin",
        }
    }

    /// The tools that run the workers change what nobody named; the others say themselves whether they change anything.
    pub fn needed_by(tool: &ToolSpec) -> Self {
        match tool {
            tool if tool.name.starts_with("memory_run_") => Self::Admin,
            tool if tool.annotations.read_only => Self::Read,
            _ => Self::Write,
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    pub read: bool,
    pub write: bool,
    pub admin: bool,
}

impl Rights {
    pub const ALL: Self = Self { read: true, write: true, admin: true };

    pub(super) const NONE: Self = Self { read: false, write: false, admin: false };

    /// Names that are no right are left out.
    pub fn named<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        names.fold(Self::NONE, |rights, name| match name {
            "read" => Self { read: true, ..rights },
            "write" => Self { write: true, ..rights },
            "admin" => Self { admin: true, ..rights },
            _ => rights,
        })
    }

    pub const fn include(self, right: Right) -> bool {
        match right {
            Right::Read => self.read,
            Right::Write => self.write,
            Right::Admin => self.admin,
        }
    }

    pub fn iter(self) -> impl Iterator<Item = Right> {
        [Right::Read, Right::Write, Right::Admin].into_iter().filter(move |right| self.include(*right))
    }
}

impl FromStr for Rights {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || text.split(',').map(str::trim);
        match names().find(|name| !["read", "write", "admin"].contains(name)) {
            Some(unknown) => Err(format!("{unknown:?} is no right; there are: read, write, admin")),
            None => Ok(Self::named(names())),
        }
    }
}

/// As `--rights` takes them: `read,write`.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Right::as_str).collect();
        f.write_str(&names.join(","))
    }
}
