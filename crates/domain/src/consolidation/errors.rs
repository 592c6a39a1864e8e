//! The problems found in an answer.

/// Enough to diagnose an answer. Without a limit a malformed answer of ten megabytes would list millions of problems.
const MAX_ERRORS: usize = 100;

#[derive(Default)]
pub(super) struct Errors {
    list: Vec<String>,
    omitted: usize,
}

impl Errors {
    pub fn push(&mut self, error: String) {
        if self.list.len() < MAX_ERRORS { self.list.push(error) } else { self.omitted += 1 }
    }

    pub fn append(&mut self, other: Self) {
        self.omitted += other.omitted;
        other.list.into_iter().for_each(|error| self.push(error));
    }

    pub fn finish(mut self) -> Vec<String> {
        if self.omitted > 0 {
            self.list.push(format!("… and {} more problems", self.omitted));
        }
        self.list
    }
}
