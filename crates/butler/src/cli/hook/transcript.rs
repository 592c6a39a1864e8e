//! Claude Code's transcript: a line of JSON for each message. What people and the assistant said is of interest, not what
//! the tools did.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

/// A session of months; beyond it the rest is left out.
const TRANSCRIPT_BYTES: u64 = 256 * 1024 * 1024;
/// Where the last prompt of a session is looked for.
const TAIL_BYTES: u64 = 256 * 1024;

/// A prompt and the last thing the assistant said before the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// The id of its last message.
    pub id: String,
    pub asked: String,
    pub answered: String,
}

pub fn read(path: &Path) -> io::Result<Vec<Turn>> {
    Ok(turns(BufReader::new(File::open(path)?.take(TRANSCRIPT_BYTES))))
}

pub fn last_prompt(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
    turns(BufReader::new(file)).into_iter().rev().map(|turn| turn.asked).find(|asked| !asked.is_empty())
}

/// Lines that are no JSON (a half-written last one, the cut beginning of a tail) are passed over.
fn turns(lines: impl BufRead) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for line in lines.split(b'\n').map_while(Result::ok) {
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
        // Helpers' conversations, and what the program says to itself.
        if ["isSidechain", "isMeta", "isCompactSummary"].iter().any(|flag| message[flag] == true) {
            continue;
        }
        let said = text(&message["message"]["content"]);
        let id = message["uuid"].as_str().unwrap_or_default().to_owned();
        match message["type"].as_str() {
            Some("user") if !said.is_empty() && !is_machinery(&said) => {
                turns.push(Turn { id, asked: said, answered: String::new() });
            }
            Some("assistant") if !said.is_empty() => {
                if turns.is_empty() {
                    turns.push(Turn::default());
                }
                if let Some(turn) = turns.last_mut() {
                    turn.answered = said;
                    turn.id = id;
                }
            }
            _ => {}
        }
    }
    turns
}

/// Of a text, or of the texts in a list of blocks.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(blocks) => {
            let texts =
                blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n").trim().to_owned()
        }
        _ => String::new(),
    }
}

/// What the program writes in the user's name: slash commands, their output, interruptions.
fn is_machinery(said: &str) -> bool {
    const BEGINNINGS: [&str; 6] =
        ["<command-", "<local-command-", "<bash-", "<system-reminder>", "Caveat: ", "[Request interrupted"];
    BEGINNINGS.iter().any(|beginning| said.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_and_final_answers_are_kept_and_the_noise_of_tools_is_not() {
        let lines = [
            r#"{"type":"summary","summary":"old"}"#,
            r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Fix the build"}}"#,
            r#"{"type":"assistant","uuid":"a1","message":{"content":[{"type":"text","text":"Let me look."},{"type":"tool_use","name":"Bash"}]}}"#,
            r#"{"type":"user","uuid":"u2","message":{"content":[{"type":"tool_result","content":"error: 12 lines"}]}}"#,
            r#"{"type":"assistant","uuid":"a2","isSidechain":true,"message":{"content":[{"type":"text","text":"helper"}]}}"#,
            r#"{"type":"assistant","uuid":"a3","message":{"content":[{"type":"text","text":"A comma was missing."}]}}"#,
            r#"{"type":"user","uuid":"u3","isMeta":true,"message":{"content":"Caveat: …"}}"#,
            r#"{"type":"user","uuid":"u4","message":{"content":"<command-name>/clear</command-name>"}}"#,
            r#"{"type":"user","uuid":"u5","message":{"content":[{"type":"text","text":"Thanks"}]}}"#,
            r#"{"type":"assistant","uuid":"a4","mess"#,
        ];
        let turn = |id: &str, asked: &str, answered: &str| Turn {
            id: id.into(),
            asked: asked.into(),
            answered: answered.into(),
        };
        assert_eq!(
            turns(lines.join("\n").as_bytes()),
            [turn("a3", "Fix the build", "A comma was missing."), turn("u5", "Thanks", "")]
        );
    }
}
