//! Selects the lines that fit into two budgets at once, characters and tokens. Neither is ever exceeded.

use uuid::Uuid;

use super::{CHARS_PER_TOKEN, Packed, TokenCounter};
use crate::clock::Timestamp;

/// A line that may be included. Lines are given in the order of their importance.
pub(super) struct Line {
    id: Uuid,
    /// Lines with a time are shown in its order, before those without.
    time: Option<Timestamp>,
    text: String,
    chars: usize,
    /// Computed on first use: tokenizing is expensive and unnecessary for a line that has too many characters.
    tokens: Option<usize>,
    included: bool,
}

impl Line {
    pub(super) fn new(id: Uuid, text: String) -> Self {
        let chars = text.chars().count();
        Self { id, time: None, text, chars, tokens: None, included: false }
    }

    pub(super) fn shown_at(self, time: Timestamp) -> Self {
        Self { time: Some(time), ..self }
    }
}

pub(super) struct Section {
    title: &'static str,
    share: f64,
    lines: Vec<Line>,
    /// Whether a line is included, so that the title's cost has been counted.
    has_title: bool,
}

impl Section {
    pub(super) fn new(title: &'static str, share: f64, lines: Vec<Line>) -> Self {
        Self { title, share, lines, has_title: false }
    }
}

#[derive(Clone, Copy)]
struct Cost {
    chars: usize,
    tokens: usize,
}

impl Cost {
    fn of(text: &str, counter: &dyn TokenCounter) -> Self {
        Self { chars: text.chars().count(), tokens: counter.count(text) }
    }

    fn plus(self, other: Self) -> Self {
        let (chars, tokens) = (self.chars.saturating_add(other.chars), self.tokens.saturating_add(other.tokens));
        Self { chars, tokens }
    }

    fn within(self, limit: Self) -> bool {
        self.chars <= limit.chars && self.tokens <= limit.tokens
    }

    fn share(self, fraction: f64) -> Self {
        let part = |total: usize| ((total as f64 * fraction.clamp(0.0, 1.0)).floor() as usize).min(total);
        Self { chars: part(self.chars), tokens: part(self.tokens) }
    }
}

pub(super) fn pack(
    header: &str,
    mut sections: [Section; 3],
    token_budget: usize,
    counter: &dyn TokenCounter,
) -> Packed {
    let budget = Cost { chars: token_budget.saturating_mul(CHARS_PER_TOKEN), tokens: token_budget };
    let mut used = Cost::of(header, counter);
    if !used.within(budget) {
        return Packed { text: String::new(), tokens: 0, ids: Default::default() };
    }
    let start = used;
    let free = Cost { chars: budget.chars - used.chars, tokens: budget.tokens - used.tokens };
    // A section's limit is the sum of all shares up to it, so budget that one section leaves unused passes to the next.
    let mut cumulative_share = 0.0;
    for section in &mut sections {
        cumulative_share += section.share;
        fill(section, &mut used, start.plus(free.share(cumulative_share)), counter);
    }
    for section in &mut sections {
        fill(section, &mut used, budget, counter);
    }
    finish(header, sections, budget, counter)
}

/// Includes every line that still fits, in order. A line that is too large is skipped; later ones may still fit.
fn fill(section: &mut Section, used: &mut Cost, limit: Cost, counter: &dyn TokenCounter) {
    // A share that is zero, negative or NaN omits the section.
    if section.lines.is_empty() || section.share.is_nan() || section.share <= 0.0 {
        return;
    }
    let title = Cost::of(section.title, counter);
    for line in section.lines.iter_mut().filter(|line| !line.included) {
        let before = if section.has_title { *used } else { used.plus(title) };
        if before.chars.saturating_add(line.chars) > limit.chars {
            continue;
        }
        let tokens = *line.tokens.get_or_insert_with(|| counter.count(&line.text));
        let after = before.plus(Cost { chars: line.chars, tokens });
        if after.within(limit) {
            (line.included, section.has_title, *used) = (true, true, after);
        }
    }
}

/// Renders the block. Its token count may exceed the sum over its lines, so the last lines are dropped until it fits.
fn finish(header: &str, mut sections: [Section; 3], budget: Cost, counter: &dyn TokenCounter) -> Packed {
    loop {
        let text = render(header, &sections);
        let cost = Cost::of(&text, counter);
        if cost.within(budget) {
            let ids = sections.map(|s| s.lines.into_iter().filter(|l| l.included).map(|l| l.id).collect());
            return Packed { text, tokens: cost.tokens, ids };
        }
        let last = sections.iter_mut().rev().find_map(|s| s.lines.iter_mut().rev().find(|l| l.included));
        match last {
            Some(line) => line.included = false,
            None => return Packed { text: String::new(), tokens: 0, ids: Default::default() },
        }
    }
}

fn render(header: &str, sections: &[Section; 3]) -> String {
    let mut text = header.to_owned();
    for section in sections {
        let mut lines: Vec<&Line> = section.lines.iter().filter(|line| line.included).collect();
        if !lines.is_empty() {
            text.push_str(section.title);
        }
        lines.sort_by_key(|line| line.time);
        lines.iter().for_each(|line| text.push_str(&line.text));
    }
    text
}
