//! Finds the marks that prompts and tool calls are made of.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::{Hit, Kind};

const PROMPT: &[&str] = &[
    r"@\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text|endofprompt)\|>",
    r"\[/?INST\]|@@/?SYS>>|@start_of_turn>|@end_of_turn>",
    r"@/?(?:system|system[_-]?prompt|system[_-]?message|system[_-]?reminder|system[_-]?instructions?|assistant|developer[_-]?message|hidden[_-]?instructions?|admin[_-]?instructions?)>",
    r"^[ \t>*#]{0,6}#{2,} ?(?:system|instruction|new instructions?|system prompt|assistant|developer|response):",
    r"^[ \t>*#]{0,6}(?:system|developer|admin) ?(?:prompt|message|instructions?|override|note|directive)s?\**:",
    r"[\[(]{1,2}(?:system|developer|admin|assistant)[ _-](?:message|override|prompt|instructions?|note|directive)s?[\])]{1,2}",
    r#"\\?["']role\\?["']\s{0,3}:\s{0,3}\\?["'](?:system|developer)\\?["']"#,
    r"-{3,} ?(?:begin|end|start) (?:of )?(?:system|hidden|admin|secret|developer) ?(?:prompt|message|instructions?)",
    r"^(?:human|user): .{0,400}\n{1,2}assistant: (?:sure|ok|understood|yes|of course)[,.! ]",
];

const TOOL_CALL: &[&str] = &[
    r"@/?(?:tool_call|tool_calls|function_calls?|tool_use|tool_result|function_results?|tool_response|tool_code)>",
    r#"@(?:\w{1,12}:)?(?:invoke|parameter|tool_use|tool_call) name="#,
    r"@function=[\w.]+>",
    r"@\|(?:python_tag|tool|tool_call|plugin|action_start|tool_calls_section_begin)\|>|\[TOOL_CALLS?\]|\[/?TOOL_RESULTS?\]",
    r#"\\?"(?:tool_calls|function_call|tool_call)\\?"\s{0,3}:\s{0,3}[\[{]"#,
    r#"\\?"type\\?"\s{0,3}:\s{0,3}\\?"(?:tool_use|function_call|tool_call)\\?""#,
    r#"\\?"method\\?"\s{0,3}:\s{0,3}\\?"tools/call\\?""#,
    r"^action: ?\S.{0,80}\n+action input:",
    r"```(?:tool_code|tool_call|tool)\b",
    r"(?:call|invoke|use|trigger) (?:the )?(?:tool |function )?`?memory_(?:store|forget|mark|update|delete|approve|import)\w{0,40}",
    r"(?:^|[.!?:] )(?:now )?(?:call|invoke|use|trigger|execute) (?:the |your )?`?[\w.-]{2,40}`? tool (?:with|to (?:send|delete|forward|store|upload|email|post|transfer)|and (?:send|delete|forward|store|upload|pass))",
    r"\bmemory_(?:store|forget|mark|update|delete|approve|import)\w*\s?\(",
];

/// A query parameter of an image that the reader is to fill in: rendering the image sends the data.
const LEAKING_IMAGE: &[&str] = &[
    r"!\[[^\]\n]{0,120}\]\(https?://[^)\s]{1,300}=(?:\{|@|\[|%7B|\$)",
    r"@img[^>]{1,300}src=.https?://[^>\s]{1,300}=(?:\{|\[|%7B|\$)",
];

static MARKS: LazyLock<[(Kind, Regex); 3]> = LazyLock::new(|| {
    [(Kind::RolePlay, any(PROMPT)), (Kind::ToolCall, any(TOOL_CALL)), (Kind::Exfiltration, any(LEAKING_IMAGE))]
});

/// One expression for all patterns. `@` stands for the opening bracket of a tag, plain or escaped for HTML.
fn any(patterns: &[&str]) -> Regex {
    let pattern = format!("(?:{})", patterns.join("|")).replace('@', "(?:<|&lt;)");
    let builder = RegexBuilder::new(&pattern).case_insensitive(true).multi_line(true).unicode(true).build();
    builder.expect("the patterns are valid")
}

pub(super) fn find(text: &str) -> Vec<Hit> {
    let found = MARKS.iter().filter_map(|(kind, regex)| regex.find(text).map(|found| (*kind, found.range())));
    found.map(|(kind, span)| Hit { kind, span }).collect()
}
