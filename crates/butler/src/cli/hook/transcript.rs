//! Reads Claude Code's transcript, which has one line of JSON per message. It keeps what the user and the assistant
//! said and skips tool calls.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::Value;

/// Read limit of a transcript, enough for months of work. The rest is ignored.
const TRANSCRIPT_BYTES: u64 = 256 * 1024 * 1024;
/// How much of the end of a transcript to search for the last prompt.
const TAIL_BYTES: u64 = 256 * 1024;

/// A prompt, and the assistant's last message before the next prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Id of its last message.
    pub id: String,
    pub prompt: String,
    pub answer: String,
}

pub fn read(path: &Path) -> io::Result<Vec<Exchange>> {
    Ok(exchanges(BufReader::new(open(path)?.take(TRANSCRIPT_BYTES))))
}

/// Opens a regular file. Opening or reading a pipe would wait for a writer.
fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

pub fn last_prompt(path: &Path) -> Option<String> {
    let mut file = open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
    exchanges(BufReader::new(file)).into_iter().rev().map(|exchange| exchange.prompt).find(|prompt| !prompt.is_empty())
}

/// Skips lines that are not valid JSON: the last line may be incomplete, and the tail of a file may start mid-line.
fn exchanges(lines: impl BufRead) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    for line in lines.split(b'\n').map_while(Result::ok) {
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
        // Conversations of subagents, and messages that Claude Code generates itself.
        if ["isSidechain", "isMeta", "isCompactSummary"].iter().any(|flag| message[flag] == true) {
            continue;
        }
        let text = text_of(&message["message"]["content"]);
        let id = message["uuid"].as_str().unwrap_or_default().to_owned();
        match message["type"].as_str() {
            Some("user") if !text.is_empty() && !is_generated(&text) => {
                exchanges.push(Exchange { id, prompt: text, answer: String::new() });
            }
            Some("assistant") if !text.is_empty() => {
                if exchanges.is_empty() {
                    exchanges.push(Exchange::default());
                }
                if let Some(exchange) = exchanges.last_mut() {
                    exchange.answer = text;
                    exchange.id = id;
                }
            }
            _ => {}
        }
    }
    exchanges
}

/// Returns the text of a message, which is a string or a list of content blocks.
fn text_of(content: &Value) -> String {
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

/// Whether Claude Code generated this user message: slash commands, their output, interruptions.
fn is_generated(text: &str) -> bool {
    const PREFIXES: [&str; 6] =
        ["<command-", "<local-command-", "<bash-", "<system-reminder>", "Caveat: ", "[Request interrupted"];
    PREFIXES.iter().any(|prefix| text.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_prompts_and_final_answers_and_skips_tool_calls() {
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
        let exchange = |id: &str, prompt: &str, answer: &str| Exchange {
            id: id.into(),
            prompt: prompt.into(),
            answer: answer.into(),
        };
        assert_eq!(
            exchanges(lines.join("\n").as_bytes()),
            [exchange("a3", "Fix the build", "A comma was missing."), exchange("u5", "Thanks", "")]
        );
    }
}
