use std::path::PathBuf;
use std::time::Duration;

use butler_domain::{Clock, SystemClock, Timestamp};
use chrono::TimeDelta;

/// The machine's clock, shifted by the seconds in a file. A test writes to the file to let a whole process see its clock
/// jump.
pub struct ShiftedClock {
    offset_file: PathBuf,
}

impl ShiftedClock {
    pub fn new(offset_file: impl Into<PathBuf>) -> Self {
        Self { offset_file: offset_file.into() }
    }
}

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        let offset = std::fs::read_to_string(&self.offset_file).ok().and_then(|text| text.trim().parse().ok());
        SystemClock.now() + TimeDelta::seconds(offset.unwrap_or(0))
    }

    fn monotonic(&self) -> Duration {
        SystemClock.monotonic()
    }
}
