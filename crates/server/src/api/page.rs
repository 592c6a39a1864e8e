//! Pagination, also of lists that are spread over several butlers.

use std::cmp::Ordering;

use butler_domain::Timestamp;
use butler_domain::validate::{self, Invalid};
use butler_memory::browse::{Listed, Page};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::envelope::{List, PageMeta, WithHome};
use super::error::ApiError;
use super::replies::Replies;

/// More items per page help neither a person who reads them nor a program that fetches all pages.
const MAX_LIMIT: i64 = 100;

/// The query parameters that select a page of a list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Paging {
    /// Maximum number of items on the page, 1 to 100. Default: `retrieval.default_limit` of the butler, or 20.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i64>,
    /// Number of items to skip.
    #[schemars(range(min = 0))]
    offset: Option<i64>,
    /// `meta.next_cursor` of the previous page. Cannot be combined with `offset`.
    cursor: Option<String>,
}

/// The requested part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    pub limit: i64,
    pub offset: i64,
    pub after: Option<(Timestamp, Uuid)>,
}

impl Paging {
    /// Validates the parameters and clamps the limit.
    pub fn with_default_limit(self, default_limit: i64) -> Result<PageRequest, ApiError> {
        let after = self.cursor.as_deref().map(read_cursor).transpose().map_err(ApiError::bad_parameter)?;
        let offset = self.offset.unwrap_or(0);
        if after.is_some() && offset > 0 {
            let invalid = Invalid::new("offset", "cannot be combined with cursor").hint("pass one of the two");
            return Err(ApiError::bad_parameter(invalid));
        }
        Ok(PageRequest { limit: self.limit.unwrap_or(default_limit).clamp(1, MAX_LIMIT), offset, after })
    }
}

impl PageRequest {
    /// Rejects a cursor unless the list is sorted newest first.
    pub fn cursor_only_if(self, newest_first: bool) -> Result<Self, ApiError> {
        if self.after.is_some() && !newest_first {
            let invalid = Invalid::new("cursor", "requires the sort order newest first").hint("use offset instead");
            return Err(ApiError::bad_parameter(invalid));
        }
        Ok(self)
    }

    /// The page to request from each of `butlers` butlers. With several, any of them may hold the first rows, so each
    /// returns its rows from the start. With a cursor, one extra row shows whether another page follows.
    pub fn per_butler(&self, butlers: usize) -> Page {
        let limit = self.limit + i64::from(self.after.is_some());
        match butlers {
            0 | 1 => Page { limit, offset: self.offset, after: self.after },
            _ => Page { limit: limit.saturating_add(self.offset), offset: 0, after: self.after },
        }
    }

    /// Merges the replies of all butlers into one page. `key` returns the position that a cursor stores; `None` if the
    /// sort order does not support cursors.
    pub fn merge<T>(
        &self,
        replies: Replies<Listed<T>>,
        butlers: usize,
        order: impl Fn(&T, &T) -> Ordering,
        key: impl Fn(&T) -> Option<(Timestamp, Uuid)>,
    ) -> List<WithHome<T>> {
        let total: i64 = replies.parts.iter().map(|(_, part)| part.total).sum();
        let mut rows: Vec<WithHome<T>> = Vec::new();
        for (home, part) in replies.parts {
            rows.extend(part.rows.into_iter().map(|item| WithHome { home: home.clone(), item }));
        }
        rows.sort_by(|a, b| order(&a.item, &b.item));
        if butlers > 1 {
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
            unavailable: replies.unavailable,
            incomplete: false,
        };
        List { data: rows, meta }
    }
}

pub fn write_cursor((at, id): (Timestamp, Uuid)) -> String {
    format!("{}~{}", at.timestamp_micros(), id.simple())
}

pub fn read_cursor(text: &str) -> Result<(Timestamp, Uuid), Invalid> {
    let parts = text
        .split_once('~')
        .and_then(|(at, id)| Some((Timestamp::from_timestamp_micros(at.parse().ok()?)?, Uuid::try_parse(id).ok()?)));
    parts
        .filter(|(at, _)| validate::plausible_time("cursor", *at).is_ok())
        .ok_or_else(|| Invalid::new("cursor", "is not a cursor of this server").hint("pass meta.next_cursor unchanged"))
}

/// Orders by time, newest first, then by id.
pub fn newest(a: (Timestamp, Uuid), b: (Timestamp, Uuid)) -> Ordering {
    b.0.cmp(&a.0).then(a.1.cmp(&b.1))
}

/// Orders by how well items match, best first.
pub fn best(a: Option<f64>, b: Option<f64>) -> Ordering {
    b.unwrap_or(0.0).total_cmp(&a.unwrap_or(0.0))
}

/// Parses a date or a timestamp: `2026-03-01` or `2026-03-01T12:00:00Z`. With `end`, a date means its last microsecond.
pub fn date_or_time(field: &str, text: &str, end: bool) -> Result<Timestamp, ApiError> {
    use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta};
    let plausible = |moment| validate::plausible_time(field, moment).map_err(ApiError::bad_parameter);
    if let Ok(moment) = DateTime::parse_from_rfc3339(text.trim()) {
        return plausible(moment.to_utc());
    }
    let day: Option<NaiveDate> = text.trim().parse().ok();
    let begin = day.map(|day| day.and_time(NaiveTime::MIN).and_utc()).ok_or_else(|| {
        ApiError::bad_parameter(
            Invalid::new(field, format!("{text:?} is not a date or time"))
                .hint("for example 2026-03-01 or 2026-03-01T12:00:00Z"),
        )
    })?;
    let begin = plausible(begin)?;
    Ok(if end { begin + TimeDelta::days(1) - TimeDelta::microseconds(1) } else { begin })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_a_round_trip() {
        let key = (Timestamp::from_timestamp_micros(1_700_000_000_123_456).unwrap(), Uuid::from_u128(7));
        assert_eq!(read_cursor(&write_cursor(key)), Ok(key));
        assert!(read_cursor("nonsense").is_err());
    }

    #[test]
    fn replies_of_two_butlers_are_merged_into_one_page() {
        let part = |rows: &[i64], total| Listed { rows: rows.to_vec(), total };
        let page = PageRequest { limit: 2, offset: 1, after: None };
        let replies = Replies {
            parts: vec![("a".to_owned(), part(&[9, 5, 1], 3)), ("b".to_owned(), part(&[8, 2], 2))],
            unavailable: vec!["c".to_owned()],
        };
        let page = page.merge(replies, 2, |a, b| b.cmp(a), |_| None);
        assert_eq!(page.data.iter().map(|row| (row.home.as_str(), row.item)).collect::<Vec<_>>(), [("b", 8), ("a", 5)]);
        assert_eq!((page.meta.total, page.meta.has_more), (5, true));
        assert_eq!(page.meta.unavailable, ["c"]);
    }

    #[test]
    fn a_full_last_page_after_a_cursor_has_no_next_page() {
        let after = Some((Timestamp::UNIX_EPOCH, Uuid::from_u128(7)));
        let page = PageRequest { limit: 2, offset: 0, after };
        assert_eq!(page.per_butler(1).limit, 3, "one more than the page shows");
        for (rows, has_more) in [(&[3, 2][..], false), (&[3, 2, 1], true)] {
            let part = Listed { rows: rows.to_vec(), total: 9 };
            let replies = Replies { parts: vec![("a".to_owned(), part)], unavailable: Vec::new() };
            let page = page.merge(replies, 1, |a, b| b.cmp(a), |_| after);
            assert_eq!((page.data.len(), page.meta.has_more, page.meta.next_cursor.is_some()), (2, has_more, has_more));
        }
    }

    #[test]
    fn a_date_means_its_first_moment_or_as_an_end_its_last() {
        assert_eq!(date_or_time("from", "2026-03-01", false).unwrap().to_rfc3339(), "2026-03-01T00:00:00+00:00");
        assert_eq!(date_or_time("to", "2026-03-01", true).unwrap().to_rfc3339(), "2026-03-01T23:59:59.999999+00:00");
        assert!(date_or_time("to", "yesterday", true).is_err());
    }
}
