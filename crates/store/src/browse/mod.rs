//! Lists and details for the dashboard and the REST API. Reading here does not count as a reference.

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

/// How much of a text a list shows; the detail page shows all of it. A memory may hold 1 MiB, and a page a hundred
/// memories.
pub const LISTED_CHARS: i32 = 2000;

/// The part of a list to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    pub limit: i64,
    pub offset: i64,
    /// The last row of the previous page, newest first. Every page then costs the same, however deep it is.
    pub after: Option<(Timestamp, Uuid)>,
}

impl Page {
    /// The first page of a list.
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

/// One page of a list, and the number of rows of the whole list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<T> {
    pub rows: Vec<T>,
    pub total: i64,
}

/// Cuts a text that was read one character longer than shown. Returns whether it was longer.
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
