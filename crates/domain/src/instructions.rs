//! Recognizes text that gives orders to an agent instead of informing it.
//!
//! The check is meant for untrusted text such as web pages and tool output. It decides nothing; whoever calls it keeps
//! flagged text back until a person has approved it. It knows fixed phrases, so an unusual wording can pass: approval of
//! what is derived from untrusted text remains the real protection.

mod blob;
mod fold;
mod hidden;
mod markers;
mod phrases;

#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};
use std::ops::Range;

use crate::text::without_control;

/// The limit on an excerpt, in characters. It is shown in lists.
const EXCERPT_CHARS: usize = 120;
/// Shown on each side of the match, in bytes.
const EXCERPT_CONTEXT: usize = 20;

/// Why a text is suspicious.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Reason {
    pub kind: Kind,
    /// The passage, on one line and without invisible characters.
    pub excerpt: String,
}

/// What a suspicious passage tries to make an agent do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ReasonKind")]
pub enum Kind {
    /// Tells the agent to drop its instructions.
    Override,
    /// Gives the agent a lasting order or one to hide something.
    Command,
    /// Gives the agent another role, imitates the marks of a prompt, or asks for the system prompt.
    RolePlay,
    /// Imitates the syntax of tool calls.
    ToolCall,
    /// Hides text in invisible or reordering characters.
    HiddenUnicode,
    /// Hides text or data in an encoding.
    Blob,
    /// Asks to send data away.
    Exfiltration,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Override => "tells the agent to ignore its instructions",
            Self::Command => "gives orders to the agent",
            Self::RolePlay => "changes the agent's role or its prompt",
            Self::ToolCall => "contains the syntax of a tool call",
            Self::HiddenUnicode => "contains hidden characters",
            Self::Blob => "contains encoded data",
            Self::Exfiltration => "asks to send data away",
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.excerpt)
    }
}

/// The reasons to distrust a text, at most one of each kind, in the order of [`Kind`]. An ordinary text has none.
pub fn suspicious(text: &str) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = phrases::find(text).into_iter().map(|hit| hit.reason(text)).collect();
    reasons.extend(markers::find(text).into_iter().map(|hit| hit.reason(text)));
    reasons.extend(hidden::find(text));
    reasons.extend(blob::find(text).map(|hit| hit.reason(text)));
    reasons.sort_by_key(|reason| reason.kind);
    reasons.dedup_by_key(|reason| reason.kind);
    reasons
}

/// A suspicious passage of a text.
struct Hit {
    kind: Kind,
    span: Range<usize>,
}

impl Hit {
    fn reason(&self, text: &str) -> Reason {
        let start = text.floor_char_boundary(self.span.start.saturating_sub(EXCERPT_CONTEXT));
        let end = text.ceil_char_boundary((self.span.end + EXCERPT_CONTEXT).min(text.len()));
        let visible: String = text[start..end].chars().filter(|c| !hidden::is_invisible(*c)).collect();
        let line = without_control(&visible);
        let mut excerpt: String = line.trim().chars().take(EXCERPT_CHARS).collect();
        if excerpt.len() < line.trim().len() {
            excerpt.push('…');
        }
        Reason { kind: self.kind, excerpt }
    }
}
