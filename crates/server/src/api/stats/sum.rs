//! Adds up the figures of several butlers.

use butler_domain::Timestamp;
use butler_memory::browse::{
    BacklogDay, CONFIDENCE_BINS, EFFECTIVENESS_BINS, EpisodeStats, FactStats, Figures, RuleStats, RunRow,
};

use super::figures::{
    ByMaturity, ByPermanence, ByStatus, ConfidenceFigures, EffectivenessFigures, EpisodeFigures, FactFigures, Pipeline,
    RuleFigures, StatsView,
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
        summary: String::new(),
        facts: FactFigures {
            states: FactStats { total: 0, active: 0, fading: 0, superseded: 0, expired: 0, retracted: 0 },
            known: 0,
            by_permanence: ByPermanence::default(),
            expiring_7d: 0,
        },
        rules: RuleFigures {
            states: RuleStats {
                total: 0,
                candidate: 0,
                established: 0,
                proven: 0,
                anti_pattern: 0,
                forgotten: 0,
                fading: 0,
            },
            known: 0,
            by_maturity: ByMaturity::default(),
        },
        episodes: EpisodeFigures {
            states: EpisodeStats {
                total: 0,
                unconsolidated: 0,
                consolidated: 0,
                failed: 0,
                dead_letter: 0,
                expired: 0,
                expiring_unconsolidated_24h: 0,
                backlog_age_hours: None,
            },
            by_status: ByStatus::default(),
        },
        entities: 0,
        fading: 0,
        pipeline: Pipeline::default(),
        confidence: ConfidenceFigures {
            facts: vec![0; CONFIDENCE_BINS],
            rules: vec![0; CONFIDENCE_BINS],
            retrieval_threshold: 0.0,
            expiry_threshold: 0.0,
        },
        backlog: Vec::new(),
        effectiveness: EffectivenessFigures { bins: vec![0; EFFECTIVENESS_BINS], ..EffectivenessFigures::default() },
        attention: Vec::new(),
        butlers: Vec::new(),
    }
}

fn facts(sum: &mut FactFigures, part: &Figures) {
    let (all, one) = (&mut sum.states, &part.stats.facts);
    all.total += one.total;
    all.active += one.active;
    all.fading += one.fading;
    all.superseded += one.superseded;
    all.expired += one.expired;
    all.retracted += one.retracted;
    sum.known = all.known();
    sum.expiring_7d += part.confidence.expiring_7d;
    let (all, one) = (&mut sum.by_permanence, &part.stats.by_permanence);
    all.permanent += one.permanent;
    all.stable += one.stable;
    all.standard += one.standard;
    all.volatile += one.volatile;
    all.ephemeral += one.ephemeral;
}

fn rules(sum: &mut RuleFigures, part: &Figures) {
    let (all, one) = (&mut sum.states, &part.stats.rules);
    all.total += one.total;
    all.candidate += one.candidate;
    all.established += one.established;
    all.proven += one.proven;
    all.anti_pattern += one.anti_pattern;
    all.forgotten += one.forgotten;
    all.fading += one.fading;
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
    all.total += one.total;
    all.unconsolidated += one.unconsolidated;
    all.consolidated += one.consolidated;
    all.failed += one.failed;
    all.dead_letter += one.dead_letter;
    all.expired += one.expired;
    all.expiring_unconsolidated_24h += one.expiring_unconsolidated_24h;
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
    sum.never_applied += one.never_applied;
    sum.applications += one.applications;
    sum.helpful += one.helpful;
    sum.harmful += one.harmful;
    sum.needs_inversion += one.needs_inversion;
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
        all.created += one.created;
        all.consolidated += one.consolidated;
        all.waiting += one.waiting;
    }
}
