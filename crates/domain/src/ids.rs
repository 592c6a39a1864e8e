//! Typed ids. The program creates them as UUIDv7 from the clock's time, so they sort by age and index inserts stay
//! local.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::Timestamp;

/// A new UUIDv7 with the time `at`. The 12 bits after the milliseconds hold their fraction (RFC 9562, 6.2, method 3),
/// so that two ids of one millisecond sort by age too.
pub fn new_id(at: Timestamp) -> Uuid {
    let seconds = u64::try_from(at.timestamp()).unwrap_or(0);
    let nanos = at.timestamp_subsec_nanos();
    let mut bytes = Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos)).into_bytes();
    let [.., high, low] = (nanos % 1_000_000 * 4096 / 1_000_000).to_be_bytes();
    (bytes[6], bytes[7]) = (0x70 | high, low);
    Uuid::from_bytes(bytes)
}

macro_rules! id {
    ($name:ident) => {
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new id. Ids sort by `at`, so the ids of newer rows are greater.
            pub fn new(at: Timestamp) -> Self {
                Self(new_id(at))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::from_str(text).map(Self)
            }
        }
    };
}

id!(EpisodeId);
id!(FactId);
id!(RuleId);
id!(EntityId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_millisecond_sort_by_age() {
        let start = Timestamp::from_timestamp_millis(1_800_000_000_000).unwrap();
        let micros = [0, 1, 2, 500, 998, 999, 1000, 1001];
        let ids = micros.map(|micros| new_id(start + chrono::TimeDelta::microseconds(micros)));
        assert!(ids.is_sorted(), "{ids:?}");
        assert!(ids.iter().all(|id| id.get_version_num() == 7 && id.get_variant() == uuid::Variant::RFC4122));
    }
}
