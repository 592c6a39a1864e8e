//! What needs a person's attention, and a summary in one sentence.

use butler_memory::CLOCK_HINT;
use butler_memory::browse::Figures;

use super::figures::{Attention, Severity, StatsView};

/// Fewer fading memories than this are normal.
const MANY_FADING: i64 = 10;

/// What concerns single butlers: one item for each problem, which names them.
pub fn of_butlers(parts: &[(String, Figures)]) -> Vec<Attention> {
    let names = |with: &dyn Fn(&Figures) -> bool| -> Vec<&str> {
        parts.iter().filter(|(_, part)| with(part)).map(|(name, _)| name.as_str()).collect()
    };
    let mut found = Vec::new();
    let in_doubt = names(&|part| part.clock_doubt.is_some());
    if let Some(reason) = parts.iter().find_map(|(_, part)| part.clock_doubt.as_ref()) {
        let names = in_doubt.join(", ");
        let message = format!("nothing is deleted or expired (butler {names}), because {reason}: {CLOCK_HINT}");
        let count = in_doubt.len() as i64;
        found.push(Attention { what: "clock", severity: Severity::High, count, message, page: "/settings" });
    }
    let crowded = names(&|part| part.many_unlearned);
    if !crowded.is_empty() {
        let message = format!(
            "so many episodes wait to be learned from (butler {}) that the oldest will expire: configure an LLM, requeue \
             dead letters, or raise max_unlearned",
            crowded.join(", ")
        );
        let (count, page) = (crowded.len() as i64, "/memory/episodes?status=pending");
        found.push(Attention { what: "many_unlearned", severity: Severity::Medium, count, message, page });
    }
    found
}

/// Everything that needs attention, the most urgent first, including what concerns single butlers.
pub fn list(view: &StatsView, unavailable: &[String], of_butlers: Vec<Attention>) -> Vec<Attention> {
    let mut all = of_butlers;
    let mut add = |what, severity, count: i64, page, message: String| {
        if count > 0 {
            all.push(Attention { what, severity, count, message, page });
        }
    };
    for name in unavailable {
        let message = format!("the butler {name} does not respond; the figures do not include what it stores");
        add("butler_unavailable", Severity::High, 1, "/settings", message);
    }
    let (pipeline, episodes) = (&view.pipeline, &view.episodes.states);
    let dead = pipeline.dead_letters;
    add("dead_letters", Severity::High, dead, "/memory/episodes?status=dead_letter", {
        format!("consolidation of {} has failed after all attempts", count(dead, "episode"))
    });
    let failed = i64::from(pipeline.last_run_status.as_deref() == Some("failed"));
    let reason = pipeline.last_run_error.clone().unwrap_or_else(|| "no reason was recorded".to_owned());
    add(
        "consolidation_failed",
        Severity::High,
        failed,
        "/settings",
        format!("the last consolidation failed: {reason}"),
    );
    let expiring = episodes.expiring_unconsolidated_24h;
    add("expiring_unlearned", Severity::High, expiring, "/memory/episodes?status=pending", {
        format!("{} will expire within a day without having been consolidated", count(expiring, "episode"))
    });
    let waiting = if pipeline.runtime_configured { 0 } else { episodes.unconsolidated };
    add("no_runtime", Severity::Medium, waiting, "/settings", {
        format!("{} for consolidation, but no LLM is configured", waits(waiting))
    });
    add("failed_episodes", Severity::Medium, pipeline.failed, "/memory/episodes?status=failed", {
        format!("consolidation of {} failed and will be tried again", count(pipeline.failed, "episode"))
    });
    let soon = view.facts.expiring_7d;
    add("expiring_facts", Severity::Medium, soon, "/facts?validity=fading&sort=least_confident", {
        format!("{} will expire within a week unless confirmed", count(soon, "fact"))
    });
    let fading = if view.fading >= MANY_FADING { view.fading } else { 0 };
    add("fading", Severity::Low, fading, "/facts?validity=fading", {
        format!("{fading} memories are fading: confirm those that are still true")
    });
    let turning = view.effectiveness.needs_inversion;
    add("needs_inversion", Severity::Low, turning, "/rules", {
        format!("{} did harm and will be turned into a warning", count(turning, "rule"))
    });
    all.sort_by_key(|item| item.severity);
    all
}

/// The state of the memory in one sentence.
pub fn sentence(view: &StatsView) -> String {
    let (facts, rules) = (view.facts.known, view.rules.known);
    let episodes = view.episodes.states.total;
    if facts + rules + episodes == 0 {
        return "Nothing is remembered yet.".to_owned();
    }
    let known = format!("{} and {} are known", count(facts, "fact"), count(rules, "rule"));
    let waiting = match view.episodes.states.unconsolidated {
        0 => "no episodes wait for consolidation".to_owned(),
        waiting => format!("{} for consolidation", waits(waiting)),
    };
    let fading = match view.fading {
        0 => "nothing is fading".to_owned(),
        1 => "one memory is fading".to_owned(),
        fading => format!("{fading} memories are fading"),
    };
    format!("{known}; {waiting}; {fading}.")
}

fn count(number: i64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn waits(number: i64) -> String {
    if number == 1 { "1 episode waits".to_owned() } else { format!("{number} episodes wait") }
}
