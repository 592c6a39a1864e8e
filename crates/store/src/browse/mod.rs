//! Lists and details for people: what the dashboard and the REST API show. Reading here counts no reference, since looking
//! at one's memory in a browser is not using it.

pub mod entities;
pub mod episodes;
pub mod events;
pub mod facts;
pub mod figures;
pub mod graph;
pub mod links;
pub mod merges;
pub mod palette;
pub mod rules;

use butler_domain::Timestamp;
use uuid::Uuid;

/// A list shows this much of a text; the detail shows all of it. A memory may hold 1 MiB, and a page a hundred of them.
pub const LISTED_CHARS: i32 = 2000;

/// Which part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    pub limit: i64,
    pub offset: i64,
    /// The last row of the page before, in the order newest first: however deep the page, it costs the same.
    pub after: Option<(Timestamp, Uuid)>,
}

impl Page {
    /// The beginning of a list.
    pub const fn first(limit: i64) -> Self {
        Self { limit, offset: 0, after: None }
    }

    fn after_at(&self) -> Option<Timestamp> {
        self.after.map(|(at, _)| at)
    }

    fn after_id(&self) -> Option<Uuid> {
        self.after.map(|(_, id)| id)
    }
}

/// A page of a list, and how many rows the whole list has.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<T> {
    pub rows: Vec<T>,
    pub total: i64,
}

/// Cuts a text that was read one character longer than shown; whether there was more of it.
fn cut(text: &mut String, chars: Option<i32>) -> bool {
    let end = chars.and_then(|chars| usize::try_from(chars).ok()).and_then(|chars| text.char_indices().nth(chars));
    match end {
        Some((end, _)) => {
            text.truncate(end);
            true
        }
        None => false,
    }
}
