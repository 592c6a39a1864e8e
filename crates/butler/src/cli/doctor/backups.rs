//! Is there a backup, and how old is it.

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use domain::Timestamp;

use super::check::Check;
use crate::butler::Butler;

const NAME: &str = "backups";
const REMEDY: &str = "butler backup create";
/// What happened since would be lost.
const OLD: TimeDelta = TimeDelta::days(7);

pub fn check(butler: &Butler, data_dir: &Path, now: Timestamp) -> Check {
    let name = &butler.name;
    let files = std::fs::read_dir(data_dir.join("backups").join(name.as_str())).into_iter().flatten().flatten();
    let written = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "dump"));
    let times = written.filter_map(|file| Some(DateTime::<Utc>::from(file.metadata().ok()?.modified().ok()?)));
    let times: Vec<DateTime<Utc>> = times.collect();
    let Some(latest) = times.iter().max() else {
        return Check::skipped(NAME, format!("{name}: none yet; `{REMEDY}` makes one"));
    };
    let detail = format!("{name}: {}, the latest of {}", times.len(), latest.format("%Y-%m-%d %H:%MZ"));
    if now - latest > OLD { Check::warned(NAME, detail, REMEDY) } else { Check::passed(NAME, detail) }
}
