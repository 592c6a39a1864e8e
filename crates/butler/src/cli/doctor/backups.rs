//! Is there a backup, how old is it, and did the last one that was due come about.

use butler_domain::Timestamp;
use butler_host::backup;
use butler_host::butler::Butler;
use butler_host::host::Host;
use butler_memory::schedule::Schedule;
use butler_store::jobs as records;
use chrono::TimeDelta;

use super::check::Check;

const NAME: &str = "backups";
const REMEDY: &str = "butler backup create";
/// What happened since would be lost.
const OLD: TimeDelta = TimeDelta::days(7);
/// A dump of many gigabytes takes its time.
const LATE: TimeDelta = TimeDelta::hours(1);

pub fn check(host: &Host, butler: &Butler, now: Timestamp) -> Check {
    let (name, folder) = (&butler.name, host.backup_folder(butler));
    let all = match backup::list(&folder) {
        Ok(all) => all,
        Err(error) => return Check::from_error(NAME, &error),
    };
    let schedule = &butler.config.file.butler.backup.schedule;
    let Some(latest) = all.first().map(|stored| stored.manifest.created_at) else {
        return match schedule {
            None => Check::skipped(NAME, format!("{name}: none yet; `{REMEDY}` makes one, [butler.backup] many")),
            Some(cron) => Check::warned(NAME, format!("{name}: none yet; the first comes by {cron:?}"), REMEDY),
        };
    };
    let zone = &butler.config.file.modules.memory.schedule.time_zone;
    let schedule = schedule.as_deref().and_then(|cron| Schedule::parse(cron, zone).ok());
    let detail = format!("{name}: {}, the latest of {}", all.len(), latest.format("%Y-%m-%d %H:%MZ"));
    match missed(schedule.as_ref(), latest, now) {
        Some(due) => {
            let detail = format!("{detail}, though one was due at {}", due.format("%Y-%m-%d %H:%MZ"));
            Check::warned(NAME, detail, "let `butler serve` run, or: butler jobs run backup")
        }
        None if now - latest > OLD => Check::warned(NAME, detail, REMEDY),
        None => Check::passed(NAME, detail),
    }
}

/// When one was due that is not there.
fn missed(schedule: Option<&Schedule>, latest: Timestamp, now: Timestamp) -> Option<Timestamp> {
    schedule?.next_after(latest).filter(|due| *due + LATE < now)
}

/// Whether the last scheduled one failed; nothing to say otherwise.
pub async fn last_run(butler: &Butler) -> Option<Check> {
    butler.config.file.butler.backup.schedule.as_ref()?;
    let database = butler.database()?;
    let read = async { records::runs(&mut *database.owner().await?, Some(backup::JOB), None, 1).await };
    // A database that does not answer is told of elsewhere.
    let run = read.await.ok()?.into_iter().next().filter(|run| run.status == "failed")?;
    let why = run.error.as_deref().unwrap_or("no reason was recorded");
    let detail = format!("{}: the backup of {} failed: {why}", butler.name, run.started_at.format("%Y-%m-%d %H:%MZ"));
    Some(Check::failed(NAME, detail, "put it right, then: butler jobs run backup"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_that_was_due_an_hour_ago_and_is_not_there_was_missed() {
        let nightly = Schedule::parse("0 3 * * *", "UTC").unwrap();
        let at = |time: &str| time.parse::<Timestamp>().unwrap();
        let latest = at("2030-01-15T03:00:10Z");
        assert_eq!(missed(Some(&nightly), latest, at("2030-01-16T03:30:00Z")), None, "it may be on its way");
        let due = Some(at("2030-01-16T03:00:00Z"));
        assert_eq!(missed(Some(&nightly), latest, at("2030-01-16T04:30:00Z")), due);
        assert_eq!(missed(None, latest, at("2031-01-01T00:00:00Z")), None);
    }
}
