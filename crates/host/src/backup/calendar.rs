//! When each backup is deleted, so that an erasure can say how long backups still contain what was erased.

use std::path::PathBuf;

use butler_domain::Timestamp;
use butler_memory::backups::{Backups, KeptBackup, KeptBackups};
use butler_memory::schedule::Schedule;

use super::list;
use crate::config::ButlerConfig;

/// The backups of a butler and the schedule that removes old ones.
pub struct BackupCalendar {
    folder: PathBuf,
    /// `None` if nothing deletes backups.
    schedule: Option<Schedule>,
    keep: usize,
}

impl BackupCalendar {
    pub fn new(config: &ButlerConfig, folder: PathBuf) -> Self {
        let (backup, jobs) = (&config.file.butler.backup, &config.file.modules.memory.schedule);
        let cron = backup.schedule.as_deref().filter(|_| jobs.enabled);
        let schedule = cron.and_then(|cron| Schedule::parse(cron, &jobs.time_zone).ok());
        Self { folder, schedule, keep: backup.keep as usize }
    }

    /// When the backup at this position in the list, newest first, is deleted.
    fn until(&self, place: usize, now: Timestamp) -> Option<Timestamp> {
        let schedule = self.schedule.as_ref()?;
        let runs = self.keep.saturating_sub(place).max(1);
        (0..runs).try_fold(now, |at, _| schedule.next_after(at))
    }
}

impl Backups for BackupCalendar {
    fn since(&self, since: Timestamp, now: Timestamp) -> KeptBackups {
        let all = match list(&self.folder) {
            Ok(all) => all,
            Err(error) => {
                return KeptBackups {
                    kept: Vec::new(),
                    hint: Some(format!("the backups could not be listed: {error}")),
                };
            }
        };
        let kept: Vec<KeptBackup> = all
            .into_iter()
            .enumerate()
            .filter(|(_, stored)| stored.manifest.created_at >= since)
            .map(|(place, stored)| KeptBackup {
                name: stored.name,
                created_at: stored.manifest.created_at,
                until: self.until(place, now),
            })
            .collect();
        let hint = match (kept.is_empty(), &self.schedule) {
            (true, _) => None,
            (false, Some(_)) => {
                Some("to remove one sooner, delete its files; `butler backup list` shows where they are".to_owned())
            }
            (false, None) => {
                Some("nothing removes them: delete their files; `butler backup list` shows where they are".to_owned())
            }
        };
        KeptBackups { kept, hint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_stays_until_the_schedule_has_made_enough_newer_ones() {
        let at = |time: &str| time.parse::<Timestamp>().unwrap();
        let schedule = Schedule::parse("0 3 * * *", "UTC").ok();
        let calendar = BackupCalendar { folder: PathBuf::new(), schedule, keep: 3 };
        let now = at("2030-01-15T12:00:00Z");
        assert_eq!(calendar.until(0, now), Some(at("2030-01-18T03:00:00Z")), "the newest of three");
        assert_eq!(calendar.until(2, now), Some(at("2030-01-16T03:00:00Z")));
        assert_eq!(calendar.until(9, now), Some(at("2030-01-16T03:00:00Z")), "more than are kept");
        let unscheduled = BackupCalendar { schedule: None, ..calendar };
        assert_eq!(unscheduled.until(0, now), None);
    }
}
