//! Half a year, decided before it happens: what is told when, what is learned from it, and what becomes of that.

use butler_domain::{Permanence, Relation, Timestamp};
use chrono::{Datelike, TimeDelta, Weekday};
use uuid::Uuid;

use super::dice::Dice;
use super::life::{Being, Fate, Life, Story, Talk};

/// How far back the life goes.
pub const DAYS: usize = 180;
/// The same life on every machine.
const SEED: u64 = 0x00b0_71e5;
/// Of all memories; the rest is facts. Some episodes expire on the way, and rules come on top.
const EPISODES_SHARE: f64 = 0.62;
const FACTS_SHARE: f64 = 0.43;
/// How often what is known of something changes; one of these is picked.
const VERSIONS: [usize; 12] = [1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5];
/// Of people one hears of now and then.
const FEW_VERSIONS: [usize; 5] = [1, 1, 1, 1, 2];

pub struct Plan {
    pub beings: Vec<Being>,
    /// Everything that is ever known about one subject and predicate, oldest first.
    pub chains: Vec<Chain>,
    pub days: Vec<Day>,
}

#[derive(Debug, Default)]
pub struct Day {
    pub midnight: Timestamp,
    pub episodes: Vec<Telling>,
    /// After the episodes, in order of time.
    pub deeds: Vec<(Timestamp, Deed)>,
}

#[derive(Debug)]
pub struct Telling {
    pub at: Timestamp,
    pub butler: String,
    pub session: Uuid,
    pub content: String,
    pub importance: f64,
    pub poison: bool,
    /// The chain and version of what is learned from it.
    pub learned: Option<(usize, usize)>,
}

#[derive(Debug)]
pub struct Chain {
    pub subject: String,
    pub being: Option<usize>,
    pub predicate: String,
    pub permanence: Permanence,
    pub importance: f64,
    pub tags: Vec<String>,
    pub scope: &'static str,
    /// By the nightly consolidation, or at once by the agent itself.
    pub consolidated: bool,
    pub values: Vec<String>,
}

#[derive(Debug)]
pub enum Deed {
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
    /// The first is the other one.
    Merge(usize, usize),
    Recall(String),
}

pub fn plan(life: &Life, size: usize, now: Timestamp) -> Plan {
    let mut planner = Planner::new(life, now);
    planner.stories((size as f64 * FACTS_SHARE) as usize);
    planner.talk((size as f64 * EPISODES_SHARE) as usize);
    planner.rules();
    planner.fates();
    planner.daily();
    planner.finish()
}

struct Planner<'a> {
    life: &'a Life,
    dice: Dice,
    now: Timestamp,
    plan: Plan,
    episodes: usize,
}

impl<'a> Planner<'a> {
    fn new(life: &'a Life, now: Timestamp) -> Self {
        let today = now.date_naive();
        let midnight = |back: usize| today.and_time(chrono::NaiveTime::MIN).and_utc() - TimeDelta::days(back as i64);
        let days = (0..=DAYS).rev().map(|back| Day { midnight: midnight(back), ..Day::default() }).collect();
        let plan = Plan { beings: life.entities.clone(), chains: Vec::new(), days };
        Self { life, dice: Dice::new(SEED), now, plan, episodes: 0 }
    }

    /// A time on that day at which people are awake, and which is not still to come.
    fn time(&mut self, day: usize) -> Timestamp {
        let midnight = self.plan.days[day].midnight;
        let awake = TimeDelta::seconds(7 * 3600 + self.dice.below(15 * 3600) as i64);
        let latest = self.now - TimeDelta::minutes(1);
        (midnight + awake).min(latest).max(midnight)
    }

    /// Chains of one to five versions about every subject a story fits, more acquaintances until there are enough facts.
    fn stories(&mut self, facts: usize) {
        let life = self.life;
        let mut known: Vec<(usize, Option<usize>)> = Vec::new();
        for (at, story) in life.stories.iter().enumerate() {
            if story.of.iter().any(|kind| kind == "self") {
                known.push((at, None));
            }
            for (being, _) in life.entities.iter().enumerate().filter(|(_, being)| story.fits(being)) {
                known.push((at, Some(being)));
            }
        }
        self.dice.shuffle(&mut known);
        let mut told = 0;
        for (story, being) in known {
            told += self.chain(&life.stories[story], being, &VERSIONS);
        }
        for being in life.acquaintances(usize::MAX) {
            if told >= facts {
                break;
            }
            self.plan.beings.push(being);
            let being = self.plan.beings.len() - 1;
            for story in life.stories.iter().filter(|story| story.of.iter().any(|kind| kind == "acquaintance")) {
                if self.dice.chance(0.9) {
                    told += self.chain(story, Some(being), &FEW_VERSIONS);
                }
            }
        }
    }

    /// One subject and predicate through time; returns how many versions it got.
    fn chain(&mut self, story: &Story, being: Option<usize>, versions: &[usize]) -> usize {
        let subject = being.map_or_else(|| self.life.person.clone(), |at| self.plan.beings[at].name.clone());
        let work = story.tags.iter().any(|tag| matches!(tag.as_str(), "team" | "project" | "operations" | "work"));
        let most = story.values.len().min(5);
        let versions = self.dice.pick(versions).copied().unwrap_or(1).min(most);
        let offset = if story.ordered { 0 } else { self.dice.below(story.values.len()) };
        let values: Vec<String> =
            (0..versions).map(|version| story.values[(offset + version) % story.values.len()].clone()).collect();
        // A duplicate is noticed half-way: afterwards nobody talks of it by that name.
        let duplicate = being.is_some_and(|at| self.plan.beings[at].merge_into.is_some());
        let last_day = if duplicate { DAYS / 2 - 5 } else { DAYS - 1 };
        let mut days: Vec<usize> = (0..versions).map(|_| self.dice.between(1, last_day)).collect();
        days.sort_unstable();
        days.dedup();
        let chain = self.plan.chains.len();
        for (version, day) in days.iter().copied().enumerate() {
            let template = self.dice.pick(&story.episodes).cloned().unwrap_or_default();
            let given = [("who", subject.as_str()), ("value", values[version].as_str())];
            let content = self.life.fill(&template, &given, &mut self.dice);
            let butler = if work { "work" } else { "demo" };
            self.tell(day, butler, content, story.importance - 1.0, false, Some((chain, version)));
        }
        let versions = days.len();
        self.plan.chains.push(Chain {
            subject,
            being,
            predicate: story.predicate.clone(),
            permanence: story.permanence,
            importance: story.importance,
            tags: story.tags.clone(),
            scope: if work { "work" } else { "global" },
            consolidated: !work && !duplicate && self.dice.chance(0.55),
            values,
        });
        versions
    }

    fn tell(
        &mut self,
        day: usize,
        butler: &str,
        content: String,
        importance: f64,
        poison: bool,
        learned: Option<(usize, usize)>,
    ) {
        let at = self.time(day);
        // What is told within a few hours belongs to one session.
        let session =
            Dice::new(SEED ^ ((day as u64) << 8) ^ (at.timestamp() as u64 / 14_400) ^ butler.len() as u64).number();
        let session = Uuid::from_u128((u128::from(session) << 64) | u128::from(session.rotate_left(17)));
        let butler = butler.to_owned();
        self.plan.days[day].episodes.push(Telling { at, butler, session, content, importance, poison, learned });
        self.episodes += 1;
    }

    fn talk(&mut self, episodes: usize) {
        let life = self.life;
        let of = |butler: &str| life.talks.iter().find(|talk| talk.butler == butler);
        while self.episodes < episodes {
            let day = self.dice.below(DAYS + 1);
            let weekday = self.plan.days[day].midnight.weekday();
            let at_work = !matches!(weekday, Weekday::Sat | Weekday::Sun) && self.dice.chance(0.6);
            let Some(talk) = of(if at_work { "work" } else { "demo" }) else { return };
            self.say(day, talk);
        }
        // Today, so that something waits for the night; and before, so that something waits for another attempt.
        let recent = [(DAYS, "demo"), (DAYS, "work"), (DAYS, "demo"), (DAYS, "work"), (DAYS, "demo")];
        let failing =
            [(DAYS - 1, "work"), (DAYS - 1, "work"), (DAYS - 1, "work"), (DAYS - 2, "work"), (DAYS - 2, "work")];
        for (day, butler) in recent.into_iter().chain(failing) {
            if let Some(talk) = of(butler) {
                self.say(day, talk);
            }
        }
        if let Some(talk) = of("inbox") {
            for day in [20, 21, 77, 130, 131, 158] {
                self.say(day, talk);
            }
        }
    }

    fn say(&mut self, day: usize, talk: &Talk) {
        let template = self.dice.pick(&talk.texts).cloned().unwrap_or_default();
        let content = self.life.fill(&template, &[], &mut self.dice);
        let importance = self.dice.between(2, 6) as f64;
        self.tell(day, &talk.butler, content, importance, talk.poison, None);
    }

    fn deed(&mut self, day: usize, deed: Deed) {
        let at = self.time(day);
        self.plan.days[day].deeds.push((at, deed));
    }

    /// Each rule is stored on a day, and marked from then on according to its fate.
    fn rules(&mut self) {
        for (rule, guidance) in self.life.rules.iter().enumerate() {
            let (first, last) = match guidance.fate {
                Fate::Proven => (3, 70),
                Fate::Fading => (10, 60),
                Fate::AntiPattern | Fate::Demoted | Fate::Forgotten => (20, 90),
                Fate::Established | Fate::Candidate => (95, 165),
            };
            let born = self.dice.between(first, last);
            self.deed(born, Deed::StoreRule(rule));
            let marks = match guidance.fate {
                Fate::Proven => (self.dice.between(17, 32), 0),
                Fate::Established => (self.dice.between(6, 12), 0),
                Fate::Candidate => (self.dice.between(0, 4), usize::from(self.dice.chance(0.3))),
                Fate::Demoted => (7, guidance.reasons.len()),
                Fate::AntiPattern => (self.dice.below(2), guidance.reasons.len()),
                Fate::Fading | Fate::Forgotten => (self.dice.below(3), 0),
            };
            let span = match guidance.fate {
                Fate::Fading => born + 12,
                Fate::Forgotten => DAYS - 21,
                _ => DAYS - 1,
            };
            let middle = born + (span - born) / 2;
            for _ in 0..marks.0 {
                // Who disappoints helped before.
                let until = if marks.1 > 0 { middle } else { span };
                let day = self.dice.between((born + 1).min(until), until);
                self.deed(day, Deed::Mark { rule, helpful: true, reason: None });
            }
            for at in 0..marks.1 {
                let day = self.dice.between((middle + 1).min(span), span);
                let reason = guidance.reasons.get(at).cloned();
                self.deed(day, Deed::Mark { rule, helpful: false, reason });
            }
            match guidance.fate {
                Fate::Forgotten => self.deed(DAYS - 20, Deed::ForgetRule(rule)),
                Fate::Proven | Fate::Established | Fate::AntiPattern => {
                    let day = self.dice.between(born.max(DAYS - 40), DAYS - 1);
                    self.deed(day, Deed::ConfirmRule(rule));
                }
                Fate::Candidate | Fate::Demoted | Fate::Fading => {}
            }
        }
    }

    /// What becomes of the facts: some are confirmed, a few withdrawn, some linked to others.
    fn fates(&mut self) {
        let direct: Vec<usize> =
            (0..self.plan.chains.len()).filter(|chain| !self.plan.chains[*chain].consolidated).collect();
        for chain in direct.iter().copied() {
            let last = self.last_day_of(chain);
            let room = (DAYS - 1).saturating_sub(last);
            if room > 3 && self.dice.chance(0.3) {
                let day = self.dice.between(last + 1, DAYS - 1);
                self.deed(day, Deed::Confirm(chain));
            } else if room > 3 && self.dice.chance(0.05) {
                let day = self.dice.between(last + 1, DAYS - 1);
                self.deed(day, Deed::Retract(chain));
            }
        }
        let relations = [Relation::Supports, Relation::RelatedTo, Relation::RelatedTo, Relation::Contradicts];
        for _ in 0..direct.len() / 4 {
            let (Some(a), Some(b)) = (self.dice.pick(&direct).copied(), self.dice.pick(&direct).copied()) else {
                return;
            };
            let day = self.last_day_of(a).max(self.last_day_of(b));
            let relation = self.dice.pick(&relations).copied().unwrap_or(Relation::RelatedTo);
            if a != b && self.plan.chains[a].scope == self.plan.chains[b].scope && day < DAYS {
                self.deed(day, Deed::Link(a, b, relation));
            }
        }
        for being in 0..self.plan.beings.len() {
            let Some(target) = self.plan.beings[being].merge_into.clone() else { continue };
            if let Some(target) = self.plan.beings.iter().position(|other| other.name == target) {
                self.deed(DAYS / 2, Deed::Merge(being, target));
            }
        }
    }

    fn last_day_of(&self, chain: usize) -> usize {
        let tells = |day: &Day| day.episodes.iter().any(|told| told.learned.is_some_and(|(of, _)| of == chain));
        self.plan.days.iter().rposition(tells).unwrap_or(0)
    }

    /// Memory is also read; and now and then somebody wants a conversation forgotten.
    fn daily(&mut self) {
        for day in 1..=DAYS {
            for _ in 0..2 {
                if let Some(query) = self.dice.pick(&self.life.queries).cloned() {
                    self.deed(day, Deed::Recall(query));
                }
            }
            if day % 45 == 0 {
                self.deed(day, Deed::ForgetEpisode);
            }
        }
    }

    fn finish(mut self) -> Plan {
        for day in &mut self.plan.days {
            day.episodes.sort_by_key(|told| told.at);
            // A rule exists before it is marked, also on one day.
            day.deeds.sort_by_key(|(at, deed)| (!matches!(deed, Deed::StoreRule(_)), *at));
        }
        self.plan
    }
}
