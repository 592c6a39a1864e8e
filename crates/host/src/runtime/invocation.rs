//! Builds the arguments and the stdin of an LLM program for a session. Arguments never contain memory, because every
//! user of the machine can read them.

use std::path::Path;

use butler_memory::runtime::Session;

const MCP_CONFIG: &str = "{mcp_config}";
const SYSTEM_PROMPT_FILE: &str = "{system_prompt_file}";

/// Flags of Claude Code with which the user has chosen a system prompt. It does not accept a second one.
const CLAUDE_SYSTEM_PROMPTS: [&str; 2] = ["--append-system-prompt", "--append-system-prompt-file"];
/// Flags of Claude Code for a session with untrusted text: no tools, no MCP servers except those of `--mcp-config`, no
/// settings, hooks, plugins or instructions of the user or a project, and no record of the session. Its login is not a
/// setting and keeps working.
const CLAUDE_RESTRICTIONS: [&[&str]; 4] =
    [&["--tools", ""], &["--strict-mcp-config"], &["--setting-sources", ""], &["--no-session-persistence"]];

#[derive(Debug, PartialEq, Eq)]
pub struct Invocation {
    pub arguments: Vec<String>,
    pub input: String,
    /// Whether an argument names the file with the system prompt, which the caller must then write.
    pub reads_system_file: bool,
}

impl Invocation {
    pub fn of(program: &str, arguments: &[String], session: &Session, system_file: &Path) -> Self {
        let mcp = session.mcp_config.as_ref().map(|file| file.display().to_string());
        let system = session.system.as_ref().map(|_| system_file.display().to_string());
        let has_placeholder = |name: &str| arguments.iter().any(|argument| argument.contains(name));
        let mut reads_system_file = has_placeholder(SYSTEM_PROMPT_FILE) && system.is_some();
        let mut filled = fill(arguments, MCP_CONFIG, mcp.as_deref());
        filled = fill(&filled, SYSTEM_PROMPT_FILE, system.as_deref());
        if is_claude(program) {
            if let Some(file) = mcp.filter(|_| !has_placeholder(MCP_CONFIG)) {
                filled.extend(["--mcp-config".to_owned(), file]);
            }
            if let Some(file) = system
                && !CLAUDE_SYSTEM_PROMPTS.iter().any(|flag| has_flag(&filled, flag))
            {
                filled.extend(["--append-system-prompt-file".to_owned(), file]);
                reads_system_file = true;
            }
            if !session.trusted {
                restrict(&mut filled);
            }
        }
        let input = match &session.system {
            Some(system) if !reads_system_file => format!("{system}\n\n{}", session.prompt),
            _ => session.prompt.clone(),
        };
        Self { arguments: filled, input, reads_system_file }
    }
}

/// Adds the restrictions whose flags the user has not given.
fn restrict(arguments: &mut Vec<String>) {
    for restriction in CLAUDE_RESTRICTIONS {
        if !has_flag(arguments, restriction[0]) {
            arguments.extend(restriction.iter().map(|word| (*word).to_owned()));
        }
    }
}

/// Whether the arguments contain the flag, as `--flag value` or `--flag=value`.
fn has_flag(arguments: &[String], flag: &str) -> bool {
    let is_flag =
        |argument: &String| argument.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    arguments.iter().any(is_flag)
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

    /// A session as `butler run` starts it.
    fn session() -> Session {
        Session {
            system: Some("be brief".to_owned()),
            mcp_config: Some("/s/mcp.json".into()),
            trusted: true,
            ..Session::new("trigger", "hello")
        }
    }

    fn of(command: &[&str], session: &Session) -> (Vec<String>, String) {
        let arguments: Vec<String> = command[1..].iter().map(|argument| (*argument).to_owned()).collect();
        let invocation = Invocation::of(command[0], &arguments, session, Path::new("/s/system.md"));
        let named = invocation.arguments.iter().any(|argument| argument.contains("/s/system.md"));
        assert_eq!(invocation.reads_system_file, named, "{invocation:?}");
        assert!(!invocation.arguments.iter().any(|argument| argument.contains("be brief")), "{invocation:?}");
        (invocation.arguments, invocation.input)
    }

    #[test]
    fn a_program_without_placeholders_reads_the_system_prompt_before_the_prompt() {
        assert_eq!(of(&["llm", "-x"], &session()), (vec!["-x".to_owned()], "be brief\n\nhello".to_owned()));
    }

    #[test]
    fn placeholders_are_replaced_and_stdin_has_only_the_prompt() {
        let (arguments, input) = of(&["llm", "--tools={mcp_config}", "-s", "{system_prompt_file}"], &session());
        assert_eq!(arguments, ["--tools=/s/mcp.json", "-s", "/s/system.md"]);
        assert_eq!(input, "hello");
    }

    #[test]
    fn claude_gets_its_own_flags() {
        let (arguments, input) = of(&["/opt/bin/claude", "-p"], &session());
        assert_eq!(arguments, ["-p", "--mcp-config", "/s/mcp.json", "--append-system-prompt-file", "/s/system.md"]);
        assert_eq!(input, "hello");
        // Claude Code refuses a second system prompt.
        let (arguments, input) = of(&["claude", "-p", "--append-system-prompt", "mine"], &session());
        assert_eq!(arguments, ["-p", "--append-system-prompt", "mine", "--mcp-config", "/s/mcp.json"]);
        assert_eq!(input, "be brief\n\nhello");
    }

    #[test]
    fn claude_gets_no_tools_and_no_settings_for_untrusted_text() {
        let untrusted = Session::new("schedule:consolidation", "hello");
        let (arguments, _) = of(&["claude", "-p"], &untrusted);
        let restrictions = ["--tools", "", "--strict-mcp-config", "--setting-sources", "", "--no-session-persistence"];
        assert_eq!(arguments[1..], restrictions);
        // The flags of the user win.
        let (arguments, _) = of(&["claude", "-p", "--tools=Read", "--setting-sources", "user"], &untrusted);
        assert_eq!(arguments[4..], ["--strict-mcp-config", "--no-session-persistence"]);
        // Another program does not know these flags.
        assert_eq!(of(&["llm"], &untrusted).0, [""; 0]);
    }

    #[test]
    fn an_argument_without_a_value_is_removed_with_its_flag() {
        let bare = Session::new("schedule:consolidation", "hello");
        let (arguments, _) = of(&["llm", "--mcp", "{mcp_config}", "-s", "{system_prompt_file}", "-v"], &bare);
        assert_eq!(arguments, ["-v"]);
    }
}
