//! Builds the arguments and the stdin of an LLM program for a session.

use std::path::Path;

use butler_memory::runtime::Session;

const MCP_CONFIG: &str = "{mcp_config}";
const SYSTEM_PROMPT: &str = "{system_prompt}";
/// Linux limits an argument to 128 KiB; a longer system prompt goes to stdin, before the prompt.
const MAX_ARGUMENT_BYTES: usize = 100 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub struct Invocation {
    pub arguments: Vec<String>,
    pub input: String,
}

impl Invocation {
    pub fn of(program: &str, arguments: &[String], session: &Session) -> Self {
        let mcp = session.mcp_config.as_ref().map(|file| file.display().to_string());
        let system = session.system.as_deref().filter(|system| system.len() <= MAX_ARGUMENT_BYTES);
        let has_placeholder = |name: &str| arguments.iter().any(|argument| argument.contains(name));
        let mut passed = has_placeholder(SYSTEM_PROMPT) && system.is_some();
        let mut filled = fill(arguments, MCP_CONFIG, mcp.as_deref());
        // The system prompt comes last, so that its text is never mistaken for a placeholder.
        filled = fill(&filled, SYSTEM_PROMPT, system);
        if is_claude(program) {
            if let Some(file) = &mcp
                && !has_placeholder(MCP_CONFIG)
            {
                filled.extend(["--mcp-config".to_owned(), file.clone()]);
            }
            if let Some(system) = system
                && !has_placeholder(SYSTEM_PROMPT)
            {
                filled.extend(["--append-system-prompt".to_owned(), system.to_owned()]);
                passed = true;
            }
        }
        let input = match &session.system {
            Some(system) if !passed => format!("{system}\n\n{}", session.prompt),
            _ => session.prompt.clone(),
        };
        Self { arguments: filled, input }
    }
}

/// Replaces a placeholder by its value. Without a value, removes the argument and the flag before it.
fn fill(arguments: &[String], placeholder: &str, value: Option<&str>) -> Vec<String> {
    let mut filled: Vec<String> = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match value {
            _ if !argument.contains(placeholder) => filled.push(argument.clone()),
            Some(value) => filled.push(argument.replace(placeholder, value)),
            None => {
                if argument == placeholder && filled.last().is_some_and(|flag| flag.starts_with('-')) {
                    filled.pop();
                }
            }
        }
    }
    filled
}

/// Claude Code has its own flags for the MCP configuration and the system prompt.
fn is_claude(program: &str) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == "claude")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        Session {
            system: Some("be brief".to_owned()),
            mcp_config: Some("/s/mcp.json".into()),
            ..Session::new("trigger", "hello")
        }
    }

    fn of(command: &[&str], session: &Session) -> (Vec<String>, String) {
        let arguments: Vec<String> = command[1..].iter().map(|argument| (*argument).to_owned()).collect();
        let Invocation { arguments, input } = Invocation::of(command[0], &arguments, session);
        (arguments, input)
    }

    #[test]
    fn a_program_without_placeholders_reads_the_system_prompt_before_the_prompt() {
        assert_eq!(of(&["llm", "-x"], &session()), (vec!["-x".to_owned()], "be brief\n\nhello".to_owned()));
    }

    #[test]
    fn placeholders_are_replaced_and_stdin_has_only_the_prompt() {
        let (arguments, input) = of(&["llm", "--tools={mcp_config}", "-s", "{system_prompt}"], &session());
        assert_eq!(arguments, ["--tools=/s/mcp.json", "-s", "be brief"]);
        assert_eq!(input, "hello");
    }

    #[test]
    fn claude_gets_its_own_flags() {
        let (arguments, input) = of(&["/opt/bin/claude", "-p"], &session());
        assert_eq!(arguments, ["-p", "--mcp-config", "/s/mcp.json", "--append-system-prompt", "be brief"]);
        assert_eq!(input, "hello");
    }

    #[test]
    fn an_argument_without_a_value_is_removed_with_its_flag() {
        let bare = Session::new("schedule:consolidation", "hello");
        let (arguments, _) = of(&["llm", "--mcp", "{mcp_config}", "-s", "{system_prompt}", "-v"], &bare);
        assert_eq!(arguments, ["-v"]);
    }

    #[test]
    fn a_prompt_that_looks_like_a_placeholder_is_unchanged() {
        let odd = Session { system: Some("{mcp_config}".to_owned()), ..session() };
        assert_eq!(of(&["llm", "{system_prompt}"], &odd).0, ["{mcp_config}"]);
    }

    #[test]
    fn a_system_prompt_too_long_for_an_argument_goes_to_stdin() {
        let long = Session { system: Some("x".repeat(MAX_ARGUMENT_BYTES + 1)), ..session() };
        let (arguments, input) = of(&["claude", "-p"], &long);
        assert_eq!(arguments, ["-p", "--mcp-config", "/s/mcp.json"]);
        assert!(input.ends_with("\n\nhello") && input.len() > MAX_ARGUMENT_BYTES);
    }
}
