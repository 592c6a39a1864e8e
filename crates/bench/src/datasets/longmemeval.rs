//! The reader of LongMemEval's oracle file: a list of questions, each with the sessions that contain its answer.

use std::collections::HashMap;
use std::path::Path;

use anyhow::ensure;
use serde::Deserialize;

use super::{Conversation, Question, Turn, distinct, read_json};

#[derive(Deserialize)]
struct Published {
    question: String,
    question_type: String,
    haystack_dates: Vec<String>,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<PublishedTurn>>,
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct PublishedTurn {
    role: String,
    content: String,
    /// Whether the turn contains the answer to its question.
    #[serde(default)]
    has_answer: Option<bool>,
}

/// Reads all sessions as one conversation, by date. A session that several questions share is in it once.
pub fn read(path: &Path) -> anyhow::Result<Conversation> {
    pool(&read_json::<Vec<Published>>(path)?)
}

fn pool(published: &[Published]) -> anyhow::Result<Conversation> {
    let mut sessions: HashMap<&str, usize> = HashMap::new();
    let mut turns = Vec::new();
    for question in published {
        let ids = &question.haystack_session_ids;
        let same_length = ids.len() == question.haystack_dates.len() && ids.len() == question.haystack_sessions.len();
        ensure!(same_length, "{:?} has lists of different lengths", question.question);
        for ((id, date), spoken) in ids.iter().zip(&question.haystack_dates).zip(&question.haystack_sessions) {
            let session = sessions.len();
            if sessions.contains_key(id.as_str()) {
                continue;
            }
            sessions.insert(id, session);
            for turn in spoken.iter().filter(|turn| !turn.content.trim().is_empty()) {
                let (speaker, text) = (turn.role.clone(), turn.content.trim().to_owned());
                turns.push(Turn { session, date: date.clone(), speaker, text });
            }
        }
    }
    // stable, so the turns of a session keep their order
    turns.sort_by(|a, b| (&a.date, a.session).cmp(&(&b.date, b.session)));
    let mut said: HashMap<(usize, &str), Vec<usize>> = HashMap::new();
    for (position, turn) in turns.iter().enumerate() {
        said.entry((turn.session, &turn.text)).or_default().push(position);
    }
    let questions = published.iter().map(|question| answered(question, &sessions, &said)).collect();
    Ok(Conversation { questions, turns, observations: Vec::new() })
}

fn answered(
    published: &Published,
    sessions: &HashMap<&str, usize>,
    said: &HashMap<(usize, &str), Vec<usize>>,
) -> Question {
    let named = published.answer_session_ids.iter().filter_map(|id| sessions.get(id.as_str()));
    let mut turns = Vec::new();
    for (id, spoken) in published.haystack_session_ids.iter().zip(&published.haystack_sessions) {
        for turn in spoken.iter().filter(|turn| turn.has_answer == Some(true)) {
            let key = sessions.get(id.as_str()).map(|session| (*session, turn.content.trim()));
            turns.extend(key.and_then(|key| said.get(&key)).into_iter().flatten());
        }
    }
    Question {
        text: published.question.clone(),
        category: published.question_type.clone(),
        turns: distinct(turns),
        sessions: distinct(named.copied().collect()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_shared_session_is_stored_once_and_evidence_is_found_in_it() {
        let shared = json!([
            {"role": "user", "content": "My car is a Saab.", "has_answer": true},
            {"role": "assistant", "content": "A fine car."}
        ]);
        let sample = json!([
            {"question_id": "q1", "question_type": "single-session-user", "question": "What do I drive?", "answer": "a Saab",
             "question_date": "2023/04/12 (Wed) 10:00", "haystack_dates": ["2023/04/11 (Tue) 09:00"],
             "haystack_session_ids": ["s_1"], "haystack_sessions": [shared], "answer_session_ids": ["s_1"]},
            {"question_id": "q2_abs", "question_type": "multi-session", "question": "What do I ride?", "answer": "unknown",
             "question_date": "2023/04/12 (Wed) 10:00",
             "haystack_dates": ["2023/04/11 (Tue) 09:00", "2023/04/10 (Mon) 09:00"], "haystack_session_ids": ["s_1", "s_2"],
             "haystack_sessions": [shared, [{"role": "user", "content": " Hello. "}, {"role": "assistant", "content": ""}]],
             "answer_session_ids": ["s_2", "s_1"]}
        ]);
        let pool = pool(&serde_json::from_value::<Vec<Published>>(sample).unwrap()).unwrap();
        let contents: Vec<String> = pool.turns.iter().map(Turn::content).collect();
        assert_eq!(contents[0], "[2023/04/10 (Mon) 09:00] user: Hello.");
        assert_eq!(contents[1], "[2023/04/11 (Tue) 09:00] user: My car is a Saab.");
        assert_eq!(contents.len(), 3);
        assert_eq!(
            (pool.questions[0].turns.as_slice(), pool.questions[0].sessions.as_slice()),
            ([1].as_slice(), [0].as_slice())
        );
        assert_eq!(pool.questions[1].sessions, [0, 1]);
    }
}
