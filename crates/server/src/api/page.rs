//! Pages of lists, also of lists that several butlers hold parts of.

use std::cmp::Ordering;

use butler_domain::Timestamp;
use butler_domain::validate::Invalid;
use butler_store::browse::{Listed, Page};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::answer::{At, Many, PageMeta};
use super::error::ApiError;
use super::operation::Asked;
use super::reach::Heard;

/// A page is looked at by a person or walked through by a program; more at once serves neither.
pub const MOST: i64 = 100;

/// Which part of a list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Paging {
    /// The most items, 1 to 100 (0 is refused: a page without items tells nothing); if left out, `retrieval.default_limit`
    /// of the butler, else 20.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i64>,
    /// How many to skip.
    #[schemars(range(min = 0))]
    offset: Option<i64>,
    /// `meta.next_cursor` of the page before, instead of an offset.
    cursor: Option<String>,
}

/// The part of a list that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    pub limit: i64,
    pub offset: i64,
    pub after: Option<(Timestamp, Uuid)>,
}

impl Paging {
    /// As the butler pages that is asked; of several, as the first does.
    pub fn of(self, asked: &Asked, butler: Option<&str>) -> Result<Wanted, ApiError> {
        let first = asked.butlers(butler)?.into_iter().next();
        let retrieval = first.map(|butler| butler.config.file.modules.memory.retrieval.clone()).unwrap_or_default();
        self.by(i64::try_from(retrieval.depth()).unwrap_or(MOST))
    }

    fn by(self, usual: i64) -> Result<Wanted, ApiError> {
        let after = self.cursor.as_deref().map(read_cursor).transpose().map_err(ApiError::bad_parameter)?;
        let offset = self.offset.unwrap_or(0);
        if after.is_some() && offset > 0 {
            let invalid = Invalid::new("offset", "does not go with cursor").hint("give one of the two");
            return Err(ApiError::bad_parameter(invalid));
        }
        Ok(Wanted { limit: self.limit.unwrap_or(usual).clamp(1, MOST), offset, after })
    }
}

impl Wanted {
    /// Refuses a cursor for an order that has none.
    pub fn without_cursor(self, newest_first: bool) -> Result<Self, ApiError> {
        if self.after.is_some() && !newest_first {
            let invalid = Invalid::new("cursor", "goes with the order newest first only").hint("page with offset");
            return Err(ApiError::bad_parameter(invalid));
        }
        Ok(self)
    }

    /// What each of so many butlers is asked for. Of several nobody knows whose rows come first, so each gives its first.
    /// How far in a cursor stands is not known, so there one row more tells whether there is more.
    pub fn of_each(&self, butlers: usize) -> Page {
        let limit = self.limit + i64::from(self.after.is_some());
        match butlers {
            0 | 1 => Page { limit, offset: self.offset, after: self.after },
            _ => Page { limit: limit.saturating_add(self.offset), offset: 0, after: self.after },
        }
    }

    /// The page of all butlers together. `key` is what a cursor of this list remembers; `None`: the order has no cursor.
    pub fn gather<T>(
        &self,
        heard: Heard<Listed<T>>,
        asked: usize,
        order: impl Fn(&T, &T) -> Ordering,
        key: impl Fn(&T) -> Option<(Timestamp, Uuid)>,
    ) -> Many<At<T>> {
        let total: i64 = heard.parts.iter().map(|(_, part)| part.total).sum();
        let mut rows: Vec<At<T>> = Vec::new();
        for (home, part) in heard.parts {
            rows.extend(part.rows.into_iter().map(|item| At { home: home.clone(), item }));
        }
        rows.sort_by(|a, b| order(&a.item, &b.item));
        if asked > 1 {
            let skipped = usize::try_from(self.offset).unwrap_or(usize::MAX).min(rows.len());
            rows.drain(..skipped);
        }
        let more = rows.len() > self.limit as usize;
        rows.truncate(self.limit as usize);
        let has_more = match self.after {
            Some(_) => more,
            None => self.offset + (rows.len() as i64) < total,
        };
        let next_cursor = rows.last().filter(|_| has_more).and_then(|last| key(&last.item)).map(write_cursor);
        let meta = PageMeta {
            total,
            limit: self.limit,
            offset: self.offset,
            has_more,
            next_cursor,
            unavailable: heard.unavailable,
        };
        Many { data: rows, meta }
    }
}

pub fn write_cursor((at, id): (Timestamp, Uuid)) -> String {
    format!("{}~{}", at.timestamp_micros(), id.simple())
}

pub fn read_cursor(text: &str) -> Result<(Timestamp, Uuid), Invalid> {
    let parts = text
        .split_once('~')
        .and_then(|(at, id)| Some((Timestamp::from_timestamp_micros(at.parse().ok()?)?, Uuid::try_parse(id).ok()?)));
    parts.ok_or_else(|| {
        Invalid::new("cursor", "is not one of this server's").hint("take it from meta.next_cursor as it is")
    })
}

/// Newest first; of the same moment by id.
pub fn newest(a: (Timestamp, Uuid), b: (Timestamp, Uuid)) -> Ordering {
    b.0.cmp(&a.0).then(a.1.cmp(&b.1))
}

/// A day or a moment: `2026-03-01` or `2026-03-01T12:00:00Z`. A day as an end means its last microsecond.
pub fn moment(field: &str, text: &str, end: bool) -> Result<Timestamp, ApiError> {
    use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
    if let Ok(moment) = DateTime::parse_from_rfc3339(text.trim()) {
        return Ok(moment.to_utc());
    }
    let day: Option<NaiveDate> = text.trim().parse().ok();
    let begin = day.map(|day| day.and_time(NaiveTime::MIN).and_utc());
    let moment: Option<DateTime<Utc>> =
        if end { begin.map(|begin| begin + TimeDelta::days(1) - TimeDelta::microseconds(1)) } else { begin };
    moment.ok_or_else(|| {
        ApiError::bad_parameter(
            Invalid::new(field, format!("{text:?} is no time")).hint("as in 2026-03-01 or 2026-03-01T12:00:00Z"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let key = (Timestamp::from_timestamp_micros(1_700_000_000_123_456).unwrap(), Uuid::from_u128(7));
        assert_eq!(read_cursor(&write_cursor(key)), Ok(key));
        assert!(read_cursor("nonsense").is_err());
    }

    #[test]
    fn pages_of_two_butlers_are_one_list() {
        let part = |rows: &[i64], total| Listed { rows: rows.to_vec(), total };
        let wanted = Wanted { limit: 2, offset: 1, after: None };
        let heard = Heard {
            parts: vec![("a".to_owned(), part(&[9, 5, 1], 3)), ("b".to_owned(), part(&[8, 2], 2))],
            unavailable: vec!["c".to_owned()],
        };
        let page = wanted.gather(heard, 2, |a, b| b.cmp(a), |_| None);
        assert_eq!(page.data.iter().map(|row| (row.home.as_str(), row.item)).collect::<Vec<_>>(), [("b", 8), ("a", 5)]);
        assert_eq!((page.meta.total, page.meta.has_more), (5, true));
        assert_eq!(page.meta.unavailable, ["c"]);
    }

    #[test]
    fn a_last_page_behind_a_cursor_that_is_just_full_says_so() {
        let after = Some((Timestamp::UNIX_EPOCH, Uuid::from_u128(7)));
        let wanted = Wanted { limit: 2, offset: 0, after };
        assert_eq!(wanted.of_each(1).limit, 3, "one more than is shown");
        for (rows, has_more) in [(&[3, 2][..], false), (&[3, 2, 1], true)] {
            let part = Listed { rows: rows.to_vec(), total: 9 };
            let heard = Heard { parts: vec![("a".to_owned(), part)], unavailable: Vec::new() };
            let page = wanted.gather(heard, 1, |a, b| b.cmp(a), |_| after);
            assert_eq!((page.data.len(), page.meta.has_more, page.meta.next_cursor.is_some()), (2, has_more, has_more));
        }
    }

    #[test]
    fn a_day_is_a_moment_and_as_an_end_its_last() {
        assert_eq!(moment("from", "2026-03-01", false).unwrap().to_rfc3339(), "2026-03-01T00:00:00+00:00");
        assert_eq!(moment("to", "2026-03-01", true).unwrap().to_rfc3339(), "2026-03-01T23:59:59.999999+00:00");
        assert!(moment("to", "yesterday", true).is_err());
    }
}
