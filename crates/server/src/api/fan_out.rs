//! Runs a query on every butler that the caller may use, a few at a time, and reports the butlers that do not respond.

use std::cmp::Ordering;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use butler_domain::Timestamp;
use butler_host::butler::Butler;
use butler_memory::Memory;
use butler_memory::browse::{Listed, Page};
use butler_memory::tool::ErrorCode;
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::envelope::{List, WithHome};
use super::error::ApiError;
use super::operation::RequestContext;
use super::page::{PageRequest, Paging};
use super::replies::Replies;

/// Butlers that one request queries at the same time. The requests of a page go through the butlers in the same order, so they
/// share a butler's connections. If each queried hundreds of butlers at once, they would close each other's.
const AT_ONCE: usize = 12;
/// A person waits for the page, so a butler that takes longer counts as unavailable.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The limit for all butlers together. Those that have not answered by then count as unavailable.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(60);

/// A query on one butler. It stores its result where the caller looks for it.
type Query<'a> = BoxFuture<'a, Result<(), ApiError>>;

impl RequestContext {
    /// The butlers with a memory that the caller may use: all of them, or the named one.
    pub fn butlers(&self, only: Option<&str>) -> Result<Vec<Arc<Butler>>, ApiError> {
        if let Some(name) = only {
            self.access.may_use(name)?;
            let butler =
                self.api.host.butler(Some(name)).map_err(|error| {
                    ApiError::not_found(error.to_string()).hint("GET /api/butlers lists the butlers")
                })?;
            return if has_memory(&butler) {
                Ok(vec![butler])
            } else {
                Err(ApiError::not_found(format!("butler {name:?} has no memory module")))
            };
        }
        let all = self.api.host.butlers();
        let mut all: Vec<Arc<Butler>> =
            all.into_iter().filter(|butler| self.access.may_use(butler.name.as_str()).is_ok()).collect();
        all.retain(|butler| has_memory(butler));
        Ok(all)
    }

    /// Validates the paging parameters. The default limit is that of the queried butler, or of the first of several.
    pub fn page_request(&self, paging: Paging, butler: Option<&str>) -> Result<PageRequest, ApiError> {
        let first = self.butlers(butler)?.into_iter().next();
        let retrieval = first.map(|butler| butler.config.file.modules.memory.retrieval.clone()).unwrap_or_default();
        paging.with_default_limit(i64::try_from(retrieval.depth()).unwrap_or(i64::MAX))
    }

    /// Runs `query` on all butlers, a few at a time. Butlers that are unavailable are listed in the result; any other error
    /// fails the request. If no butler responds, the result is an error, because an empty list would look as if nothing
    /// were stored.
    pub async fn each<T, F, Fut>(&self, only: Option<&str>, query: F) -> Result<Replies<T>, ApiError>
    where
        T: Send,
        F: Fn(Arc<Memory>) -> Fut + Sync,
        Fut: Future<Output = Result<T, ApiError>> + Send,
    {
        let butlers = self.butlers(only)?;
        let query = &query;
        let mut parts: Vec<Option<T>> = butlers.iter().map(|_| None).collect();
        let queries = butlers.iter().zip(&mut parts).map(|(butler, part)| -> Query<'_> {
            Box::pin(async move {
                let memory = butler.memory().await.ok_or_else(|| not_started(butler))?;
                *part = Some(query(memory).await?);
                Ok(())
            })
        });
        let unavailable = self.run_all(&butlers, queries.collect()).await?;
        let named = butlers.iter().zip(parts).filter_map(|(butler, part)| Some((butler.name.to_string(), part?)));
        Ok(Replies { parts: named.collect(), unavailable })
    }

    /// Runs one query on each butler and returns the names of those that are unavailable. The queries have the same
    /// type, so that this is compiled once.
    async fn run_all(&self, butlers: &[Arc<Butler>], queries: Vec<Query<'_>>) -> Result<Vec<String>, ApiError> {
        let mut unavailable = Vec::new();
        let mut last_error = None;
        for (butler, reply) in butlers.iter().zip(few_at_a_time(queries, TIMEOUT).await) {
            let late = || {
                let (each, all) = (TIMEOUT.as_secs(), TOTAL_TIMEOUT.as_secs());
                Err(ApiError::unavailable(format!("no response within {each} s, or within {all} s for all butlers")))
            };
            match reply.unwrap_or_else(late) {
                Ok(()) => {}
                Err(error) if error.is_unavailable() => {
                    unavailable.push(butler.name.to_string());
                    last_error = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if !unavailable.is_empty() {
            self.api.host.report_trouble();
        }
        match last_error {
            Some(error) if unavailable.len() == butlers.len() => Err(error),
            _ => Ok(unavailable),
        }
    }

    /// One page of a list that is spread over all butlers. `key` returns the position that a cursor stores; `None` if
    /// the sort order does not support cursors.
    pub async fn page<T, F, Fut>(
        &self,
        only: Option<&str>,
        page: PageRequest,
        query: F,
        order: impl Fn(&T, &T) -> Ordering,
        key: impl Fn(&T) -> Option<(Timestamp, Uuid)>,
    ) -> Result<List<WithHome<T>>, ApiError>
    where
        T: Send,
        F: Fn(Arc<Memory>, Page) -> Fut + Sync,
        Fut: Future<Output = Result<Listed<T>, ApiError>> + Send,
    {
        let butlers = self.butlers(only)?.len();
        let part = page.per_butler(butlers);
        let replies = self.each(only, |memory| query(memory, part)).await?;
        Ok(page.merge(replies, butlers, order, key))
    }

    /// Finds an item and the butler that holds it. Ids are unique across butlers.
    pub async fn find<T, F, Fut>(&self, only: Option<&str>, what: &str, query: F) -> Result<(String, T), ApiError>
    where
        T: Send,
        F: Fn(Arc<Memory>) -> Fut + Sync,
        Fut: Future<Output = Result<Option<T>, ApiError>> + Send,
    {
        let replies = self.each(only, query).await?;
        let found = replies.parts.into_iter().find_map(|(name, part)| part.map(|part| (name, part)));
        match found {
            Some(found) => Ok(found),
            None if replies.unavailable.is_empty() => {
                Err(ApiError::not_found(format!("there is no {what}")).hint(super::error::FIND_MEMORY))
            }
            None => Err(ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::Unavailable,
                format!(
                    "there is no {what} in the butlers that responded; no response from {}",
                    replies.unavailable.join(", ")
                ),
            )
            .hint("try again in a moment")),
        }
    }

    /// Finds the memory that holds an item, in order to change it.
    pub async fn home<F, Fut>(
        &self,
        only: Option<&str>,
        what: &str,
        exists: F,
    ) -> Result<(String, Arc<Memory>), ApiError>
    where
        F: Fn(Arc<Memory>) -> Fut + Sync,
        Fut: Future<Output = Result<bool, ApiError>> + Send,
    {
        self.find(only, what, |memory| {
            let exists = exists(Arc::clone(&memory));
            async move { Ok(exists.await?.then_some(memory)) }
        })
        .await
    }
}

/// Starts the queries in their order. `None` stands for one that took longer than `timeout`, or had not answered after
/// [`TOTAL_TIMEOUT`].
async fn few_at_a_time<Q: Future>(queries: Vec<Q>, timeout: Duration) -> Vec<Option<Q::Output>> {
    let end = Instant::now() + TOTAL_TIMEOUT;
    let limited: Vec<_> = queries
        .into_iter()
        .enumerate()
        .map(|(place, query)| async move {
            let now = Instant::now();
            // One that is polled and dropped at once would break a connection.
            let answer = if now < end { timeout_at(end.min(now + timeout), query).await.ok() } else { None };
            (place, answer)
        })
        .collect();
    // Not `buffered`: a slow query would keep the ones behind it from starting.
    let mut answers: Vec<_> = stream::iter(limited).buffer_unordered(AT_ONCE).collect().await;
    answers.sort_unstable_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// The error for a butler that has not started, with the reason if the start failed.
pub fn not_started(butler: &Butler) -> ApiError {
    let Some(trouble) = butler.trouble() else {
        return ApiError::unavailable(format!("butler {:?} has not started yet", butler.name.as_str()));
    };
    let (reason, name) = (trouble.to_string(), butler.name.as_str());
    let message = if reason.contains(name) { reason } else { format!("butler {name:?}: {reason}") };
    let error = ApiError::unavailable(message);
    match trouble.hint() {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn has_memory(butler: &Butler) -> bool {
    butler.config.file.modules.memory.enabled
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn many_butlers_are_queried_in_their_order_and_a_few_at_a_time() {
        let (running, most) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        let query = |number: usize| async move {
            most.fetch_max(running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            running.fetch_sub(1, Ordering::Relaxed);
            number
        };
        let answers = few_at_a_time((0..200).map(query).collect(), TIMEOUT).await;
        assert!(answers.into_iter().flatten().eq(0..200));
        assert_eq!(most.load(Ordering::Relaxed), AT_ONCE);
    }

    #[tokio::test]
    async fn butlers_that_hang_keep_no_others_from_answering() {
        let query = |number: usize| async move {
            if number.is_multiple_of(20) {
                std::future::pending::<()>().await;
            }
            number
        };
        let answers = few_at_a_time((0..200).map(query).collect(), Duration::from_millis(200)).await;
        let missing: Vec<usize> = (0..200).filter(|number| answers[*number].is_none()).collect();
        assert_eq!(missing, [0, 20, 40, 60, 80, 100, 120, 140, 160, 180]);
    }
}
