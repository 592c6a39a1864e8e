//! The reader of BEAM: a directory with one subdirectory per conversation of a size, such as `chats/100K`.
//!
//! A conversation is `chat.json`, or `chat_trunecated.json` if it exists (the name is BEAM's), and
//! `probing_questions/probing_questions.json`. The format is that of BEAM's repository. The conversations of 10M tokens
//! have another layout and are an error.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Conversation, Question, Turn, distinct, numbered_first, read_json};

#[derive(Deserialize)]
struct Message {
    role: String,
    id: u64,
    content: String,
    #[serde(default)]
    time_anchor: Option<String>,
}

/// Ends a user's message: the place of its question in BEAM's plan, which nobody said.
const PLAN_MARK: &str = "->->";

pub fn read(directory: &Path) -> anyhow::Result<Vec<Conversation>> {
    let entries = std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut chats = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.join("probing_questions").is_dir() {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            chats.push((numbered_first(name), path));
        }
    }
    ensure!(!chats.is_empty(), "{} has no conversations with probing_questions", directory.display());
    chats.sort();
    chats.iter().map(|(_, path)| chat(path)).collect()
}

fn chat(directory: &Path) -> anyhow::Result<Conversation> {
    let chosen: Option<PathBuf> =
        ["chat_trunecated.json", "chat.json"].map(|name| directory.join(name)).into_iter().find(|path| path.exists());
    let path = chosen.with_context(|| format!("{} has no chat.json", directory.display()))?;
    let probing_questions = read_json(&directory.join("probing_questions/probing_questions.json"))?;
    conversation(&read_json::<Vec<Value>>(&path)?, &probing_questions)
        .with_context(|| format!("{} does not have the expected format", directory.display()))
}

fn conversation(batches: &[Value], probing_questions: &Map<String, Value>) -> anyhow::Result<Conversation> {
    let mut turns = Vec::new();
    let mut positions: HashMap<u64, Vec<usize>> = HashMap::new();
    for (session, batch) in batches.iter().enumerate() {
        // In the repository a batch is an object with turns; in the published tables it is the list of turns itself.
        let spoken = batch.get("turns").unwrap_or(batch);
        let mut date = String::new();
        for message in messages(spoken).with_context(|| format!("batch {}", session + 1))? {
            date = message.time_anchor.unwrap_or(date);
            positions.entry(message.id).or_default().push(turns.len());
            let text = message.content.rsplit_once(PLAN_MARK).map_or(message.content.as_str(), |(said, _)| said);
            turns.push(Turn { session, date: date.clone(), speaker: message.role, text: text.trim().to_owned() });
        }
    }
    let mut questions = Vec::new();
    for (category, list) in probing_questions {
        for entry in list.as_array().with_context(|| format!("{category} is not a list"))? {
            let text = entry["question"].as_str().with_context(|| format!("a question of {category} has no text"))?;
            let mut sources = Vec::new();
            numbers(&entry["source_chat_ids"], &mut sources)?;
            let found = sources.iter().filter_map(|id| positions.get(id)).flatten().copied().collect();
            let (text, category) = (text.to_owned(), category.clone());
            questions.push(Question { text, category, turns: distinct(found), sessions: Vec::new() });
        }
    }
    Ok(Conversation { turns, questions, observations: Vec::new() })
}

/// The messages in nested lists, in order.
fn messages(value: &Value) -> anyhow::Result<Vec<Message>> {
    match value {
        Value::Array(several) => {
            let lists: anyhow::Result<Vec<Vec<Message>>> = several.iter().map(messages).collect();
            Ok(lists?.into_iter().flatten().collect())
        }
        message => Ok(vec![Message::deserialize(message)?]),
    }
}

/// The ids of the messages that contain the answer: a list, or lists by name. Questions without an answer have none.
fn numbers(value: &Value, found: &mut Vec<u64>) -> anyhow::Result<()> {
    match value {
        Value::Null => {}
        Value::Number(number) => found.push(number.as_u64().context("an id is not a whole number")?),
        Value::Array(several) => several.iter().try_for_each(|value| numbers(value, found))?,
        Value::Object(lists) => lists.values().try_for_each(|value| numbers(value, found))?,
        other => bail!("source_chat_ids contains {other}"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_and_their_questions_are_read() {
        let chat = json!([
            {"batch_number": 1, "turns": [
                [{"role": "user", "id": 0, "time_anchor": "March-15-2024", "index": "1,1", "question_type": "main_question",
                  "content": "I am Ada. ->-> 1,1"},
                 {"role": "assistant", "id": 1, "content": "Hello Ada."}],
                [{"role": "user", "id": 2, "content": "I play the cello. ->-> 1,2"}]]},
            [[{"role": "user", "id": 3, "content": "For nine years."}]]
        ]);
        let probing_questions = json!({
            "abstention": [{"question": "What is my job?", "rubric": []}],
            "information_extraction": [{"question": "What do I play?", "source_chat_ids": [2, 2]}],
            "knowledge_update": [{"question": "How long?", "source_chat_ids": {"original_info": [2], "updated_info": [3, 99]}}]
        });
        let read = conversation(chat.as_array().unwrap(), probing_questions.as_object().unwrap()).unwrap();
        let contents: Vec<String> = read.turns.iter().map(Turn::content).collect();
        assert_eq!(contents[2], "[March-15-2024] user: I play the cello.");
        assert_eq!(contents[3], "user: For nine years.");
        let evidence: Vec<&[usize]> = read.questions.iter().map(|question| question.turns.as_slice()).collect();
        assert_eq!(evidence, [[].as_slice(), [2].as_slice(), [2, 3].as_slice()]);
    }

    #[test]
    fn the_layout_of_the_largest_size_is_an_error() {
        let chat = json!([{"plan-1": [{"batch_number": 1, "turns": []}]}]);
        assert!(conversation(chat.as_array().unwrap(), &Map::new()).is_err());
    }
}
