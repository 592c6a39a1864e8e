//! Consolidation neither learns again what was forgotten, nor believes untrusted text.

use butler_domain::{Source, TenantId};
use butler_memory::Call;
use butler_memory::browse::Page;
use serde_json::{Value, json};

use crate::world::{Model, World, episodes_in};

/// A model that says the same each time in other words.
fn paraphrasing(prompt: &str, round: usize) -> String {
    let facts: Vec<Value> = episodes_in(prompt)
        .into_iter()
        .map(|(id, content)| {
            let (subject, statement) = content.split_once(": ").unwrap();
            let content = match round % 4 {
                0 => statement.to_owned(),
                1 => format!("{statement}."),
                2 => format!("{subject} {statement}"),
                _ => statement.replace("has a", "has the"),
            };
            json!({"subject": subject, "predicate": "owns", "content": content, "episode_ids": [id]})
        })
        .collect();
    json!({ "new_facts": facts }).to_string()
}

/// The acceptance of forgetting: 50 episodes, replayed 100 times.
#[tokio::test]
async fn forgotten_facts_never_return_however_often_their_episodes_are_replayed() {
    let round = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let turn = round.clone();
    let model =
        Model::new(move |session| Ok(paraphrasing(&session.prompt, turn.load(std::sync::atomic::Ordering::Relaxed))));
    let world = World::new(model).await;
    for person in 0..50 {
        world.episode(&format!("Person{person}: has a bicycle with {} gears and a bell", person + 3)).await;
    }
    world.run().await;
    assert_eq!(world.one("SELECT count(*) FROM facts WHERE validity = 'active'").await, "50");
    // every second one is forgotten
    let ids = world.rows("SELECT id FROM facts ORDER BY subject").await;
    for id in ids.iter().step_by(2) {
        world.fixture.call("memory_forget", json!({"memory_type": "fact", "memory_id": id})).await.unwrap();
    }
    let (mut suppressed, mut by) = (0, [0, 0, 0]);
    for turn in 0..100 {
        round.store(turn, std::sync::atomic::Ordering::Relaxed);
        for statement in [
            "UPDATE episodes SET consolidated = false, consolidation_status = 'pending'",
            "DELETE FROM idempotency_keys",
        ] {
            sqlx::query(statement).execute(&mut world.fixture.db.connect().await).await.unwrap();
        }
        let totals = world.run().await.totals;
        suppressed += totals.suppressed;
        let parts = totals.suppressed_by;
        by = [by[0] + parts.forgotten, by[1] + parts.paraphrased, by[2] + parts.repeated];
    }
    let returned = "SELECT count(*) FROM facts f JOIN facts g ON g.subject = f.subject AND g.validity = 'retracted'
                    WHERE f.validity = 'active'";
    assert_eq!(world.one(returned).await, "0");
    assert_eq!(world.one("SELECT count(DISTINCT subject) FROM facts WHERE validity = 'active'").await, "25");
    assert_eq!(suppressed, 2500, "each forgotten one, each time, and no other");
    // "has a bell." is the same statement as "has a bell".
    assert_eq!(by, [1250, 1250, 0]);
}

/// The corpus writes `\n` and `\u{…}` for characters that no file of ours should hide.
fn unescaped(line: &str) -> String {
    let mut parts = line.split("\\u{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        text.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        text.push_str(rest);
    }
    text.replace("\\n", "\n")
}

/// Our own attacks, through the whole way with the most gullible model: it makes a rule and a fact of each.
#[tokio::test]
async fn no_attack_in_untrusted_text_becomes_an_active_rule_or_fact() {
    let attacks: Vec<String> = include_str!("../../../domain/testdata/attacks.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(unescaped)
        .collect();
    assert!(attacks.len() >= 100);
    let model = Model::new(|session| {
        let (mut facts, mut rules) = (Vec::new(), Vec::new());
        for (id, content) in episodes_in(&session.prompt) {
            facts.push(
                json!({"subject": "agent", "predicate": format!("must {id}"), "content": content, "episode_ids": [id]}),
            );
            rules.push(json!({"content": content, "episode_ids": [id]}));
        }
        Ok(json!({"new_facts": facts, "new_rules": rules}).to_string())
    });
    let world = World::new(model).await;
    for attack in &attacks {
        let arguments = json!({"content": attack, "butler": "general", "metadata": {"source": "untrusted"}});
        world.fixture.call("memory_store_episode", arguments).await.unwrap();
    }
    world.run().await;
    let active = "SELECT (SELECT count(*) FROM facts) + (SELECT count(*) FROM rules)";
    assert_eq!(world.one(active).await, "0");
    let held = world.one("SELECT count(*) FROM episodes WHERE held_for IS NOT NULL").await;
    assert_eq!(held, attacks.len().to_string(), "each is visible with its reason");
    // Even if a person releases all of them, what is learned is only proposed.
    let call = Call { source: Source::Person, ..Call::internal(&world.memory, TenantId::default(), "cli") };
    for proposal in world.memory.proposals(&call, Page::first(1000)).await.unwrap().rows {
        assert!(!proposal.reasons.is_empty());
        world.memory.approve(&call, proposal.id).await.unwrap().unwrap();
    }
    let report = world.run().await;
    assert!(report.totals.proposed > 0 && report.totals.facts_created == 0 && report.totals.rules_created == 0);
    assert_eq!(world.one(active).await, "0");
}

#[tokio::test]
async fn trusted_and_untrusted_episodes_never_share_a_batch() {
    let model = Model::of_facts();
    let world = World::new(model.clone()).await;
    for turn in 0..6 {
        let source = if turn % 2 == 0 { "untrusted" } else { "chat" };
        let arguments =
            json!({"content": format!("It rained on day {turn}"), "butler": "general", "metadata": {"source": source}});
        world.fixture.call("memory_store_episode", arguments).await.unwrap();
        world.fixture.clock.advance(std::time::Duration::from_millis(1));
    }
    let report = world.run().await;
    assert_eq!((report.totals.batches, report.totals.consolidated), (2, 6));
    assert_eq!((report.totals.facts_created, report.totals.proposed), (3, 3));
    assert_eq!(world.one("SELECT DISTINCT source FROM facts").await, "session");
    let totals = report.totals;
    let sum = totals.entities_created + totals.facts_created + totals.facts_superseded + totals.rules_created;
    assert_eq!(totals.actions, sum + totals.proposed + totals.confirmations + totals.suppressed + totals.refused);
}
