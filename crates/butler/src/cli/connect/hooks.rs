//! Installs and removes hooks in a client's settings file. Claude Code, Codex and Gemini CLI share the format and differ
//! in the names of events and the unit of the timeout.

use serde_json::{Value, json};

use super::Client;
use super::json::{Document, EditError};

/// The hooks of one client.
#[derive(Debug)]
pub struct Hooks {
    /// The client's events and the `butler hook` command for each.
    pub events: &'static [(&'static str, &'static str)],
    /// The event for every prompt.
    pub prompt_event: (&'static str, &'static str),
    /// After this time the client stops waiting for a hook, in the client's unit. It is longer than a hook waits for memory.
    timeout: u64,
}

pub const CLAUDE_CODE: Hooks = Hooks {
    events: &[("SessionStart", "session-start"), ("SessionEnd", "session-end")],
    prompt_event: ("UserPromptSubmit", "user-prompt"),
    timeout: 10,
};

/// Codex and Gemini CLI get no hook for the end of a session: `session-end` reads Claude Code's transcripts only.
const CODEX: Hooks = Hooks {
    events: &[("SessionStart", "session-start")],
    prompt_event: ("UserPromptSubmit", "user-prompt"),
    timeout: 10,
};

/// Gemini CLI counts milliseconds.
const GEMINI: Hooks = Hooks {
    events: &[("SessionStart", "session-start")],
    prompt_event: ("BeforeAgent", "user-prompt"),
    timeout: 10_000,
};

impl Hooks {
    pub const fn of(client: Client) -> Option<&'static Self> {
        match client {
            Client::ClaudeCode => Some(&CLAUDE_CODE),
            Client::Codex => Some(&CODEX),
            Client::Gemini => Some(&GEMINI),
            _ => None,
        }
    }

    /// The hook group that calls `command`.
    pub fn group(&self, command: &str) -> Value {
        json!({"hooks": [{"type": "command", "command": command, "timeout": self.timeout}]})
    }

    /// Adds a hook for each event unless it is already present. Hooks of other programs are not changed.
    pub fn install(&self, document: &mut Document, hooks: &[(&str, String)]) -> Result<(), EditError> {
        for (event, command) in hooks {
            let path = ["hooks", event];
            let group = self.group(command);
            let present = document.get(&path).and_then(|groups| groups.as_array().cloned()).unwrap_or_default();
            if present.contains(&group) {
                continue;
            }
            document.remove_items(&path, is_butler_hook)?;
            document.push(&path, &group)?;
        }
        Ok(())
    }

    /// Removes the hooks that [`Hooks::install`] added.
    pub fn uninstall(&self, document: &mut Document) -> Result<(), EditError> {
        for (event, _) in self.events.iter().chain([&self.prompt_event]) {
            let path = ["hooks", event];
            if document.get(&path).is_none() {
                continue;
            }
            document.remove_items(&path, is_butler_hook)?;
            if document.get(&path) == Some(json!([])) {
                document.remove(&path)?;
            }
        }
        if document.get(&["hooks"]) == Some(json!({})) {
            document.remove(&["hooks"])?;
        }
        Ok(())
    }
}

/// Whether all hooks of a group call `butler hook`.
fn is_butler_hook(group: &Value) -> bool {
    let hooks = group["hooks"].as_array().map(Vec::as_slice).unwrap_or_default();
    !hooks.is_empty() && hooks.iter().all(|hook| hook["command"].as_str().is_some_and(calls_butler))
}

pub fn calls_butler(command: &str) -> bool {
    let Hooks { events, prompt_event, .. } = CLAUDE_CODE;
    let known = events.iter().chain([&prompt_event]).any(|(_, name)| command.contains(&format!(" hook {name}")));
    known && command.contains("butler")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_installed_once_and_hooks_of_other_programs_are_kept() {
        let original = "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}\n    ]\n  }\n}\n";
        let commands = |exe: &str| -> Vec<_> {
            CLAUDE_CODE.events.iter().map(|(event, name)| (*event, format!("{exe} hook {name}"))).collect()
        };
        let mut document = Document::new(original, false).unwrap();
        CLAUDE_CODE.install(&mut document, &commands("/a/butler")).unwrap();
        let once = document.clone();
        CLAUDE_CODE.install(&mut document, &commands("/a/butler")).unwrap();
        assert_eq!(document, once, "installing twice changes nothing");
        CLAUDE_CODE.install(&mut document, &commands("/b/butler")).unwrap();
        assert_eq!(
            document.get(&["hooks", "SessionStart"]).unwrap().as_array().unwrap().len(),
            2,
            "a new path replaces the old hook"
        );
        CLAUDE_CODE.uninstall(&mut document).unwrap();
        assert_eq!(document.text(), original);
    }
}
