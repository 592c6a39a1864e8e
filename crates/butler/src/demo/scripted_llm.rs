//! The scripted LLM of the demo. It answers each consolidation prompt with the facts and rules that the plan assigns to
//! the episodes in the prompt.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use butler_domain::EpisodeId;
use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use uuid::Uuid;

#[derive(Default)]
pub struct ScriptedLlm(Mutex<State>);

#[derive(Default)]
struct State {
    facts: HashMap<EpisodeId, Value>,
    rules: Vec<(EpisodeId, Value)>,
    poison: HashSet<EpisodeId>,
    confirmations: Vec<Uuid>,
    /// The butler for which the LLM is unavailable.
    down: Option<String>,
}

impl ScriptedLlm {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn learn(&self, from: EpisodeId, fact: Value) {
        self.state().facts.insert(from, fact);
    }

    pub fn learn_rule(&self, from: EpisodeId, rule: Value) {
        self.state().rules.push((from, rule));
    }

    /// Makes every consolidation that contains this episode fail.
    pub fn poison(&self, episode: EpisodeId) {
        self.state().poison.insert(episode);
    }

    /// Confirms a fact in the next answer.
    pub fn confirm(&self, fact: Uuid) {
        self.state().confirmations.push(fact);
    }

    /// Makes the LLM unavailable for this butler, or available again for all.
    pub fn down(&self, butler: Option<&str>) {
        self.state().down = butler.map(str::to_owned);
    }

    fn answer(&self, prompt: &str) -> Result<String, RuntimeError> {
        let mut state = self.state();
        if let Some(butler) = &state.down
            && prompt.contains(&format!("\"{butler}\""))
        {
            let url = "http://127.0.0.1:11434/v1/chat/completions".to_owned();
            return Err(RuntimeError::Unreachable { url, reason: "connection refused".to_owned() });
        }
        let ids: Vec<EpisodeId> =
            prompt.split("<episode id=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok()).collect();
        if ids.iter().any(|id| state.poison.contains(id)) {
            return Ok("I am sorry, I cannot find anything in these messages that I could summarise.".to_owned());
        }
        let facts: Vec<Value> = ids.iter().filter_map(|id| state.facts.remove(id)).collect();
        let rules: Vec<Value> = state.rules.extract_if(.., |(id, _)| ids.contains(id)).map(|(_, rule)| rule).collect();
        let confirmations = std::mem::take(&mut state.confirmations);
        let answer =
            json!({"new_facts": facts, "updated_facts": [], "new_rules": rules, "confirmations": confirmations});
        Ok(format!("```json\n{answer}\n```"))
    }
}

impl Runtime for ScriptedLlm {
    fn describe(&self) -> String {
        "the demo's scripted LLM".to_owned()
    }

    fn complete(&self, session: Session) -> BoxFuture<'_, Result<Completion, RuntimeError>> {
        let answer = self.answer(&session.prompt);
        async move { Ok(Completion { text: answer?, ..Completion::default() }) }.boxed()
    }
}
