//! A person or thing can be forgotten, or erased so that no table holds its text.

use butler_memory::tool::ToolError;
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use super::{create, everything, get, id, merge, one, person, resolve, rows};

/// A word in every text about Anna, and nowhere else.
const MARKER: &str = "zanzibar";
const LEASED: &str = "SELECT FROM episodes WHERE lease_token IS NOT NULL";

async fn forget(memory: &MemoryFixture, entity: &str, more: Value) -> Result<Value, ToolError> {
    let mut arguments = json!({ "entity_id": entity });
    extend(&mut arguments, more);
    memory.call("entity_forget", arguments).await
}

fn extend(arguments: &mut Value, more: Value) {
    let (Value::Object(arguments), Value::Object(more)) = (arguments, more) else { panic!("not objects") };
    arguments.extend(more);
}

async fn store(memory: &MemoryFixture, tool: &str, arguments: Value) -> String {
    id(&memory.call(tool, arguments).await.unwrap_or_else(|error| panic!("{tool}: {}", error.message))["id"])
}

fn ids(mentions: &Value) -> Vec<String> {
    mentions.as_array().expect("a list").iter().map(|mention| id(&mention["id"])).collect()
}

/// Anna in every kind of memory, and Bob, who must stay.
struct Planted {
    anna: String,
    bob: String,
    /// Bob's fact that names Anna.
    fact: String,
    rule: String,
    episode: String,
    /// Memories that are not about Anna.
    others: Vec<String>,
}

async fn plant(memory: &MemoryFixture) -> Planted {
    let anna = create(
        memory,
        json!({"canonical_name": format!("Anna {MARKER}"), "entity_type": "person", "aliases": ["Anniken"],
               "metadata": {"note": MARKER}}),
    )
    .await;
    let double = person(memory, &format!("A. {MARKER}"), &[]).await;
    let bob = person(memory, "Bob", &[]).await;
    let said = |text: &str| json!({"content": text, "butler": "general", "idempotency_key": text});
    let fact = |subject: &str, predicate: &str, content: &str| json!({"subject": subject, "predicate": predicate, "content": content, "idempotency_key": format!("{subject} {content}")});
    let episode = store(memory, "memory_store_episode", said(&format!("we met\nÁNNIKEN, of {MARKER}"))).await;
    // Two versions, a fact of the duplicate and a relation.
    store(memory, "memory_store_fact", fact("anniken", "city", &format!("{MARKER} one"))).await;
    store(memory, "memory_store_fact", fact("Anniken", "city", &format!("{MARKER} two"))).await;
    store(memory, "memory_store_fact", fact(&format!("A. {MARKER}"), "job", "pilot of Xylograph")).await;
    merge(memory, &double, &anna).await.expect("a merge");
    let mut edge = fact("Bob", "married_to", &format!("since {MARKER}"));
    edge["object"] = json!("Anniken");
    store(memory, "memory_store_fact", edge).await;
    let mention = store(memory, "memory_store_fact", fact("Bob", "friend", &format!("Anniken's dog {MARKER}"))).await;
    let rule = store(memory, "memory_store_rule", json!({"content": format!("Never call Anniken {MARKER}")})).await;
    let marked = json!({"rule_id": rule, "reason": MARKER, "context": {"who": MARKER}});
    memory.call("memory_mark_harmful", marked).await.expect("a mark");
    let others = vec![
        store(memory, "memory_store_fact", fact("Bob", "city", "Bonn")).await,
        store(memory, "memory_store_rule", json!({"content": "Ask Bob about pilots"})).await,
        store(memory, "memory_store_episode", said("Bob met Annikens sister, a pilot")).await,
    ];
    let complaint = json!({"rule_id": others[1], "reason": format!("Anniken {MARKER} was cross")});
    memory.call("memory_mark_harmful", complaint).await.expect("a mark");
    memory
        .db
        .execute(&format!(
            "UPDATE episodes SET lease_token = gen_random_uuid(), leased_until = now(), last_error = 'said of Anniken {MARKER}' WHERE id = '{}';
             INSERT INTO job_runs (job, trigger, status, finished_at, error) VALUES ('x', 'manual', 'failed', now(), 'Anniken {MARKER}')",
            others[2]
        ))
        .await;
    Planted { anna, bob, fact: mention, rule, episode, others }
}

/// A pair of facts about Bob, judged by a model in words that name Anna.
async fn plant_verdict(memory: &MemoryFixture, planted: &Planted) {
    let hobby = json!({"subject": "Bob", "predicate": "hobby", "content": "chess"});
    let hobby = store(memory, "memory_store_fact", hobby).await;
    memory
        .db
        .execute(&format!(
            "INSERT INTO conflicts (id, fact_a, fact_b, kind, why, found_at, found_by, verdict, reason, judged_at)
             SELECT gen_random_uuid(), least(a, b), greatest(a, b), 'contradiction', 'scopes', now(), 'job', 'both_true',
                    'Anniken {MARKER} said both', now()
             FROM (SELECT '{hobby}'::uuid AS a, '{}'::uuid AS b) pair",
            planted.others[0]
        ))
        .await;
}

/// The rows of all tables that contain a word in any column, each with its table.
async fn rows_with(memory: &MemoryFixture, word: &str) -> Vec<String> {
    let tables = rows(
        memory,
        "SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace",
    )
    .await;
    let mut found = Vec::new();
    assert!(tables.len() >= 19, "{tables:?}");
    for table in tables.iter().map(|row| id(&row["relname"])) {
        let sql = format!("SELECT t::text AS row FROM {table} t WHERE t::text ILIKE '%{word}%'");
        found.extend(rows(memory, &sql).await.iter().map(|row| format!("{table}: {}", row["row"])));
    }
    found
}

#[tokio::test]
async fn a_preview_lists_everything_and_writes_nothing() {
    let memory = MemoryFixture::new().await;
    let planted = plant(&memory).await;
    assert_eq!(rows(&memory, LEASED).await.len(), 1);
    let before = everything(&memory).await;
    for erase in [false, true] {
        let preview = forget(&memory, &planted.anna, json!({"erase": erase})).await.unwrap();
        assert_eq!(
            (&preview["dry_run"], &preview["facts"], &preview["edges"]),
            (&json!(true), &json!(3), &json!(1)),
            "{preview}"
        );
        let mentions = &preview["mentions"];
        assert_eq!(ids(&mentions["facts"]), [planted.fact.as_str()]);
        assert_eq!(ids(&mentions["rules"]), [planted.rule.as_str()]);
        assert_eq!(ids(&mentions["episodes"]), [planted.episode.as_str()]);
        assert_eq!(mentions["totals"], json!({"facts": 1, "rules": 1, "episodes": 1}));
        assert_eq!(preview["events_redacted"].as_u64().unwrap() > 10, erase, "{preview}");
    }
    assert_eq!(everything(&memory).await, before);
}

#[tokio::test]
async fn a_forgotten_entity_is_found_by_no_name_and_no_search() {
    let memory = MemoryFixture::new().await;
    let planted = plant(&memory).await;
    forget(&memory, &planted.anna, json!({"dry_run": false})).await.unwrap();
    assert!(resolve(&memory, json!({"name": "Anniken"})).await.is_empty());
    assert!(rows(&memory, LEASED).await.is_empty(), "a worker must not store what it learned from them");
    for query in [MARKER, "Anniken", "pilot of Xylograph"] {
        let found = memory.call("memory_search", json!({"query": query, "mode": "keyword"})).await.unwrap();
        let found: Vec<String> = found["results"].as_array().unwrap().iter().map(|hit| id(&hit["id"])).collect();
        assert!(found.iter().all(|id| planted.others.contains(id)), "{query}: {found:?}");
    }
    let states = "SELECT DISTINCT validity FROM facts WHERE content <> 'Bonn'";
    assert_eq!(rows(&memory, states).await, [json!({"validity": "retracted"})]);
    let events = "SELECT event_type, count(*) AS n FROM memory_events WHERE event_type LIKE '%\\_forgotten' GROUP BY 1 ORDER BY 1";
    let expected = [("entity_forgotten", 1), ("episode_forgotten", 1), ("fact_forgotten", 5), ("rule_forgotten", 1)];
    assert_eq!(rows(&memory, events).await, expected.map(|(name, n)| json!({"event_type": name, "n": n})));

    // Readable by its id, closed to writers, and forgotten only once.
    assert!(get(&memory, &planted.anna).await["metadata"]["forgotten_at"].is_string());
    let fact = json!({"subject": "x", "predicate": "p", "content": "c", "entity_id": planted.anna});
    assert_eq!(memory.call("memory_store_fact", fact).await.unwrap_err().code.as_str(), "invalid_argument");
    let update = json!({"entity_id": planted.anna, "aliases": []});
    assert_eq!(memory.call("entity_update", update).await.unwrap_err().code.as_str(), "not_found");
    let before = everything(&memory).await;
    forget(&memory, &planted.anna, json!({"dry_run": false})).await.unwrap();
    assert_eq!(everything(&memory).await, before);

    // Meeting her again brings the entity back, without its facts.
    let again = create(&memory, json!({"canonical_name": format!("Anna {MARKER}"), "entity_type": "person"})).await;
    assert_eq!(again, planted.anna);
    let stored = memory
        .call("memory_store_fact", json!({"subject": format!("anna {MARKER}"), "predicate": "job", "content": "cook"}));
    assert_eq!(stored.await.unwrap()["entity_id"], json!(planted.anna));
}

#[tokio::test]
async fn after_an_erasure_no_table_holds_the_text() {
    let memory = MemoryFixture::new().await;
    let planted = plant(&memory).await;
    plant_verdict(&memory, &planted).await;
    let their = json!({"subject": "Anniken", "predicate": "city", "content": MARKER, "request_context": {"tenant_id": "other"}});
    store(&memory, "memory_store_fact", their).await;
    let other_before = rows(&memory, "SELECT * FROM words WHERE tenant_id = 'other' ORDER BY word").await;
    let counted = rows(&memory, "SELECT count(*) FROM memory_events WHERE tenant_id = 'default'").await;

    let done = forget(&memory, &planted.anna, json!({"erase": true, "dry_run": false})).await.unwrap();
    assert_eq!((&done["facts"], &done["edges"], &done["backups"]), (&json!(3), &json!(1), &json!([])));
    for word in [MARKER, "Anniken", "Xylograph"] {
        let kept = rows_with(&memory, word).await;
        let kept: Vec<&String> =
            kept.iter().filter(|row| !row.contains("other") && !row.contains("Annikens sister")).collect();
        let vocabulary = |row: &&&String| !(row.starts_with("words") && row.contains("annikens"));
        assert!(kept.iter().filter(vocabulary).count() == 0, "{word}: {kept:#?}");
    }
    assert!(rows(&memory, LEASED).await.is_empty(), "a worker must not store what it learned from them");
    let verdict = one(&memory, "SELECT verdict, reason FROM conflicts WHERE verdict IS NOT NULL").await;
    assert_eq!(verdict, json!({"verdict": "both_true", "reason": "removed by an erasure"}), "the pair itself stays");
    // Bob's memories and another tenant's are untouched.
    for (table, at) in [("facts", 0), ("rules", 1), ("episodes", 2)] {
        one(&memory, &format!("SELECT content FROM {table} WHERE id = '{}'", planted.others[at])).await;
    }
    assert_eq!(get(&memory, &planted.bob).await["canonical_name"], "Bob");
    assert_eq!(rows(&memory, "SELECT * FROM words WHERE tenant_id = 'other' ORDER BY word").await, other_before);
    assert_eq!(rows(&memory, "SELECT word FROM words WHERE tenant_id = 'default' AND word = 'pilot'").await.len(), 1);
    assert_eq!(rows(&memory, "SELECT FROM facts WHERE tenant_id = 'other'").await.len(), 1);

    // The events are all there, with ids, times and counts.
    let events = rows(&memory, "SELECT count(*) - 1 AS count FROM memory_events WHERE tenant_id = 'default'").await;
    assert_eq!(events, counted, "only its own event is new");
    let own = one(&memory, "SELECT * FROM memory_events WHERE event_type = 'entity_erased'").await;
    assert_eq!((&own["memory_id"], &own["actor"]), (&json!(planted.anna), &json!("general")));
    assert_eq!(
        own["payload"],
        json!({"facts": 5, "rules": 1, "episodes": 1, "entities": 2, "events_redacted": done["events_redacted"]})
    );
    let merged = one(&memory, "SELECT payload FROM memory_events WHERE event_type = 'entity_merge'").await;
    assert_eq!(merged["payload"]["facts_repointed"], 1, "counts stay");
    let gone = forget(&memory, &planted.anna, json!({})).await.unwrap_err();
    assert_eq!(gone.code.as_str(), "not_found");
}

#[tokio::test]
async fn what_was_not_chosen_stays_with_its_history() {
    let memory = MemoryFixture::new().await;
    let planted = plant(&memory).await;
    let chosen =
        json!({"erase": true, "dry_run": false, "fact_ids": [], "rule_ids": [planted.rule], "episode_ids": []});
    let done = forget(&memory, &planted.anna, chosen).await.unwrap();
    assert_eq!(done["mentions"]["totals"], json!({"facts": 0, "rules": 1, "episodes": 0}));
    one(&memory, &format!("SELECT FROM facts WHERE id = '{}'", planted.fact)).await;
    one(&memory, &format!("SELECT FROM episodes WHERE id = '{}'", planted.episode)).await;
    assert!(rows(&memory, &format!("SELECT FROM rules WHERE id = '{}'", planted.rule)).await.is_empty());
    let event = format!(
        "SELECT payload FROM memory_events WHERE memory_id = '{}' AND event_type = 'fact_created'",
        planted.fact
    );
    assert!(one(&memory, &event).await["payload"].to_string().contains(MARKER));
    let kept = one(&memory, &format!("SELECT word FROM words WHERE word = '{MARKER}'")).await;
    assert_eq!(kept["word"], MARKER, "a memory still holds it");
}

#[tokio::test]
async fn what_cannot_be_forgotten_is_refused_and_changes_nothing() {
    let memory = MemoryFixture::new().await;
    let planted = plant(&memory).await;
    let before = everything(&memory).await;
    let now = |more: Value| {
        let mut arguments = json!({"dry_run": false, "erase": true});
        extend(&mut arguments, more);
        arguments
    };
    let unknown = uuid::Uuid::nil().to_string();
    let tombstone = id(&one(&memory, "SELECT id FROM entities WHERE metadata ? 'merged_into'").await["id"]);
    for (entity, more, code) in [
        (&unknown, json!({}), "not_found"),
        (&planted.anna, json!({"request_context": {"tenant_id": "other"}}), "not_found"),
        (&tombstone, json!({}), "invalid_state"),
        (&planted.anna, json!({"fact_ids": [planted.others[0]]}), "invalid_argument"),
        (&planted.anna, json!({"rule_ids": [planted.rule, unknown]}), "invalid_argument"),
        (&planted.anna, json!({"episode_ids": "all"}), "invalid_argument"),
        (&planted.anna, json!({"episode_ids": ["x"]}), "invalid_argument"),
    ] {
        let refused = forget(&memory, entity, now(more.clone())).await.unwrap_err();
        assert_eq!(refused.code.as_str(), code, "{more}: {}", refused.message);
    }
    assert_eq!(everything(&memory).await, before);
}

#[tokio::test]
async fn a_tenant_can_be_erased_as_a_whole() {
    let memory = MemoryFixture::new().await;
    let planted = plant(&memory).await;
    plant_verdict(&memory, &planted).await;
    let their =
        json!({"subject": "Dora", "predicate": "city", "content": "Ulm", "request_context": {"tenant_id": "other"}});
    store(&memory, "memory_store_fact", their).await;
    memory
        .call("memory_predicates", json!({"action": "register", "name": MARKER, "cardinality": "many"}))
        .await
        .unwrap();
    let call = memory.as_test();
    let before = everything(&memory).await;
    let preview = memory.memory.erase_tenant(&call, true).await.unwrap();
    assert_eq!(everything(&memory).await, before);
    let done = memory.memory.erase_tenant(&call, false).await.unwrap();
    assert_eq!(done, preview);
    assert_eq!((done.counts.facts, done.counts.rules, done.counts.entities), (7, 2, 3));
    for table in [
        "facts",
        "rules",
        "episodes",
        "entities",
        "merges",
        "conflicts",
        "memory_links",
        "words",
        "predicates",
        "idempotency_keys",
    ] {
        let left = rows(&memory, &format!("SELECT FROM {table} WHERE tenant_id = 'default'")).await;
        assert!(left.is_empty(), "{table}");
    }
    memory.db.execute("UPDATE job_runs SET error = NULL").await;
    for word in [MARKER, "Annik", "Xylograph", "Bonn"] {
        assert_eq!(rows_with(&memory, word).await, Vec::<String>::new(), "{word}");
    }
    assert_eq!(rows(&memory, "SELECT FROM facts WHERE tenant_id = 'other'").await.len(), 1);
    assert_eq!(rows(&memory, "SELECT FROM memory_events WHERE event_type = 'tenant_erased'").await.len(), 1);
    let nobody = butler_domain::TenantId::new("nobody").unwrap();
    let unknown = memory.memory.erase_tenant(&butler_memory::Call { tenant: nobody, ..call }, false).await.unwrap();
    assert!(unknown.counts.is_unknown());
    assert!(rows(&memory, "SELECT FROM memory_events WHERE tenant_id = 'nobody'").await.is_empty());
}

#[tokio::test]
async fn what_is_known_about_a_namesake_stays() {
    let memory = MemoryFixture::new().await;
    let smith = person(&memory, "Ann Smith", &["Ann"]).await;
    let miller = person(&memory, "Ann Miller", &["Ann"]).await;
    let fact = |entity: &str, content: &str| json!({"subject": "Ann", "predicate": "hobby", "content": content, "entity_id": entity});
    let own = store(&memory, "memory_store_fact", fact(&smith, "chess")).await;
    let other = store(&memory, "memory_store_fact", fact(&miller, "climbing")).await;
    // a key of the program's own payloads is not a mention
    let content = create(&memory, json!({"canonical_name": "Content", "entity_type": "other"})).await;
    forget(&memory, &smith, json!({"erase": true, "dry_run": false})).await.expect("erased");
    forget(&memory, &content, json!({"erase": true, "dry_run": false})).await.expect("erased");
    let left = rows(&memory, "SELECT id FROM facts").await;
    assert_eq!(left, [json!({"id": other})], "{own} is gone");
    let events =
        rows(&memory, "SELECT payload FROM memory_events WHERE event_type = 'fact_created' ORDER BY created_at").await;
    assert!(events.iter().any(|event| event["payload"].to_string().contains("climbing")), "{events:?}");
    assert_eq!(
        one(&memory, &format!("SELECT canonical_name FROM entities WHERE id = '{miller}'")).await["canonical_name"],
        "Ann Miller"
    );
}

#[tokio::test]
async fn a_preview_waits_for_nobody() {
    let memory = MemoryFixture::new().await;
    let anna = person(&memory, "Anna", &[]).await;
    let mut writer = memory.db.connect().await;
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("BEGIN; SELECT FROM entities WHERE id = '{anna}' FOR UPDATE")))
        .execute(&mut writer)
        .await
        .expect("a lock");
    let preview = forget(&memory, &anna, json!({"erase": true}));
    let preview = tokio::time::timeout(std::time::Duration::from_secs(20), preview).await.expect("no lock is needed");
    assert_eq!(preview.expect("an answer")["dry_run"], true);
}
