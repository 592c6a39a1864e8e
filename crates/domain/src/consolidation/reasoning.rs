//! Removes the reasoning that models write before or between their answers. Its drafts are not answers.

use std::borrow::Cow;
use std::ops::Range;

use super::extract::{MAX_UNCLOSED_OBJECTS, object_start};
use super::json::read_object;

/// The names of reasoning tags, as in `<think>`, `<|think|>`, `[THINK]` and `◁think▷`. Case does not matter.
const TAGS: [&str; 14] = [
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "analysis",
    "scratchpad",
    "seed:think",
    "seed:cot_budget_reflect",
    "antthinking",
    "inner_monologue",
    "internal_monologue",
    "chain_of_thought",
];
const DELIMITERS: [(&str, &str); 4] = [("<|", "|>"), ("<", ">"), ("[", "]"), ("◁", "▷")];
/// The attributes of a tag, as in `<think duration="3">`, are not longer than this.
const MAX_ATTRIBUTES: usize = 200;

/// A form of reasoning that is not written with a tag and its closing tag.
struct TokenForm {
    open: &'static [&'static str],
    /// Tokens that close a section. Without a section they mean that everything before them is reasoning.
    close: &'static [&'static str],
    /// Tokens that close a section and mean nothing without one.
    weak_close: &'static [&'static str],
}

const TOKEN_FORMS: [TokenForm; 7] = [
    // gpt-oss (Harmony)
    TokenForm {
        open: &["<|channel|>analysis", "<|channel|>commentary"],
        close: &["<|channel|>final"],
        weak_close: &["<|end|>", "<|start|>"],
    },
    // Gemma
    TokenForm { open: &["<|channel>thought"], close: &["<channel|>"], weak_close: &[] },
    TokenForm { open: &["<unused94>"], close: &["<unused95>"], weak_close: &[] },
    // OpenThinker, Sky-T1
    TokenForm { open: &["<|begin_of_thought|>"], close: &["<|end_of_thought|>"], weak_close: &[] },
    // Command A
    TokenForm { open: &["<|start_thinking|>"], close: &["<|end_thinking|>"], weak_close: &[] },
    // Granite
    TokenForm { open: &["here is my thought process:"], close: &[], weak_close: &["here is my response:"] },
    TokenForm {
        open: &["```thinking", "```think", "```thoughts", "```thought", "```reasoning"],
        close: &[],
        weak_close: &["```"],
    },
];

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Open,
    Close,
    WeakClose,
}

struct Marker {
    at: Range<usize>,
    /// An index into the tags, followed by the token forms.
    form: usize,
    role: Role,
}

/// Replaces reasoning sections by spaces, so that byte offsets stay the same. A section that is never closed extends to
/// the end. If only the closing tag is there, because the opening one was part of the prompt, everything before it is
/// reasoning. A tag inside a JSON object is data.
pub(super) fn without_reasoning(text: &str) -> Cow<'_, str> {
    let mut hidden: Vec<Range<usize>> = untagged_analysis(text).into_iter().collect();
    let markers = markers(text);
    let closers = closers(&markers);
    let mut objects = Objects { text, at: 0, unclosed: 0 };
    let mut at = hidden.last().map_or(0, |range| range.end);
    for (marker, closer) in markers.iter().zip(closers) {
        if marker.at.start < at || marker.role == Role::WeakClose {
            continue;
        }
        if let Some(end) = objects.containing(marker.at.start, at) {
            at = end;
            continue;
        }
        match marker.role {
            Role::Open => {
                let end = closer.map_or(text.len(), |closer| markers[closer].at.end);
                hidden.push(marker.at.start..end);
                at = end;
            }
            _ => {
                hidden.clear();
                hidden.push(0..marker.at.end);
                at = marker.at.end;
            }
        }
    }
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for range in hidden {
        out.push_str(&text[out.len()..range.start]);
        out.extend(std::iter::repeat_n(' ', range.len()));
    }
    out.push_str(&text[out.len()..]);
    Cow::Owned(out)
}

/// gpt-oss behind a server that drops special tokens: `analysisWe need …assistantfinal{…}`.
fn untagged_analysis(text: &str) -> Option<Range<usize>> {
    const FINAL: &str = "assistantfinal";
    let rest = text.trim_start().strip_prefix("analysis");
    if !rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase())) {
        return None;
    }
    let end = text.find(FINAL).map_or(text.len(), |at| at + FINAL.len());
    Some(0..end)
}

/// Skips JSON objects from left to right.
struct Objects<'a> {
    text: &'a str,
    at: usize,
    unclosed: usize,
}

impl Objects<'_> {
    /// The end of the well-formed object that begins after `from` and contains `position`.
    fn containing(&mut self, position: usize, from: usize) -> Option<usize> {
        self.at = self.at.max(from);
        while self.unclosed < MAX_UNCLOSED_OBJECTS && self.at < position {
            let start = object_start(self.text, self.at).unwrap_or(self.text.len());
            if start >= position {
                self.at = start;
                break;
            }
            let parsed = read_object(self.text, start, 1);
            if parsed.cut_off || parsed.is_doubtful() {
                self.unclosed += 1;
                self.at = start + 1;
                continue;
            }
            self.at = parsed.end;
            if parsed.end > position {
                return Some(parsed.end);
            }
        }
        None
    }
}

/// For each marker the index of the one that would close it: the next of the same form, otherwise the next closing tag
/// of any name, because models mix them up.
fn closers(markers: &[Marker]) -> Vec<Option<usize>> {
    let mut next = [None; TAGS.len() + TOKEN_FORMS.len()];
    let mut next_tag = None;
    let mut closers: Vec<Option<usize>> = Vec::with_capacity(markers.len());
    for (number, marker) in markers.iter().enumerate().rev() {
        let is_tag = marker.form < TAGS.len();
        closers.push(next[marker.form].or(next_tag.filter(|_| is_tag)));
        if marker.role != Role::Open {
            next[marker.form] = Some(number);
            if is_tag {
                next_tag = Some(number);
            }
        }
    }
    closers.reverse();
    closers
}

fn markers(text: &str) -> Vec<Marker> {
    let mut markers = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(['<', '[', '◁', '`', 'H', 'h'])) {
        let start = at + found;
        match marker_at(&text[start..]) {
            Some((form, role, length)) => {
                at = start + length;
                markers.push(Marker { at: start..at, form, role });
            }
            None => at = start + text[start..].chars().next().map_or(1, char::len_utf8),
        }
    }
    markers
}

/// The form, role and length of the marker at the start of `rest`.
fn marker_at(rest: &str) -> Option<(usize, Role, usize)> {
    tag_at(rest).or_else(|| {
        TOKEN_FORMS.iter().enumerate().find_map(|(number, form)| {
            let roles = [(form.open, Role::Open), (form.close, Role::Close), (form.weak_close, Role::WeakClose)];
            roles.into_iter().find_map(|(tokens, role)| {
                let token = tokens.iter().find(|token| {
                    rest.as_bytes().get(..token.len()).is_some_and(|b| b.eq_ignore_ascii_case(token.as_bytes()))
                })?;
                Some((TAGS.len() + number, role, token.len()))
            })
        })
    })
}

fn tag_at(rest: &str) -> Option<(usize, Role, usize)> {
    DELIMITERS.into_iter().find_map(|(open, close)| {
        let inner = rest.strip_prefix(open)?;
        let (role, inner) = inner.strip_prefix('/').map_or((Role::Open, inner), |inner| (Role::Close, inner));
        let length = inner.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':')))?;
        let (name, after) = inner.split_at(length);
        let form = TAGS.iter().position(|tag| tag.eq_ignore_ascii_case(name))?;
        // `[thinking]` in lower case is a link or a remark.
        if open == "[" && name.chars().any(|c| c.is_ascii_lowercase()) {
            return None;
        }
        let attributes = after[..after.floor_char_boundary(MAX_ATTRIBUTES)].find(close)?;
        if attributes > 0 && (!after.starts_with(char::is_whitespace) || after[..attributes].contains('<')) {
            return None;
        }
        Some((form, role, rest.len() - after.len() + attributes + close.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        let out = without_reasoning(text);
        assert_eq!(out.len(), text.len(), "offsets stay the same");
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn reasoning_is_removed_in_all_known_forms() {
        for text in [
            "<think>no</think>yes",
            "<THINK time=\"3\">no</Think >yes",
            "<thinking>no</thinking>yes",
            "<think>no</thinking>yes",
            "<think>no<think>no</think>yes",
            "<think>no<think>no</think>no</think>yes",
            "<thinking>no<reflection>no</reflection>no</thinking>yes",
            "no</think>yes",
            "yes<think>no",
            "<seed:think>no</seed:think>yes",
            "<|thinking|>no<|/thinking|>yes",
            "[THINK]no[/THINK]yes",
            "no[/THINK]yes",
            "◁think▷no◁/think▷yes",
            "no◁/think▷yes",
            "<|channel|>analysis<|message|>no<|channel|>final yes",
            "analysisWe say no.assistantfinal yes",
            "<|channel>thought\nno<channel|>yes",
            "<|START_THINKING|>no<|END_THINKING|>yes",
            "<|begin_of_thought|>no<|end_of_thought|>yes",
            "<unused94>thought no<unused95>yes",
            "Here is my thought process: no Here is my response: yes",
            "```thinking\nno\n```\nyes",
        ] {
            assert_eq!(kept(text), "yes", "{text}");
        }
        let harmony =
            "<|channel|>analysis<|message|>no<|end|><|start|>assistant<|channel|>final<|message|>yes<|return|>";
        assert!(kept(harmony).contains("yes") && !kept(harmony).contains("no"), "{}", kept(harmony));
    }

    #[test]
    fn a_tag_inside_an_answer_or_in_other_text_is_data() {
        for text in [
            r#"{"a": "uses <think> tags"} end"#,
            r#"{"a": "closes with </think>"} end"#,
            "a < b and [thinking](x) and <thin> and `<b>`",
            "yes <|end|>",
        ] {
            assert_eq!(kept(text), text);
        }
    }

    #[test]
    fn many_markers_take_linear_time() {
        let parts =
            ["<thought>x</think>", "<think>", "</think>", "{\"a\": <think>", "{a <think>", "[THINK", "◁", "```\n"];
        for part in parts {
            let start = std::time::Instant::now();
            kept(&part.repeat(200_000 / part.len()));
            assert!(start.elapsed() < std::time::Duration::from_secs(20), "{part}");
        }
    }
}
