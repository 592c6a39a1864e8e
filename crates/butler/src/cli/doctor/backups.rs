//! Checks that a recent backup exists and that scheduled backups succeed.

use butler_domain::Timestamp;
use butler_host::backup;
use butler_host::butler::Butler;
use butler_host::host::{Host, leftovers};
use butler_memory::schedule::Schedule;
use butler_store::jobs as records;
use chrono::TimeDelta;

use super::check::Check;

const NAME: &str = "backups";
const REMEDY: &str = "butler backup create";
/// A latest backup older than this is a warning: everything stored since would be lost.
const MAX_AGE: TimeDelta = TimeDelta::days(7);
/// How long a scheduled backup may take. A dump of many gigabytes is slow.
const TIME_ALLOWED: TimeDelta = TimeDelta::hours(1);

pub fn check(host: &Host, butler: &Butler, now: Timestamp) -> Check {
    let (name, folder) = (&butler.name, host.backup_folder(butler));
    let all = match backup::list(&folder) {
        Ok(all) => all,
        Err(error) => return Check::from_error(NAME, &error),
    };
    let schedule = &butler.config.file.butler.backup.schedule;
    let Some(latest) = all.first().map(|stored| stored.manifest.created_at) else {
        return match schedule {
            None => Check::skipped(
                NAME,
                format!("{name}: no backups; create one with `{REMEDY}` or schedule them in [butler.backup]"),
            ),
            Some(cron) => Check::warned(NAME, format!("{name}: no backups yet; scheduled by {cron:?}"), REMEDY),
        };
    };
    let zone = &butler.config.file.modules.memory.schedule.time_zone;
    let schedule = schedule.as_deref().and_then(|cron| Schedule::parse(cron, zone).ok());
    let detail = format!("{name}: {} backups, the latest from {}", all.len(), latest.format("%Y-%m-%d %H:%MZ"));
    match overdue(schedule.as_ref(), latest, now) {
        Some(due) => {
            let detail = format!("{detail}; the backup due at {} is missing", due.format("%Y-%m-%d %H:%MZ"));
            Check::warned(NAME, detail, "keep `butler serve` running, or run: butler jobs run backup")
        }
        None if now - latest > MAX_AGE => Check::warned(NAME, detail, REMEDY),
        None => Check::passed(NAME, detail),
    }
}

/// Names what an interrupted restore or verification left behind. The server must be running, the butler not yet started.
pub async fn leftovers(host: &Host, butler: &Butler) -> Option<Check> {
    let left = leftovers::list(host, butler).await.ok()?.names();
    let detail = format!("{}: an interrupted restore or verification left {}", butler.name, left.join(", "));
    let remedy = "the next start of the server, or the next `butler backup verify`, removes them";
    (!left.is_empty()).then(|| Check::warned(NAME, detail, remedy))
}

/// Returns when the next backup after `latest` was due, if it is overdue.
fn overdue(schedule: Option<&Schedule>, latest: Timestamp, now: Timestamp) -> Option<Timestamp> {
    schedule?.next_after(latest).filter(|due| *due + TIME_ALLOWED < now)
}

/// Returns a failed check if the last scheduled backup failed.
pub async fn last_run(butler: &Butler) -> Option<Check> {
    butler.config.file.butler.backup.schedule.as_ref()?;
    let database = butler.database()?;
    let read = async { records::runs(&mut *database.owner().await?, Some(backup::JOB), None, 1).await };
    // The database check reports an unreachable database.
    let run = read.await.ok()?.into_iter().next().filter(|run| run.status == "failed")?;
    let reason = run.error.as_deref().unwrap_or("no reason was recorded");
    let detail =
        format!("{}: the backup of {} failed: {reason}", butler.name, run.started_at.format("%Y-%m-%d %H:%MZ"));
    Some(Check::failed(NAME, detail, "fix the cause, then run: butler jobs run backup"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_overdue_an_hour_after_its_scheduled_time() {
        let nightly = Schedule::parse("0 3 * * *", "UTC").unwrap();
        let at = |time: &str| time.parse::<Timestamp>().unwrap();
        let latest = at("2030-01-15T03:00:10Z");
        assert_eq!(overdue(Some(&nightly), latest, at("2030-01-16T03:30:00Z")), None, "it may still be running");
        let due = Some(at("2030-01-16T03:00:00Z"));
        assert_eq!(overdue(Some(&nightly), latest, at("2030-01-16T04:30:00Z")), due);
        assert_eq!(overdue(None, latest, at("2031-01-01T00:00:00Z")), None);
    }
}
