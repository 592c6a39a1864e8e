//! Converts the text of an answer to actions. It accepts any text and keeps every valid action in it.

use super::actions::ConsolidationResult;
use super::echo::{PromptText, is_placeholder, without_prompt};
use super::errors::Errors;
use super::extract::{AnswerObject, ENTITIES, KEYS, find_objects};
use super::fields::{Fields, describe};
use super::json::Json;
use super::reasoning::without_reasoning;

/// The parse error of a text without any JSON object. The specification fixes the wording.
pub const NO_JSON: &str = "No JSON block found in consolidation output";
/// A batch has at most 50 episodes; a model that returns more actions than this repeats itself.
const MAX_ACTIONS: usize = 1000;

/// Parses a text that is not an answer to a prompt.
pub fn parse(output: &str) -> ConsolidationResult {
    parse_answer(output, "", &ConsolidationResult::default())
}

/// Parses an answer to `prompt`. Reasoning, JSON copied from the prompt, and the actions of the prompt's `example` are
/// ignored. If the text has several answers, they are merged, and a later action replaces an earlier one with the same
/// key or target.
pub fn parse_answer(output: &str, prompt: &str, example: &ConsolidationResult) -> ConsolidationResult {
    let output = without_prompt(output, prompt);
    let output = without_reasoning(&output);
    let prompt = PromptText::new(prompt);
    let mut errors = Errors::default();
    let found = find_objects(&output);
    if found.answers.is_empty() {
        errors.push(if found.others {
            format!("the JSON object has none of the keys {}", KEYS.join(", "))
        } else {
            NO_JSON.to_owned()
        });
    }
    let mut blocks = Vec::new();
    for object in found.answers {
        let (start, source) = (object.start, output.get(object.start..object.end));
        if object.has_actions() && source.is_some_and(|source| prompt.contains(source)) {
            errors.push(format!("the JSON block at byte {start} is copied from the prompt; left out"));
            continue;
        }
        match Block::read(object, example) {
            Some(block) => blocks.push(block),
            None => errors.push(format!("the JSON block at byte {start} is only an example; left out")),
        }
    }
    let mut result = merge(blocks, &mut errors);
    result.parse_errors = errors.finish();
    result
}

/// Merges the blocks in their order. An incomplete block is used unless the model wrote a complete one afterwards, and
/// never replaces an action of a complete one.
fn merge(blocks: Vec<Block>, errors: &mut Errors) -> ConsolidationResult {
    let mut merged = ConsolidationResult { answered: !blocks.is_empty(), ..ConsolidationResult::default() };
    let last_complete = blocks.iter().rposition(|block| !block.cut_off);
    let last_full = blocks.iter().rposition(|block| !block.cut_off && block.result.action_count() > 0);
    for (number, block) in blocks.into_iter().enumerate() {
        let Block { start, cut_off, mut result, errors: problems } = block;
        if cut_off && Some(number) < last_full {
            errors.push(format!("the JSON block at byte {start} is incomplete and a later one complete; left out"));
            continue;
        }
        if merged.action_count() + result.action_count() > MAX_ACTIONS {
            errors.push(format!("more than {MAX_ACTIONS} actions; the block at byte {start} is left out"));
            merged.dropped += result.action_count();
            continue;
        }
        errors.append(problems);
        if number > 0 && result.action_count() > 0 {
            errors.push(format!("another JSON block at byte {start}: merged with the earlier ones"));
        }
        if cut_off {
            errors.push("syntax: the output was cut off; incomplete actions are left out".to_owned());
            // An incomplete block before a complete answer is a false start, not a loss.
            merged.dropped += usize::from(Some(number) > last_complete);
            std::mem::swap(&mut merged, &mut result);
        }
        merged.replace_with(result);
    }
    merged
}

/// The actions of one JSON object.
struct Block {
    start: usize,
    cut_off: bool,
    result: ConsolidationResult,
    errors: Errors,
}

impl Block {
    /// Returns `None` if all of its actions are examples, or if it lists nothing but entities.
    fn read(object: AnswerObject, example: &ConsolidationResult) -> Option<Self> {
        let AnswerObject { start, lists, cut_off, repairs, .. } = object;
        if lists.iter().all(|(key, _)| *key == ENTITIES) {
            return None;
        }
        let mut errors = Errors::default();
        for (at, repair) in repairs {
            errors.push(format!("syntax: {repair} at byte {at} (repaired)"));
        }
        let mut result = ConsolidationResult { answered: true, ..ConsolidationResult::default() };
        let mut examples = 0;
        for (key, value) in lists {
            examples += collect(&mut result, key, value, &mut errors);
        }
        let copied = result.remove_example(example);
        if copied > 0 {
            errors.push(format!("{copied} actions are copied from the prompt's example; left out"));
        }
        if examples + copied > 0 && result.action_count() == 0 && result.dropped == 0 {
            return None;
        }
        Some(Self { start, cut_off, result, errors })
    }
}

impl AnswerObject {
    /// Whether a list is not empty. Empty lists in an answer are not evidence of copying from the prompt.
    fn has_actions(&self) -> bool {
        let is_empty = |value: &Json| match value {
            Json::Null => true,
            Json::Array(items) => items.is_empty(),
            _ => false,
        };
        self.lists.iter().any(|(_, value)| !is_empty(value))
    }
}

/// Adds the valid actions of a list. Returns the number of placeholders such as `...`.
fn collect(result: &mut ConsolidationResult, key: &str, value: Json, errors: &mut Errors) -> usize {
    let items = match value {
        Json::Array(items) => items,
        // Some models write these for an empty list.
        Json::Object(entries) if entries.is_empty() => return 0,
        Json::String(text) if matches!(text.trim().to_lowercase().as_str(), "" | "none" | "null" | "n/a" | "[]") => {
            return 0;
        }
        object @ Json::Object(_) => {
            errors.push(format!("{key}: an object where a list was expected; read as a list of one"));
            vec![object]
        }
        other => {
            result.dropped += usize::from(other != Json::Null);
            errors.push(format!("{key}: must be a list, not {}", describe(&other)));
            return 0;
        }
    };
    let mut placeholders = 0;
    for (i, item) in items.iter().enumerate() {
        if result.action_count() >= MAX_ACTIONS {
            result.dropped += items.len() - i;
            errors.push(format!("{key}[{i}]: more than {MAX_ACTIONS} actions; the rest is left out"));
            break;
        }
        if is_placeholder(item) {
            placeholders += 1;
            continue;
        }
        let mut fields = match (item, key) {
            (Json::String(_), "confirmations") => Fields { path: format!("{key}[{i}]"), entries: &[], errors },
            (Json::Object(entries), _) => Fields { path: format!("{key}[{i}]"), entries, errors },
            (other, _) => {
                let expected = if key == "confirmations" { "a UUID string" } else { "an object" };
                errors.push(format!("{key}[{i}]: must be {expected}, not {}", describe(other)));
                result.dropped += 1;
                continue;
            }
        };
        let kept = match key {
            "new_facts" => fields.new_fact().map(|fact| result.new_facts.push(fact)),
            "updated_facts" => fields.updated_fact().map(|fact| result.updated_facts.push(fact)),
            ENTITIES => fields.new_entity().map(|entity| result.entities.push(entity)),
            "new_rules" => fields.new_rule().map(|rule| result.new_rules.push(rule)),
            // A repeated confirmation counts once.
            _ => fields.confirmation(item).map(|confirmation| {
                if !result.confirmations.iter().any(|known| known.id == confirmation.id) {
                    result.confirmations.push(confirmation);
                }
            }),
        };
        result.dropped += usize::from(kept.is_none());
    }
    placeholders
}
