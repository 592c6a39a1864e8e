//! The reader of LoCoMo: one file with a list of conversations.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Conversation, Observation, Question, Turn, distinct, read_json};

/// The category of adversarial questions, which ask about the wrong person. Their evidence still has to be found.
pub const ADVERSARIAL: &str = "5";

#[derive(Deserialize)]
struct Published {
    conversation: Map<String, Value>,
    qa: Vec<PublishedQuestion>,
    /// `session_1_observation` and so on: for each speaker a list of `[text, turn]` or `[text, [turn, …]]`.
    #[serde(default)]
    observation: Map<String, Value>,
}

#[derive(Deserialize)]
pub(super) struct PublishedQuestion {
    pub question: String,
    pub category: u8,
    #[serde(default)]
    pub evidence: Vec<String>,
}

pub fn read(path: &Path) -> anyhow::Result<Vec<Conversation>> {
    let published: Vec<Published> = read_json(path)?;
    Ok(published.into_iter().map(conversation).collect())
}

fn conversation(published: Published) -> Conversation {
    let mut of = Conversation::default();
    let mut positions = HashMap::new();
    for session in 1.. {
        let date = published.conversation.get(&format!("session_{session}_date_time")).and_then(Value::as_str);
        let Some(date) = date else { break };
        let spoken = published.conversation.get(&format!("session_{session}")).and_then(Value::as_array);
        for turn in spoken.into_iter().flatten() {
            let part = |key: &str| turn[key].as_str().unwrap_or_default().to_owned();
            positions.insert(part("dia_id"), of.turns.len());
            let (speaker, text) = (part("speaker"), part("text"));
            of.turns.push(Turn { session: session - 1, date: date.to_owned(), speaker, text });
        }
    }
    of.questions = published.qa.into_iter().map(|entry| question(entry, &positions)).collect();
    of.observations = observations(&published.observation, &positions);
    of
}

pub(super) fn question(published: PublishedQuestion, positions: &HashMap<String, usize>) -> Question {
    let turns = distinct(published.evidence.iter().flat_map(|text| named(text, positions)).collect());
    Question { text: published.question, category: published.category.to_string(), turns, sessions: Vec::new() }
}

/// The turns that a text names. Some texts name several turns, some a turn that does not exist.
fn named(text: &str, positions: &HashMap<String, usize>) -> Vec<usize> {
    let names = text.split(|c: char| !(c.is_alphanumeric() || c == ':'));
    names.filter_map(|name| positions.get(name)).copied().collect()
}

fn observations(published: &Map<String, Value>, positions: &HashMap<String, usize>) -> Vec<Observation> {
    let number = |key: &str| key.split('_').find_map(|part| part.parse::<usize>().ok());
    let sessions: BTreeMap<_, _> = published.iter().map(|(key, value)| (number(key), value)).collect();
    let mut found = Vec::new();
    for (speaker, stated) in sessions.values().filter_map(|session| session.as_object()).flatten() {
        for entry in stated.as_array().into_iter().flatten() {
            let Some(content) = entry[0].as_str() else { continue };
            let sources = match &entry[1] {
                Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
                one => Vec::from_iter(one.as_str()),
            };
            let turns = distinct(sources.into_iter().flat_map(|text| named(text, positions)).collect());
            found.push(Observation { subject: speaker.clone(), content: content.to_owned(), turns });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn turns_questions_and_observations_are_read() {
        let sample = json!({
            "conversation": {
                "speaker_a": "Ada", "speaker_b": "Ben",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    {"speaker": "Ada", "dia_id": "D1:1", "text": "I play the cello."},
                    {"speaker": "Ben", "dia_id": "D1:2", "text": "Since when?"}
                ],
                "session_2_date_time": "2:00 pm on 9 May, 2023",
                "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "For nine years."}]
            },
            "qa": [
                {"question": "How long has Ada played?", "answer": "9 years", "category": 2, "evidence": ["D1:1; D2:1", "D9:9"]},
                {"question": "What does Ben play?", "adversarial_answer": "cello", "category": 5}
            ],
            "observation": {
                "session_2_observation": {"Ada": [["Ada has played for nine years.", ["D2:1", "D1:1"]]]},
                "session_1_observation": {"Ada": [["Ada plays the cello.", "D1:1"]], "Ben": []}
            }
        });
        let read = conversation(serde_json::from_value(sample).unwrap());
        let contents: Vec<String> = read.turns.iter().map(Turn::content).collect();
        assert_eq!(contents[2], "[2:00 pm on 9 May, 2023] Ada: For nine years.");
        assert_eq!(read.turns[2].said_at().unwrap().to_rfc3339(), "2023-05-09T14:00:00+00:00");
        assert_eq!(read.turns.iter().map(|turn| turn.session).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!((read.questions[0].turns.as_slice(), read.questions[0].category.as_str()), ([0, 2].as_slice(), "2"));
        assert!(read.questions[1].turns.is_empty());
        let stated: Vec<_> = read.observations.iter().map(|o| (o.subject.as_str(), o.turns.as_slice())).collect();
        assert_eq!(stated, [("Ada", [0].as_slice()), ("Ada", [0, 2].as_slice())]);
    }
}
