//! Counts the open streams of each token.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

/// The number of open streams by token; `None` is for callers without one.
#[derive(Clone, Default)]
pub struct OpenStreams(Arc<Mutex<HashMap<Option<Uuid>, usize>>>);

impl OpenStreams {
    /// Counts one more stream; `None` if the token already has `max`.
    pub fn open(&self, token: Option<Uuid>, max: usize) -> Option<OpenStream> {
        let mut streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = streams.entry(token).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(OpenStream { streams: self.clone(), token })
    }
}

/// One open stream, until this is dropped.
pub struct OpenStream {
    streams: OpenStreams,
    token: Option<Uuid>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut streams = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = streams.get_mut(&self.token) {
            *count -= 1;
            if *count == 0 {
                streams.remove(&self.token);
            }
        }
    }
}
