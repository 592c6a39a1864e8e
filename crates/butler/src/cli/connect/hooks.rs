//! Installs and removes hooks in Claude Code's settings file.

use serde_json::{Value, json};

use super::json::{Document, EditError};

/// Claude Code stops waiting for a hook after this time. It is longer than a hook waits for memory.
const TIMEOUT_S: u64 = 10;

/// Claude Code's events and the `butler hook` command for each.
pub const EVENTS: [(&str, &str); 2] = [("SessionStart", "session-start"), ("SessionEnd", "session-end")];
pub const PROMPT_EVENT: (&str, &str) = ("UserPromptSubmit", "user-prompt");

/// The hook group that calls `command`.
pub fn group(command: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT_S}]})
}

/// Adds a hook for each event unless it is already present. Hooks of other programs are not changed.
pub fn install(document: &mut Document, hooks: &[(&str, String)]) -> Result<(), EditError> {
    for (event, command) in hooks {
        let path = ["hooks", event];
        let group = group(command);
        let present = document.get(&path).and_then(|groups| groups.as_array().cloned()).unwrap_or_default();
        if present.contains(&group) {
            continue;
        }
        document.remove_items(&path, is_butler_hook)?;
        document.push(&path, &group)?;
    }
    Ok(())
}

/// Removes the hooks that [`install`] added.
pub fn uninstall(document: &mut Document) -> Result<(), EditError> {
    for (event, _) in EVENTS.into_iter().chain([PROMPT_EVENT]) {
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

/// Whether all hooks of a group call `butler hook`.
fn is_butler_hook(group: &Value) -> bool {
    let hooks = group["hooks"].as_array().map(Vec::as_slice).unwrap_or_default();
    !hooks.is_empty() && hooks.iter().all(|hook| hook["command"].as_str().is_some_and(calls_butler))
}

pub fn calls_butler(command: &str) -> bool {
    let known = EVENTS.into_iter().chain([PROMPT_EVENT]).any(|(_, name)| command.contains(&format!(" hook {name}")));
    known && command.contains("butler")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_installed_once_and_hooks_of_other_programs_are_kept() {
        let original = "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}\n    ]\n  }\n}\n";
        let commands = |exe: &str| EVENTS.map(|(event, name)| (event, format!("{exe} hook {name}")));
        let mut document = Document::new(original, false).unwrap();
        install(&mut document, &commands("/a/butler")).unwrap();
        let once = document.clone();
        install(&mut document, &commands("/a/butler")).unwrap();
        assert_eq!(document, once, "installing twice changes nothing");
        install(&mut document, &commands("/b/butler")).unwrap();
        assert_eq!(
            document.get(&["hooks", "SessionStart"]).unwrap().as_array().unwrap().len(),
            2,
            "a new path replaces the old hook"
        );
        uninstall(&mut document).unwrap();
        assert_eq!(document.text(), original);
    }
}
