//! Across butlers: ask all that the caller may use, and name those that cannot be reached.

use std::cmp::Ordering;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use butler_domain::Timestamp;
use butler_host::butler::Butler;
use butler_memory::Memory;
use butler_store::browse::{Listed, Page};
use uuid::Uuid;

use super::answer::{At, Many};
use super::error::ApiError;
use super::operation::Asked;
use super::page::Wanted;

/// A butler that has not answered by then is as good as gone; people wait for a page.
const PATIENCE: Duration = Duration::from_secs(15);

/// What the butlers said.
#[derive(Debug)]
pub struct Heard<T> {
    /// By the butler's name, in the order of the roster.
    pub parts: Vec<(String, T)>,
    pub unavailable: Vec<String>,
}

impl Asked {
    /// Those the caller may use and that have a memory: all, or the named one.
    pub fn butlers(&self, only: Option<&str>) -> Result<Vec<Arc<Butler>>, ApiError> {
        if let Some(name) = only {
            self.access.may_use(name)?;
            let butler = self.api.host.butler(Some(name)).map_err(|error| {
                ApiError::not_found(error.to_string()).hint("GET /api/butlers lists those there are")
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

    /// Asks them all at once. An error of one that is there is an error; one that is not there is named.
    pub async fn each<T, F, Fut>(&self, only: Option<&str>, ask: F) -> Result<Heard<T>, ApiError>
    where
        F: Fn(Arc<Memory>) -> Fut,
        Fut: Future<Output = Result<T, ApiError>>,
    {
        let butlers = self.butlers(only)?;
        let asked = butlers.iter().map(|butler| async {
            let name = butler.name.to_string();
            let answer = async {
                let memory = butler.memory().await.ok_or_else(|| not_there(butler))?;
                ask(memory).await
            };
            match tokio::time::timeout(PATIENCE, answer).await {
                Ok(answer) => (name, answer),
                Err(_) => (name, Err(ApiError::unavailable(format!("no answer within {} s", PATIENCE.as_secs())))),
            }
        });
        let mut heard = Heard { parts: Vec::new(), unavailable: Vec::new() };
        let mut last = None;
        for (name, answer) in futures::future::join_all(asked).await {
            match answer {
                Ok(part) => heard.parts.push((name, part)),
                Err(error) if error.is_unavailable() => {
                    heard.unavailable.push(name);
                    last = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if !heard.unavailable.is_empty() {
            self.api.host.report_trouble();
        }
        match last {
            // Nobody answered: an empty list would say that nothing is known.
            Some(error) if heard.parts.is_empty() => Err(error),
            _ => Ok(heard),
        }
    }

    /// A page of what they hold together. `key` is what a cursor of this list remembers; `None`: the order has no cursor.
    pub async fn page<T, F, Fut>(
        &self,
        only: Option<&str>,
        wanted: Wanted,
        ask: F,
        order: impl Fn(&T, &T) -> Ordering,
        key: impl Fn(&T) -> Option<(Timestamp, Uuid)>,
    ) -> Result<Many<At<T>>, ApiError>
    where
        F: Fn(Arc<Memory>, Page) -> Fut,
        Fut: Future<Output = Result<Listed<T>, ApiError>>,
    {
        let butlers = self.butlers(only)?.len();
        let part = wanted.of_each(butlers);
        let heard = self.each(only, |memory| ask(memory, part)).await?;
        Ok(wanted.gather(heard, butlers, order, key))
    }

    /// The one butler that has it. Ids are unique across butlers.
    pub async fn find<T, F, Fut>(&self, only: Option<&str>, what: &str, ask: F) -> Result<(String, T), ApiError>
    where
        F: Fn(Arc<Memory>) -> Fut,
        Fut: Future<Output = Result<Option<T>, ApiError>>,
    {
        let heard = self.each(only, ask).await?;
        let found = heard.parts.into_iter().find_map(|(name, part)| part.map(|part| (name, part)));
        match found {
            Some(found) => Ok(found),
            None if heard.unavailable.is_empty() => {
                Err(ApiError::not_found(format!("there is no {what}")).hint(super::error::FIND_MEMORY))
            }
            None => Err(ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                format!(
                    "there is no {what} in the butlers that answer; no answer from {}",
                    heard.unavailable.join(", ")
                ),
            )
            .hint("try again in a moment")),
        }
    }

    /// The memory of the butler that has it, for a change.
    pub async fn home<F, Fut>(&self, only: Option<&str>, what: &str, ask: F) -> Result<(String, Arc<Memory>), ApiError>
    where
        F: Fn(Arc<Memory>) -> Fut,
        Fut: Future<Output = Result<bool, ApiError>>,
    {
        self.find(only, what, |memory| {
            let there = ask(Arc::clone(&memory));
            async move { Ok(there.await?.then_some(memory)) }
        })
        .await
    }
}

/// Why a butler does not answer, in the words of whatever kept it from starting.
pub fn not_there(butler: &Butler) -> ApiError {
    let Some(trouble) = butler.trouble() else {
        return ApiError::unavailable(format!("butler {:?} has not started yet", butler.name.as_str()));
    };
    let (words, name) = (trouble.to_string(), butler.name.as_str());
    let told = if words.contains(name) { words } else { format!("butler {name:?}: {words}") };
    let error = ApiError::unavailable(told);
    match trouble.hint() {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn has_memory(butler: &Butler) -> bool {
    butler.config.file.modules.memory.enabled
}
