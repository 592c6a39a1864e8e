//! Plans half a year in advance: when each episode happens, what is learned from it, and what happens to the memories.

use butler_domain::{Permanence, Relation, Timestamp};
use chrono::{Datelike, TimeDelta, Weekday};
use uuid::Uuid;

use super::life::{DemoEntity, FinalState, Known, Life, Story, Talk};
use super::rng::Rng;

/// Number of days before today that the demo covers.
pub const DAYS: usize = 180;
/// A fixed seed, so that the demo is the same on every machine.
const SEED: u64 = 0x00b0_71e5;
/// Planned episodes per memory. Together with the facts this is more than 1, because some episodes expire.
const EPISODES_SHARE: f64 = 0.62;
/// Planned facts per memory.
const FACTS_SHARE: f64 = 0.43;
/// Number of versions of a fact; one of these is picked at random.
const VERSIONS: [usize; 12] = [1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5];
/// Number of versions of a fact about an acquaintance.
const FEW_VERSIONS: [usize; 5] = [1, 1, 1, 1, 2];

pub struct Plan {
    pub owner: String,
    pub known: Known,
    pub entities: Vec<DemoEntity>,
    /// The facts of each subject and predicate.
    pub chains: Vec<Chain>,
    pub days: Vec<Day>,
}

#[derive(Debug, Default)]
pub struct Day {
    pub midnight: Timestamp,
    pub episodes: Vec<PlannedEpisode>,
    /// Actions after the episodes, in chronological order.
    pub actions: Vec<(Timestamp, Action)>,
}

#[derive(Debug)]
pub struct PlannedEpisode {
    pub at: Timestamp,
    pub butler: String,
    pub session: Uuid,
    pub content: String,
    pub importance: f64,
    pub poison: bool,
    /// The chain and version of the fact that is learned from it.
    pub learned: Option<(usize, usize)>,
    /// The rule that it suggests.
    pub suggests: Option<usize>,
}

/// All versions of one fact.
#[derive(Debug)]
pub struct Chain {
    pub subject: String,
    pub entity: Option<usize>,
    pub predicate: String,
    pub permanence: Permanence,
    pub importance: f64,
    pub tags: Vec<String>,
    pub scope: &'static str,
    /// Whether the nightly consolidation learns the fact; otherwise the agent stores it immediately.
    pub consolidated: bool,
    /// The contents of the versions, oldest first.
    pub values: Vec<String>,
}

#[derive(Debug)]
pub enum Action {
    Confirm(usize),
    Retract(usize),
    Link(usize, usize, Relation),
    StoreRule(usize),
    Mark {
        rule: usize,
        helpful: bool,
        reason: Option<String>,
    },
    ForgetRule(usize),
    ConfirmRule(usize),
    ForgetEpisode,
    /// Merges the first entity into the second.
    Merge(usize, usize),
    Recall(String),
}

pub fn plan(life: &Life, size: usize, now: Timestamp) -> Plan {
    let mut planner = Planner::new(life, now);
    planner.stories((size as f64 * FACTS_SHARE) as usize);
    planner.talk((size as f64 * EPISODES_SHARE) as usize);
    planner.rules();
    planner.later_changes();
    planner.daily();
    planner.finish()
}

struct Planner<'a> {
    life: &'a Life,
    rng: Rng,
    now: Timestamp,
    plan: Plan,
    episodes: usize,
}

impl<'a> Planner<'a> {
    fn new(life: &'a Life, now: Timestamp) -> Self {
        let today = now.date_naive();
        let midnight = |back: usize| today.and_time(chrono::NaiveTime::MIN).and_utc() - TimeDelta::days(back as i64);
        let days = (0..=DAYS).rev().map(|back| Day { midnight: midnight(back), ..Day::default() }).collect();
        let (owner, known) = (life.person.clone(), life.known.clone());
        let plan = Plan { owner, known, entities: life.entities.clone(), chains: Vec::new(), days };
        Self { life, rng: Rng::new(SEED), now, plan, episodes: 0 }
    }

    /// Returns a time during the day, not later than now.
    fn time(&mut self, day: usize) -> Timestamp {
        let midnight = self.plan.days[day].midnight;
        let awake = TimeDelta::seconds(7 * 3600 + self.rng.below(15 * 3600) as i64);
        let latest = self.now - TimeDelta::minutes(1);
        (midnight + awake).min(latest).max(midnight)
    }

    /// Plans a chain of one to five versions for every subject of each story, then adds acquaintances until there are
    /// enough facts.
    fn stories(&mut self, facts: usize) {
        let life = self.life;
        let mut subjects: Vec<(usize, Option<usize>)> = Vec::new();
        for (at, story) in life.stories.iter().enumerate() {
            if story.of.iter().any(|kind| kind == "self") {
                subjects.push((at, None));
            }
            for (entity, _) in life.entities.iter().enumerate().filter(|(_, entity)| story.fits(entity)) {
                subjects.push((at, Some(entity)));
            }
        }
        self.rng.shuffle(&mut subjects);
        let mut planned = 0;
        for (story, entity) in subjects {
            planned += self.chain(&life.stories[story], entity, &VERSIONS);
        }
        for entity in life.acquaintances(usize::MAX) {
            if planned >= facts {
                break;
            }
            self.plan.entities.push(entity);
            let entity = self.plan.entities.len() - 1;
            for story in life.stories.iter().filter(|story| story.of.iter().any(|kind| kind == "acquaintance")) {
                if self.rng.chance(0.9) {
                    planned += self.chain(story, Some(entity), &FEW_VERSIONS);
                }
            }
        }
    }

    /// Plans all versions of a fact and their episodes. Returns the number of versions.
    fn chain(&mut self, story: &Story, entity: Option<usize>, versions: &[usize]) -> usize {
        let subject = entity.map_or_else(|| self.life.person.clone(), |at| self.plan.entities[at].name.clone());
        let work = story.tags.iter().any(|tag| matches!(tag.as_str(), "team" | "project" | "operations" | "work"));
        let most = story.values.len().min(5);
        let versions = self.rng.pick(versions).copied().unwrap_or(1).min(most);
        let offset = if story.ordered { 0 } else { self.rng.below(story.values.len()) };
        let values: Vec<String> =
            (0..versions).map(|version| story.values[(offset + version) % story.values.len()].clone()).collect();
        // A duplicate is merged half-way; afterwards no episode uses its name.
        let duplicate = entity.is_some_and(|at| self.plan.entities[at].merge_into.is_some());
        let last_day = if duplicate { DAYS / 2 - 5 } else { DAYS - 1 };
        let mut days: Vec<usize> = (0..versions).map(|_| self.rng.between(1, last_day)).collect();
        days.sort_unstable();
        days.dedup();
        let chain = self.plan.chains.len();
        for (version, day) in days.iter().copied().enumerate() {
            let template = self.rng.pick(&story.episodes).cloned().unwrap_or_default();
            let given = [("who", subject.as_str()), ("value", values[version].as_str())];
            let content = self.life.fill(&template, &given, &mut self.rng);
            let butler = if work { "work" } else { "demo" };
            self.add_episode(day, butler, content, story.importance - 1.0, false, Some((chain, version)));
        }
        let versions = days.len();
        self.plan.chains.push(Chain {
            subject,
            entity,
            predicate: story.predicate.clone(),
            permanence: story.permanence,
            importance: story.importance,
            tags: story.tags.clone(),
            scope: if work { "work" } else { "global" },
            consolidated: !work && !duplicate && self.rng.chance(0.55),
            values,
        });
        versions
    }

    fn add_episode(
        &mut self,
        day: usize,
        butler: &str,
        content: String,
        importance: f64,
        poison: bool,
        learned: Option<(usize, usize)>,
    ) {
        let at = self.time(day);
        // Episodes of the same butler within four hours share a session.
        let session =
            Rng::new(SEED ^ ((day as u64) << 8) ^ (at.timestamp() as u64 / 14_400) ^ butler.len() as u64).number();
        let session = Uuid::from_u128((u128::from(session) << 64) | u128::from(session.rotate_left(17)));
        let butler = butler.to_owned();
        self.plan.days[day].episodes.push(PlannedEpisode {
            at,
            butler,
            session,
            content,
            importance,
            poison,
            learned,
            suggests: None,
        });
        self.episodes += 1;
    }

    /// Adds episodes without facts until there are enough.
    fn talk(&mut self, episodes: usize) {
        let life = self.life;
        let of = |butler: &str| life.talks.iter().find(|talk| talk.butler == butler);
        while self.episodes < episodes {
            let day = self.rng.below(DAYS + 1);
            let weekday = self.plan.days[day].midnight.weekday();
            let at_work = !matches!(weekday, Weekday::Sat | Weekday::Sun) && self.rng.chance(0.6);
            let Some(talk) = of(if at_work { "work" } else { "demo" }) else { return };
            self.add_talk(day, talk);
        }
        // Today's episodes wait for the next consolidation. Those of the last two days wait for a retry.
        let recent = [(DAYS, "demo"), (DAYS, "work"), (DAYS, "demo"), (DAYS, "work"), (DAYS, "demo")];
        let failing =
            [(DAYS - 1, "work"), (DAYS - 1, "work"), (DAYS - 1, "work"), (DAYS - 2, "work"), (DAYS - 2, "work")];
        for (day, butler) in recent.into_iter().chain(failing) {
            if let Some(talk) = of(butler) {
                self.add_talk(day, talk);
            }
        }
        if let Some(talk) = of("inbox") {
            for day in [20, 21, 77, 130, 131, 158] {
                self.add_talk(day, talk);
            }
        }
    }

    fn add_talk(&mut self, day: usize, talk: &Talk) {
        let template = self.rng.pick(&talk.texts).cloned().unwrap_or_default();
        let content = self.life.fill(&template, &[], &mut self.rng);
        let importance = self.rng.between(2, 6) as f64;
        self.add_episode(day, &talk.butler, content, importance, talk.poison, None);
    }

    fn add_action(&mut self, day: usize, action: Action) {
        let at = self.time(day);
        self.plan.days[day].actions.push((at, action));
    }

    /// Plans when each rule is stored, and the marks that lead to its final state.
    fn rules(&mut self) {
        for (rule, rule_plan) in self.life.rules.iter().enumerate() {
            let (first, last) = match rule_plan.final_state {
                FinalState::Proven => (3, 70),
                FinalState::Fading => (10, 60),
                FinalState::AntiPattern | FinalState::Demoted | FinalState::Forgotten => (20, 90),
                FinalState::Established | FinalState::Candidate => (95, 165),
            };
            let born = self.rng.between(first, last);
            let butler = rule_plan.scope.as_deref().unwrap_or("demo");
            self.add_episode(born, butler, rule_plan.episode.clone(), 5.0, false, None);
            if let Some(episode) = self.plan.days[born].episodes.last_mut() {
                episode.suggests = Some(rule);
            }
            self.add_action(born, Action::StoreRule(rule));
            let marks = match rule_plan.final_state {
                FinalState::Proven => (self.rng.between(17, 32), 0),
                FinalState::Established => (self.rng.between(6, 12), 0),
                FinalState::Candidate => (self.rng.between(0, 4), usize::from(self.rng.chance(0.3))),
                FinalState::Demoted => (7, rule_plan.reasons.len()),
                FinalState::AntiPattern => (self.rng.below(2), rule_plan.reasons.len()),
                FinalState::Fading | FinalState::Forgotten => (self.rng.below(3), 0),
            };
            let span = match rule_plan.final_state {
                FinalState::Fading => born + 12,
                FinalState::Forgotten => DAYS - 21,
                _ => DAYS - 1,
            };
            let middle = born + (span - born) / 2;
            for _ in 0..marks.0 {
                // A rule that fails later helps at first.
                let until = if marks.1 > 0 { middle } else { span };
                let day = self.rng.between((born + 1).min(until), until);
                self.add_action(day, Action::Mark { rule, helpful: true, reason: None });
            }
            for at in 0..marks.1 {
                let day = self.rng.between((middle + 1).min(span), span);
                let reason = rule_plan.reasons.get(at).cloned();
                self.add_action(day, Action::Mark { rule, helpful: false, reason });
            }
            match rule_plan.final_state {
                FinalState::Forgotten => self.add_action(DAYS - 20, Action::ForgetRule(rule)),
                FinalState::Proven | FinalState::Established | FinalState::AntiPattern => {
                    let day = self.rng.between(born.max(DAYS - 40), DAYS - 1);
                    self.add_action(day, Action::ConfirmRule(rule));
                }
                FinalState::Candidate | FinalState::Demoted | FinalState::Fading => {}
            }
        }
    }

    /// Plans what happens to the facts: some are confirmed, a few are retracted, and some are linked.
    fn later_changes(&mut self) {
        let direct: Vec<usize> =
            (0..self.plan.chains.len()).filter(|chain| !self.plan.chains[*chain].consolidated).collect();
        for chain in direct.iter().copied() {
            let last = self.last_day_of(chain);
            let room = (DAYS - 1).saturating_sub(last);
            if room > 3 && self.rng.chance(0.3) {
                let day = self.rng.between(last + 1, DAYS - 1);
                self.add_action(day, Action::Confirm(chain));
            } else if room > 3 && self.rng.chance(0.05) {
                let day = self.rng.between(last + 1, DAYS - 1);
                self.add_action(day, Action::Retract(chain));
            }
        }
        // Facts about the same subject with a tag in common belong together.
        for (place, &a) in direct.iter().enumerate() {
            let fits = |b: &usize| {
                let (a, b) = (&self.plan.chains[a], &self.plan.chains[*b]);
                a.subject == b.subject && a.scope == b.scope && a.tags.iter().any(|tag| b.tags.contains(tag))
            };
            let Some(b) = direct[place + 1..].iter().copied().find(fits) else { continue };
            let day = self.last_day_of(a).max(self.last_day_of(b));
            if day < DAYS {
                self.add_action(day, Action::Link(a, b, Relation::RelatedTo));
            }
        }
        for entity in 0..self.plan.entities.len() {
            let Some(target) = self.plan.entities[entity].merge_into.clone() else { continue };
            if let Some(target) = self.plan.entities.iter().position(|other| other.name == target) {
                self.add_action(DAYS / 2, Action::Merge(entity, target));
            }
        }
    }

    fn last_day_of(&self, chain: usize) -> usize {
        let teaches = |day: &Day| day.episodes.iter().any(|episode| episode.learned.is_some_and(|(of, _)| of == chain));
        self.plan.days.iter().rposition(teaches).unwrap_or(0)
    }

    /// Plans two recalls a day, and occasionally an episode to forget.
    fn daily(&mut self) {
        for day in 1..=DAYS {
            for _ in 0..2 {
                if let Some(query) = self.rng.pick(&self.life.queries).cloned() {
                    self.add_action(day, Action::Recall(query));
                }
            }
            if day % 45 == 0 {
                self.add_action(day, Action::ForgetEpisode);
            }
        }
    }

    fn finish(mut self) -> Plan {
        for day in &mut self.plan.days {
            day.episodes.sort_by_key(|episode| episode.at);
            // Store a rule before it is marked on the same day.
            day.actions.sort_by_key(|(at, action)| (!matches!(action, Action::StoreRule(_)), *at));
        }
        self.plan
    }
}
