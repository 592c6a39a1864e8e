//! Claude Code's hooks in a settings file.

use serde_json::{Value, json};

use super::json::{Document, EditError};

/// Longer than a hook ever waits for memory; Claude Code goes on without it then.
const TIMEOUT_S: u64 = 10;

/// Claude Code's event, and our command for it.
pub const EVENTS: [(&str, &str); 2] = [("SessionStart", "session-start"), ("SessionEnd", "session-end")];
pub const PROMPT_EVENT: (&str, &str) = ("UserPromptSubmit", "user-prompt");

/// What an event holds of ours.
pub fn group(command: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT_S}]})
}

/// Makes each event call us, once; what others have put there stays.
pub fn install(document: &mut Document, wanted: &[(&str, String)]) -> Result<(), EditError> {
    for (event, command) in wanted {
        let path = ["hooks", event];
        let group = group(command);
        let present = document.get(&path).and_then(|groups| groups.as_array().cloned()).unwrap_or_default();
        if present.contains(&group) {
            continue;
        }
        document.remove_items(&path, is_ours)?;
        document.push(&path, &group)?;
    }
    Ok(())
}

/// Takes out what [`install`] put in.
pub fn uninstall(document: &mut Document) -> Result<(), EditError> {
    for (event, _) in EVENTS.into_iter().chain([PROMPT_EVENT]) {
        let path = ["hooks", event];
        if document.get(&path).is_none() {
            continue;
        }
        document.remove_items(&path, is_ours)?;
        if document.get(&path) == Some(json!([])) {
            document.remove(&path)?;
        }
    }
    if document.get(&["hooks"]) == Some(json!({})) {
        document.remove(&["hooks"])?;
    }
    Ok(())
}

/// A group that does nothing but call us.
fn is_ours(group: &Value) -> bool {
    let hooks = group["hooks"].as_array().map(Vec::as_slice).unwrap_or_default();
    !hooks.is_empty() && hooks.iter().all(|hook| hook["command"].as_str().is_some_and(calls_us))
}

pub fn calls_us(command: &str) -> bool {
    let known = EVENTS.into_iter().chain([PROMPT_EVENT]).any(|(_, ours)| command.contains(&format!(" hook {ours}")));
    known && command.contains("butler")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_installed_once_beside_those_of_others_and_taken_out_alone() {
        let theirs = "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}\n    ]\n  }\n}\n";
        let commands = |exe: &str| EVENTS.map(|(event, ours)| (event, format!("{exe} hook {ours}")));
        let mut document = Document::new(theirs, false).unwrap();
        install(&mut document, &commands("/a/butler")).unwrap();
        let once = document.clone();
        install(&mut document, &commands("/a/butler")).unwrap();
        assert_eq!(document, once, "a second time changes nothing");
        install(&mut document, &commands("/b/butler")).unwrap();
        assert_eq!(
            document.get(&["hooks", "SessionStart"]).unwrap().as_array().unwrap().len(),
            2,
            "a moved program is followed"
        );
        uninstall(&mut document).unwrap();
        assert_eq!(document.text(), theirs);
    }
}
