//! What becomes of the model's answer.

use butler_domain::secrets::Redactor;
use butler_memory::Caller;
use butler_memory::tool::ToolCall;
use serde_json::json;

use crate::world::{Model, World, episodes_in};

#[tokio::test]
async fn new_facts_stored_with_derived_from_links() {
    let world = World::new(Model::says(
        r#"Here you are:
```json
{"new_facts": [{"subject": "Ann", "predicate": "lives_in", "content": "Ann lives in Bern.", "permanence": "stable",
                "importance": 7, "tags": ["home"]}],
 "new_rules": [{"content": "Ask before booking."}], "updated_facts": [], "confirmations": []}
```"#,
    ))
    .await;
    world.episode("one").await;
    world.episode("two").await;
    let report = world.run().await;
    assert_eq!((report.totals.facts_created, report.totals.rules_created, report.totals.consolidated), (1, 1, 2));
    assert_eq!(report.errors, Vec::<String>::new());
    let fact =
        "SELECT concat_ws('|', subject, predicate, content, permanence, importance, source_butler, scope) FROM facts";
    assert_eq!(world.one(fact).await, "Ann|lives_in|Ann lives in Bern.|stable|7|general|global");
    let links = "SELECT concat_ws(' ', source_type, relation, target_type) FROM memory_links ORDER BY 1";
    assert_eq!(
        world.rows(links).await,
        [
            "fact derived_from episode",
            "fact derived_from episode",
            "rule derived_from episode",
            "rule derived_from episode"
        ]
    );
    let status = "SELECT DISTINCT concat_ws(' ', consolidation_status, consolidated, lease_token) FROM episodes";
    assert_eq!(world.rows(status).await, ["consolidated t"]);
    let events =
        "SELECT count(*) FROM memory_events WHERE event_type = 'episode_consolidated' AND actor = 'consolidation'";
    assert_eq!(world.one(events).await, "2");
}

#[tokio::test]
async fn a_predicate_of_several_values_loses_none_and_is_marked_in_the_prompt() {
    let model = Model::says(
        json!({"new_facts": [
            {"subject": "Ann", "predicate": "likes", "content": "Ann likes coffee."},
            {"subject": "Ann", "predicate": "likes", "content": "Ann likes cake."},
        ]})
        .to_string(),
    );
    let world = World::new(model.clone()).await;
    let tea = json!({"subject": "Ann", "predicate": "likes", "content": "Ann likes tea."});
    world.fixture.call("memory_store_fact", tea).await.unwrap();
    world.episode("Ann had coffee and cake").await;
    assert_eq!(world.run().await.totals.facts_created, 2);
    let active = "SELECT content FROM facts WHERE validity = 'active' ORDER BY content";
    assert_eq!(world.rows(active).await, ["Ann likes cake.", "Ann likes coffee.", "Ann likes tea."]);
    let prompt = &model.sessions()[0].prompt;
    assert!(prompt.contains("| likes | Ann likes tea. (standard, one of several)"), "{prompt}");
}

#[tokio::test]
async fn an_answer_creates_the_entities_it_names_once_and_relates_them() {
    let model = Model::says(
        json!({
            "new_facts": [{"subject": "Ann", "predicate": "married_to", "content": "Ann is married to Bob.", "object": "Bob"}],
            "updated_facts": [], "new_rules": [], "confirmations": [],
            "entities": [{"name": "Ann", "type": "person", "aliases": ["Annie"]}, {"name": "Bob", "type": "robot"},
                         {"name": "ANN", "type": "person", "aliases": []}],
        })
        .to_string(),
    );
    let world = World::new(model).await;
    world.episode("They married").await;
    let totals = world.run().await.totals;
    assert_eq!((totals.entities_created, totals.facts_created, totals.suppressed, totals.actions), (2, 1, 1, 4));
    let edge = "SELECT concat_ws(' ', s.canonical_name, s.entity_type, s.aliases, f.predicate, o.canonical_name, o.entity_type)
                FROM facts f JOIN entities s ON s.id = f.entity_id JOIN entities o ON o.id = f.object_entity_id";
    assert_eq!(world.one(edge).await, "Ann person {Annie} married_to Bob other");
}

#[tokio::test]
async fn an_action_that_names_its_episodes_is_linked_only_to_those() {
    let model = Model::new(|session| {
        let ids: Vec<String> = episodes_in(&session.prompt).into_iter().map(|(id, _)| id).collect();
        Ok(json!({"new_facts": [
            {"subject": "A", "predicate": "is", "content": "one", "episode_ids": [ids[1]]},
            {"subject": "B", "predicate": "is", "content": "one", "episode_ids": ["00000000-0000-0000-0000-00000000dead"]},
        ]})
        .to_string())
    });
    let world = World::new(model).await;
    world.episode("one").await;
    let second = world.episode("two").await;
    world.run().await;
    let links = "SELECT concat_ws(' ', f.subject, count(*)) FROM memory_links l JOIN facts f ON f.id = l.source_id
                 GROUP BY f.subject ORDER BY 1";
    assert_eq!(world.rows(links).await, ["A 1", "B 2"], "an unknown episode counts as none, and none means all");
    assert_eq!(world.one("SELECT source_episode_id FROM facts WHERE subject = 'A'").await, second.to_string());
}

#[tokio::test]
async fn updated_facts_trigger_supersession_by_target_and_keep_its_identity() {
    let world = World::new(Model::new(|session| {
        // The model takes the id from the existing facts in the prompt but uses another subject.
        let line = session.prompt.lines().find(|line| line.contains("| works_at |"));
        Ok(match line {
            None => json!({"new_facts": [{"subject": "Ann", "predicate": "works_at", "content": "a bank",
                                          "permanence": "stable", "importance": 8, "tags": ["job"]}]}),
            Some(line) => {
                let id = line.trim_start_matches("- ").split(' ').next().unwrap();
                json!({"updated_facts": [{"target_id": id, "subject": "ann", "predicate": "employer", "content": "a library"}]})
            }
        }
        .to_string())
    }))
    .await;
    world.episode("first").await;
    world.run().await;
    world.episode("second").await;
    let report = world.run().await;
    assert_eq!(report.totals.facts_superseded, 1, "{report:?}");
    let facts = "SELECT concat_ws('|', subject, predicate, content, validity, permanence, importance, tags::text, supersedes_id IS NULL)
                 FROM facts ORDER BY created_at, id";
    assert_eq!(
        world.rows(facts).await,
        [r#"Ann|works_at|a bank|superseded|stable|8|["job"]|t"#, r#"Ann|works_at|a library|active|stable|8|["job"]|f"#]
    );
}

#[tokio::test]
async fn only_confirmations_of_existing_active_memories_count() {
    let model = Model::new(|session| {
        let ids: Vec<&str> = session
            .prompt
            .lines()
            .filter_map(|l| l.strip_prefix("- ")?.split(" | ").next())
            .filter(|id| id.len() == 36)
            .collect();
        Ok(if ids.is_empty() {
            json!({"new_facts": [{"subject": "Ann", "predicate": "likes", "content": "tea"}], "new_rules": [{"content": "Be kind."}]})
        } else {
            json!({"confirmations": [ids[0], ids[1], "00000000-0000-0000-0000-00000000dead"]})
        }
        .to_string())
    });
    let world = World::new(model).await;
    world.episode("first").await;
    world.run().await;
    world.fixture.clock.advance_days(1.0);
    world.episode("second").await;
    let report = world.run().await;
    assert_eq!((report.totals.confirmations, report.totals.refused), (2, 1), "{report:?}");
    assert_eq!(report.totals.consolidated, 1);
    let confirmed = "SELECT count(*) FROM (SELECT created_at, last_confirmed_at FROM facts UNION ALL
                     SELECT created_at, last_confirmed_at FROM rules) m WHERE last_confirmed_at > created_at";
    assert_eq!(world.one(confirmed).await, "2");
}

#[tokio::test]
async fn a_repeated_fact_is_a_confirmation_and_not_a_new_fact() {
    let world = World::new(Model::says(
        r#"{"new_facts": [{"subject": "Ann", "predicate": "likes", "content": "tea"}], "new_rules": [{"content": "Be kind."}]}"#,
    ))
    .await;
    world.episode("first").await;
    world.run().await;
    world.episode("second").await;
    let report = world.run().await;
    assert_eq!((report.totals.facts_created, report.totals.rules_created, report.totals.confirmations), (0, 0, 2));
    assert_eq!(world.one("SELECT count(*) FROM facts").await, "1");
    assert_eq!(world.one("SELECT count(*) FROM rules").await, "1");
    let links = "SELECT concat_ws(' ', source_type, relation, target_type) FROM memory_links ORDER BY 1";
    assert_eq!(
        world.rows(links).await,
        ["episode supports fact", "episode supports rule", "fact derived_from episode", "rule derived_from episode"]
    );
    let named = "SELECT count(*) FROM memory_events WHERE payload -> 'links' -> 0 ->> 'relation' IN ('derived_from', 'supports')";
    assert_eq!(world.one(named).await, "4", "each link is named in the event of its memory");
    assert_eq!(world.one("SELECT count(*) FROM memory_events WHERE event_type = 'link_created'").await, "0");
}

#[tokio::test]
async fn consolidation_without_spawner_is_a_dry_run() {
    let world = World::without_runtime().await;
    world.episode("one").await;
    world.episode_of("default", "health", "two").await;
    let report = world.run().await;
    assert_eq!(report.mode, "dry_run");
    assert!(report.reason.unwrap().contains("[butler.runtime]"));
    assert_eq!(report.totals.episodes, 2);
    assert_eq!(report.groups.len(), 2);
    assert_eq!(world.one("SELECT count(*) FROM episodes WHERE consolidated OR lease_token IS NOT NULL").await, "0");
}

#[tokio::test]
async fn memory_run_consolidation_reports_its_mode_and_stays_within_the_tenant() {
    let world = World::new(Model::of_facts()).await;
    world.episode_of("default", "general", "mine").await;
    world.episode_of("acme", "general", "theirs").await;
    let tools = butler_memory::tools();
    let tool = tools.iter().find(|tool| tool.spec().name == "memory_run_consolidation").unwrap();
    let run = |arguments: serde_json::Value| {
        let arguments = arguments.as_object().unwrap().clone();
        tool.run(&world.memory, ToolCall::parse(tool.spec(), Caller::trusted(), arguments, &Redactor::standard()))
    };
    let dry = run(json!({"dry_run": true})).await.ok().unwrap().structured;
    assert_eq!((&dry["mode"], &dry["totals"]["episodes"]), (&json!("dry_run"), &json!(1)));
    let done = run(json!({})).await.ok().unwrap().structured;
    assert_eq!((&done["mode"], &done["totals"]["consolidated"]), (&json!("run"), &json!(1)));
    assert_eq!(world.one("SELECT string_agg(tenant_id, ',') FROM episodes WHERE NOT consolidated").await, "acme");
    let error = run(json!({"dry_run": "yes"})).await.err().unwrap();
    assert_eq!(error.code.as_str(), "invalid_argument");
}

#[tokio::test]
async fn a_forgotten_episode_is_not_learned_from() {
    let model = Model::of_facts();
    let world = World::new(model.clone()).await;
    let secret = world.episode("a secret").await;
    world.episode("no secret").await;
    world
        .fixture
        .call("memory_forget", json!({"memory_type": "episode", "memory_id": secret.to_string()}))
        .await
        .unwrap();
    world.run().await;
    assert!(model.sessions().iter().all(|session| !session.prompt.contains("a secret")));
    assert_eq!(world.one("SELECT count(*) FROM facts").await, "1");
}

#[tokio::test]
async fn an_answer_with_empty_lists_consolidates_the_episodes() {
    let world =
        World::new(Model::says(r#"{"new_facts": [], "updated_facts": [], "new_rules": [], "confirmations": []}"#))
            .await;
    world.episode("small talk").await;
    let report = world.run().await;
    assert_eq!((report.totals.consolidated, report.totals.failed), (1, 0));
}

#[tokio::test]
async fn a_confirmation_is_linked_only_to_the_episodes_it_names() {
    let world = World::new(Model::of_facts()).await;
    world.episode("first").await;
    world.run().await;
    let fact = world.one("SELECT id FROM facts").await;
    let (named, other) = (world.episode("second").await, world.episode("third").await);
    let answer = serde_json::json!({"confirmations": [{"id": fact, "episode_ids": [named, uuid::Uuid::nil()]}]});
    let report = world.replica(Model::says(answer.to_string())).run_consolidation(&Default::default()).await.unwrap();
    assert_eq!((report.totals.confirmations, report.totals.consolidated), (1, 2));
    let linked = world.rows("SELECT source_id FROM memory_links WHERE relation = 'supports'").await;
    assert_eq!(linked, [named.to_string()], "not {other}");
}

#[tokio::test]
async fn the_counts_of_a_report_add_up_to_the_actions_of_the_answer() {
    let world = World::new(Model::new(|session| {
        let second = session.prompt.contains("second");
        Ok(json!({
            "new_facts": [
                {"subject": "Ann", "predicate": "likes", "content": "tea"},
                {"subject": "Ann", "predicate": "lives_in", "content": if second { "Bern" } else { "Basel" }},
                {"subject": if second { "Bo" } else { "Cy" }, "predicate": "likes", "content": "rain"},
            ],
            "new_rules": [{"content": if second { "Be kind." } else { "Be quick." }}],
            "updated_facts": [{"target_id": "00000000-0000-0000-0000-00000000dead", "subject": "x", "predicate": "y", "content": "z"}],
            "confirmations": ["00000000-0000-0000-0000-00000000beef"],
        })
        .to_string())
    }))
    .await;
    world.episode("first").await;
    world.run().await;
    world.episode("second").await;
    let totals = world.run().await.totals;
    assert_eq!((totals.facts_created, totals.facts_superseded, totals.rules_created), (1, 1, 1), "{totals:?}");
    assert_eq!((totals.confirmations, totals.suppressed, totals.refused), (1, 0, 2), "{totals:?}");
    let sum = totals.facts_created
        + totals.facts_superseded
        + totals.rules_created
        + totals.confirmations
        + totals.suppressed
        + totals.refused;
    assert_eq!((totals.actions, sum), (6, 6));
}
