//! The reader of REALTALK: a directory with one `Chat_*.json` file per pair of speakers.
//!
//! The format is known from a description by users of the data set, not from its files: sessions as in LoCoMo, but at the
//! top level of the file and with `clean_text`; and `qa` as in LoCoMo. Another shape is an error.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::locomo::{PublishedQuestion, question};
use super::{Conversation, Turn, numbered_first, read_json};

#[derive(Deserialize)]
struct Message {
    clean_text: String,
    speaker: String,
    dia_id: String,
    #[serde(default)]
    date_time: Option<String>,
}

pub fn read(directory: &Path) -> anyhow::Result<Vec<Conversation>> {
    let entries = std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("Chat_") && name.ends_with(".json") {
            files.push((numbered_first(name), path));
        }
    }
    ensure!(!files.is_empty(), "{} has no files Chat_*.json", directory.display());
    files.sort();
    let chat = |(_, path): &(_, std::path::PathBuf)| {
        let published = read_json(path)?;
        conversation(&published).with_context(|| format!("{} does not have the expected format", path.display()))
    };
    files.iter().map(chat).collect()
}

fn conversation(published: &Map<String, Value>) -> anyhow::Result<Conversation> {
    let number = |key: &str| key.strip_prefix("session_").and_then(|rest| rest.parse::<usize>().ok());
    let sessions: BTreeMap<usize, &Value> =
        published.iter().filter_map(|(key, value)| Some((number(key)?, value))).collect();
    ensure!(!sessions.is_empty(), "it has no session_1");
    let mut of = Conversation::default();
    let mut positions = HashMap::new();
    for (session, (number, messages)) in sessions.into_iter().enumerate() {
        let spoken = Vec::<Message>::deserialize(messages).with_context(|| format!("session_{number}"))?;
        let began = published.get(&format!("session_{number}_date_time")).and_then(Value::as_str);
        for message in spoken {
            positions.insert(message.dia_id, of.turns.len());
            let date = message.date_time.or_else(|| began.map(str::to_owned)).unwrap_or_default();
            of.turns.push(Turn { session, date, speaker: message.speaker, text: message.clean_text });
        }
    }
    let qa = published.get("qa").context("it has no qa")?;
    let questions = Vec::<PublishedQuestion>::deserialize(qa).context("qa")?;
    of.questions = questions.into_iter().map(|entry| question(entry, &positions)).collect();
    Ok(of)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(sample: &Value) -> anyhow::Result<Conversation> {
        conversation(sample.as_object().unwrap())
    }

    #[test]
    fn sessions_are_read_by_number_and_evidence_names_turns() {
        let sample = json!({
            "name": {"speaker_1": "Ada", "speaker_2": "Ben"},
            "session_10": [{"clean_text": "Nine years.", "speaker": "Ada", "date_time": "30.12.2023, 08:00:00", "dia_id": "D10:1"}],
            "session_10_date_time": "30.12.2023, 08:00:00",
            "session_2": [{"clean_text": "I play the cello.", "speaker": "Ada", "dia_id": "D2:1"}],
            "session_2_date_time": "29.12.2023, 00:51:12",
            "events_session_2": {"agent_a": [], "agent_b": []},
            "qa": [{"question": "How long has Ada played?", "answer": "nine years", "evidence": ["D2:1", "D10:1"], "category": 1}]
        });
        let read = read(&sample).unwrap();
        let contents: Vec<String> = read.turns.iter().map(Turn::content).collect();
        assert_eq!(
            contents,
            ["[29.12.2023, 00:51:12] Ada: I play the cello.", "[30.12.2023, 08:00:00] Ada: Nine years."]
        );
        assert_eq!(read.questions[0].turns, [0, 1]);
    }

    #[test]
    fn another_shape_is_an_error_that_says_where() {
        let sample = json!({"session_1": [{"text": "Hello", "speaker": "Ada", "dia_id": "D1:1"}], "qa": []});
        assert!(format!("{:#}", read(&sample).unwrap_err()).contains("session_1: missing field `clean_text`"));
        assert!(read(&json!({"conversation": {}})).is_err());
    }
}
