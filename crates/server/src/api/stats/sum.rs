//! Adds up the figures of several butlers.

use butler_domain::Timestamp;
use butler_memory::browse::{
    BacklogDay, CONFIDENCE_BINS, EFFECTIVENESS_BINS, Effectiveness, EpisodeStats, FactStats, Figures, PermanenceStats,
    RuleStats, RunRow,
};

use super::figures::{
    ByMaturity, ByStatus, ConfidenceFigures, EffectivenessFigures, EpisodeFigures, FactFigures, RuleFigures, StatsView,
};

pub fn total(parts: impl Iterator<Item = Figures>, now: Timestamp) -> StatsView {
    let mut view = nothing();
    let (mut marked, mut effect, mut last): (i64, f64, Option<RunRow>) = (0, 0.0, None);
    for part in parts {
        facts(&mut view.facts, &part);
        rules(&mut view.rules, &part);
        episodes(&mut view.episodes, &part);
        view.entities += part.entities;
        confidence(&mut view.confidence, &part);
        days(&mut view.backlog, &part.backlog);
        let of_part: i64 = part.effectiveness.bins.iter().sum();
        effect += part.effectiveness.mean.unwrap_or(0.0) * of_part as f64;
        marked += of_part;
        effectiveness(&mut view.effectiveness, &part);
        view.pipeline.facts_produced += part.produced.facts;
        view.pipeline.rules_produced += part.produced.rules;
        view.pipeline.runtime_configured |= part.runtime;
        view.pipeline.next_run_at = [view.pipeline.next_run_at, part.next_run_at].into_iter().flatten().min();
        let newer = |run: &RunRow| last.as_ref().is_none_or(|last| run.started_at > last.started_at);
        if part.last_run.as_ref().is_some_and(newer) {
            last = part.last_run;
        }
    }
    view.effectiveness.mean = (marked > 0).then(|| effect / marked as f64);
    let episodes = &view.episodes.states;
    view.pipeline.pending = episodes.unconsolidated;
    view.pipeline.failed = episodes.failed;
    view.pipeline.dead_letters = episodes.dead_letter;
    view.pipeline.consolidated = episodes.consolidated;
    if let Some(run) = last {
        view.pipeline.last_run_at = Some(run.started_at.min(now));
        view.pipeline.last_run_status = Some(run.status);
        view.pipeline.last_run_error = run.error;
    }
    view.fading = view.facts.states.fading + view.rules.states.fading;
    view
}

fn nothing() -> StatsView {
    StatsView {
        confidence: ConfidenceFigures {
            facts: vec![0; CONFIDENCE_BINS],
            rules: vec![0; CONFIDENCE_BINS],
            ..ConfidenceFigures::default()
        },
        effectiveness: EffectivenessFigures { bins: vec![0; EFFECTIVENESS_BINS], ..EffectivenessFigures::default() },
        ..StatsView::default()
    }
}

/// Adds the fields of a struct to those of the same name, except the ones after the semicolon. To forget a field is a compile
/// error.
macro_rules! add_fields {
    ($sum:expr, $part:expr, $type:ident { $($field:ident),+ $(; $($other:ident),+)? }) => {{
        let $type { $($field,)+ $($($other: _,)+)? } = $part;
        $($sum.$field += $field;)+
    }};
}

fn facts(sum: &mut FactFigures, part: &Figures) {
    add_fields!(sum.states, &part.stats.facts, FactStats { total, active, fading, superseded, expired, retracted });
    sum.known = sum.states.known();
    sum.expiring_7d += part.confidence.expiring_7d;
    let by_permanence = &part.stats.by_permanence;
    add_fields!(sum.by_permanence, by_permanence, PermanenceStats { permanent, stable, standard, volatile, ephemeral });
}

fn rules(sum: &mut RuleFigures, part: &Figures) {
    let all = &mut sum.states;
    add_fields!(
        all,
        &part.stats.rules,
        RuleStats { total, candidate, established, proven, anti_pattern, forgotten, fading }
    );
    sum.known = all.known();
    sum.by_maturity = ByMaturity {
        candidate: all.candidate,
        established: all.established,
        proven: all.proven,
        anti_pattern: all.anti_pattern,
    };
}

fn episodes(sum: &mut EpisodeFigures, part: &Figures) {
    let (all, one) = (&mut sum.states, &part.stats.episodes);
    add_fields!(
        all,
        one,
        EpisodeStats {
            total, unconsolidated, consolidated, failed, dead_letter, expired, expiring_unconsolidated_24h; backlog_age_hours
        }
    );
    let ages = [all.backlog_age_hours, one.backlog_age_hours].into_iter().flatten();
    all.backlog_age_hours = ages.max_by(f64::total_cmp);
    sum.by_status = ByStatus {
        pending: all.unconsolidated,
        consolidated: all.consolidated,
        failed: all.failed,
        dead_letter: all.dead_letter,
    };
}

fn confidence(sum: &mut ConfidenceFigures, part: &Figures) {
    add(&mut sum.facts, &part.confidence.facts);
    add(&mut sum.rules, &part.confidence.rules);
    // Where butlers differ, the highest threshold gives the earliest warning.
    sum.retrieval_threshold = sum.retrieval_threshold.max(part.retrieval_threshold);
    sum.expiry_threshold = sum.expiry_threshold.max(part.expiry_threshold);
}

fn effectiveness(sum: &mut EffectivenessFigures, part: &Figures) {
    let one = &part.effectiveness;
    add(&mut sum.bins, &one.bins);
    add_fields!(
        sum,
        one,
        Effectiveness { never_applied, applications, helpful, harmful, needs_inversion; bins, mean }
    );
}

fn add(sum: &mut [i64], part: &[i64]) {
    sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
}

/// Adds the backlog day by day; all butlers report the same days.
fn days(sum: &mut Vec<BacklogDay>, part: &[BacklogDay]) {
    if sum.is_empty() {
        sum.extend_from_slice(part);
        return;
    }
    for (all, one) in sum.iter_mut().zip(part) {
        add_fields!(all, one, BacklogDay { created, consolidated, waiting; day });
    }
}
