//! Checks that Claude Code's hooks are installed.

use std::path::Path;

use serde_json::Value;

use super::check::Check;
use crate::cli::connect::{Client, Scope, hooks};

const NAME: &str = "hooks";
const REMEDY: &str = "butler connect claude-code";

pub fn check() -> Check {
    let Ok(Some(file)) = Client::ClaudeCode.hooks_file(Scope::User) else {
        return Check::skipped(NAME, "no home directory found");
    };
    let Ok(text) = std::fs::read_to_string(&file) else {
        return Check::skipped(NAME, format!("Claude Code is not connected; connect it with `{REMEDY}`"));
    };
    let Ok(settings) = serde_json::from_str::<Value>(&text) else {
        let detail = format!("{} is not valid JSON", file.display());
        return Check::warned(NAME, detail, "fix the file; Claude Code cannot read it either");
    };
    let missing: Vec<&str> = hooks::CLAUDE_CODE
        .events
        .iter()
        .filter(|(event, _)| command(&settings, event).is_none())
        .map(|(event, _)| *event)
        .collect();
    if missing.len() == hooks::CLAUDE_CODE.events.len() {
        return Check::skipped(NAME, format!("Claude Code is not connected; connect it with `{REMEDY}`"));
    }
    if !missing.is_empty() {
        return Check::warned(NAME, format!("Claude Code has no hook for {}", missing.join(", ")), REMEDY);
    }
    let program = command(&settings, "SessionStart").and_then(program_of);
    match program {
        Some(program) if !Path::new(&program).is_file() => {
            Check::failed(NAME, format!("Claude Code's hooks call {program}, which does not exist"), REMEDY)
        }
        _ => Check::passed(NAME, "Claude Code's session hooks are installed"),
    }
}

fn command(settings: &Value, event: &str) -> Option<String> {
    let groups = settings["hooks"][event].as_array()?;
    let all = groups.iter().filter_map(|group| group["hooks"].as_array()).flatten();
    all.filter_map(|hook| hook["command"].as_str()).find(|command| hooks::calls_butler(command)).map(str::to_owned)
}

/// Returns the program of a shell command that `connect` wrote and quoted.
fn program_of(command: String) -> Option<String> {
    match command.strip_prefix('\'') {
        Some(quoted) => quoted.split('\'').next().map(str::to_owned),
        None => command.split(' ').next().map(str::to_owned),
    }
}
