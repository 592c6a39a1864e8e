//! Which tools a client is offered. This is a matter of convenience, not of access: the token decides what a caller may
//! do.

use butler_memory::tool::ToolSpec;
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Every tool
    #[default]
    Full,
    /// What a session needs: context, recall, search, storing and forgetting
    Core,
    /// The tools that change nothing
    ReadOnly,
}

impl Profile {
    pub fn offers(self, tool: &ToolSpec) -> bool {
        match self {
            Self::Full => true,
            Self::Core => tool.core,
            Self::ReadOnly => tool.annotations.read_only,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Core => "core",
            Self::ReadOnly => "read-only",
        }
    }

    /// The `profile` of a query string. The error lists the valid names.
    pub fn of_query(query: Option<&str>) -> Result<Option<Self>, String> {
        let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let Some((_, name)) = pairs.into_iter().find(|(key, _)| *key == "profile") else { return Ok(None) };
        match Self::value_variants().iter().find(|profile| profile.as_str() == name) {
            Some(profile) => Ok(Some(*profile)),
            None => Err(format!("there is no profile {name:?}; the profiles are full, core and read-only")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_found_by_its_name() {
        for profile in Profile::value_variants() {
            assert_eq!(Profile::of_query(Some(&format!("a=b&profile={}", profile.as_str()))), Ok(Some(*profile)));
        }
        assert_eq!(Profile::of_query(Some("x=1")), Ok(None));
        assert!(Profile::of_query(Some("profile=all")).is_err());
    }
}
