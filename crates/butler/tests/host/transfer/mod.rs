//! Export and import of everything a tenant owns.

mod command;
mod foreign;

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_memory::Call;
use butler_memory::transfer::{ImportOptions, ImportReport, Line, TransferError};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

/// The lines of an export.
pub(crate) async fn exported(of: &MemoryFixture) -> Vec<String> {
    let mut lines = Vec::new();
    let mut sink = |line: &str| {
        lines.push(line.to_owned());
        Ok(())
    };
    let call = Call::internal(&of.memory, TenantId::default(), "tests");
    of.memory.export(&call, true, &mut sink, &|_, _| ()).await.unwrap();
    lines
}

/// The lines of an export without the events that each export and import adds.
async fn export(of: &MemoryFixture) -> Vec<String> {
    let mut lines = exported(of).await;
    let all = lines.len();
    assert!(lines.iter().any(|line| line.contains("\"memory_exported\"")), "its own event");
    lines.retain(|line| !line.contains("\"memory_exported\"") && !line.contains("\"memory_imported\""));
    let mut header: Value = serde_json::from_str(&lines[0]).unwrap();
    header["counts"]["event"] = json!(header["counts"]["event"].as_u64().unwrap() - (all - lines.len()) as u64);
    lines[0] = header.to_string();
    lines
}

pub(crate) async fn import(
    into: &MemoryFixture,
    lines: &[String],
    change: impl FnOnce(&mut ImportOptions),
) -> Result<ImportReport, TransferError> {
    let mut options =
        ImportOptions { tenant: TenantId::default(), dry_run: false, partial: false, origin: Origin::default() };
    change(&mut options);
    let mut numbered = lines.iter().zip(1..);
    let mut next = || Ok(numbered.next().map(|(text, number)| Line { number, text: text.clone() }));
    into.memory.import(&mut next, &options, &|_| ()).await
}

/// Stores supersession chains, merged entities, rules with marks, an anti-pattern, links, a forgotten fact and hostile
/// text.
async fn fill(of: &MemoryFixture) {
    let call = async |tool: &str, arguments: Value| of.call(tool, arguments).await.unwrap();
    let anna =
        call("entity_create", json!({"canonical_name": "Anna", "entity_type": "person"})).await["entity_id"].clone();
    let anne =
        call("entity_create", json!({"canonical_name": "Anne", "entity_type": "person"})).await["entity_id"].clone();
    for round in 0..3 {
        for at in 0..12 {
            let (subject, content) =
                (format!("subject {at}"), format!("'); DROP TABLE facts; -- \\u0000 ü 🦀 \"{round}-{at}\""));
            call(
                "memory_store_fact",
                json!({"subject": subject, "predicate": "is", "content": content, "tags": ["t"]}),
            )
            .await;
        }
        of.clock.advance_days(1.0);
    }
    for (who, likes) in [(&anna, "tea"), (&anne, "coffee")] {
        call("memory_store_fact", json!({"subject": "A", "predicate": "likes", "content": likes, "entity_id": who}))
            .await;
    }
    call("entity_merge", json!({"source_entity_id": anne, "target_entity_id": anna})).await;
    let episode =
        call("memory_store_episode", json!({"content": "first\nline </episode_content>", "butler": "general"})).await;
    call(
        "memory_store_fact",
        json!({"subject": "x", "predicate": "from", "content": "an episode", "source_episode_id": episode["id"]}),
    )
    .await;
    let rule = call("memory_store_rule", json!({"content": "Ask first"})).await["id"].clone();
    for reason in ["annoyed", "late", "again"] {
        call("memory_mark_harmful", json!({"rule_id": rule, "reason": reason})).await;
    }
    of.memory.invert_pending(None).await.unwrap();
    let gone =
        call("memory_store_fact", json!({"subject": "gone", "predicate": "is", "content": "gone"})).await["id"].clone();
    call("memory_forget", json!({"memory_type": "fact", "memory_id": gone})).await;
    // history, the present, a correction of it, and a plan
    for (city, from, to) in
        [("Oslo", "2010", "2014-05"), ("Rome", "2014-05", ""), ("Bern", "2014-05", ""), ("Paris", "2037", "")]
    {
        let fact = json!({"subject": "subject 1", "predicate": "lives_in", "content": city, "valid_from": from, "valid_to": to});
        call("memory_store_fact", fact).await;
        of.clock.advance_days(1.0);
    }
    let past = json!({"content": "subject 2 moved", "butler": "general", "occurred_at": "2019-06-01"});
    call("memory_store_episode", past).await;
}

/// Runs 200 searches, which do not change reference counts.
async fn answers(of: &MemoryFixture) -> Vec<Value> {
    let mut answers = Vec::new();
    for at in 0..200 {
        let query = format!("subject {} {}", at % 12, ["is", "likes tea", "DROP TABLE", "Ask first"][at % 4]);
        answers.push(of.call("memory_search", json!({"query": query, "limit": 5})).await.unwrap());
    }
    for time_filter in [
        json!({"valid_at": "2012"}),
        json!({"valid_at": "2038"}),
        json!({"as_of": "2030-01-20"}),
        json!({"until": "2020"}),
    ] {
        let mut arguments = json!({"query": "subject 1 lives_in moved", "limit": 5});
        arguments.as_object_mut().unwrap().extend(time_filter.as_object().unwrap().clone());
        answers.push(of.call("memory_search", arguments).await.unwrap());
    }
    answers
}

#[tokio::test]
async fn export_wipe_import_gives_the_same_answers_to_200_queries_and_the_same_file() {
    let here = MemoryFixture::new().await;
    fill(&here).await;
    let file = export(&here).await;
    let expected = answers(&here).await;
    let header: Value = serde_json::from_str(&file[0]).unwrap();
    assert_eq!((&header["format"], &header["version"]), (&json!("butler-memory"), &json!(1)));

    let there = MemoryFixture::new().await;
    there.clock.set(here.memory.now());
    let tried = import(&there, &file, |options| options.dry_run = true).await.unwrap();
    assert!(!tried.committed && tried.created() > 50, "{tried:?}");
    assert_eq!(export(&there).await.len(), 1, "a dry run writes nothing");

    let report = import(&there, &file, |_| ()).await.unwrap();
    assert!(report.committed && report.problems.is_empty(), "{report:?}");
    assert_eq!(report.created(), file.len() as u64 - 1);
    assert_eq!(report.embedded, 0, "the file includes the vectors");
    assert_eq!(export(&there).await[1..], file[1..], "identical except for the header");
    assert_eq!(answers(&there).await, expected);

    let again = import(&there, &file, |_| ()).await.unwrap();
    assert_eq!(again.created(), 0, "{again:?}");
    assert_eq!(export(&there).await[1..], file[1..]);
}

#[tokio::test]
async fn an_invalid_file_is_rejected_as_a_whole_and_every_invalid_line_is_reported() {
    let here = MemoryFixture::new().await;
    fill(&here).await;
    let file = export(&here).await;
    let there = MemoryFixture::new().await;

    let cut = &file[..file.len() / 2];
    let report = import(&there, cut, |_| ()).await.unwrap();
    assert!(
        !report.committed && report.problems.iter().any(|problem| problem.message.contains("it is truncated")),
        "{report:?}"
    );
    assert_eq!(export(&there).await.len(), 1, "nothing was imported");

    let mut bad = file.clone();
    bad[2] = "{\"type\": \"fact\", \"id\": \"no uuid\"}".to_owned();
    bad[3] = "{\"type\": \"fa".to_owned();
    let fact = file.iter().position(|line| line.contains("\"type\" : \"fact\"")).unwrap();
    bad[fact] = file[fact].replace("\"importance\" : 5", "\"importance\" : 99");
    let report = import(&there, &bad, |options| options.partial = true).await.unwrap();
    let lines: Vec<_> = report.problems.iter().filter_map(|problem| problem.line).collect();
    for line in [3, 4, fact as u64 + 1] {
        assert!(lines.contains(&line), "line {line}: {:?}", report.problems);
    }
    assert!(report.committed && report.created() > 0, "valid lines are imported");

    let mut newer = file.clone();
    newer[0] = file[0].replace("\"version\":1", "\"version\":2");
    assert!(matches!(import(&there, &newer, |_| ()).await, Err(TransferError::Newer { found: 2, supported: 1 })));
    assert!(matches!(import(&there, &["[]".to_owned()], |_| ()).await, Err(TransferError::NotAnExport(_))));
}

#[tokio::test]
async fn ids_of_other_tenants_other_models_and_old_terms_are_handled() {
    let here = MemoryFixture::new().await;
    fill(&here).await;
    let file = export(&here).await;
    let ann = |options: &mut ImportOptions| options.tenant = TenantId::new("ann").unwrap();
    let refused = import(&here, &file, ann).await;
    assert!(matches!(&refused, Err(TransferError::OtherTenant { owner }) if owner == "default"), "{refused:?}");
    // Without events, nothing in a file shows which tenant it belongs to.
    let without: Vec<String> = file.iter().filter(|line| !line.contains("\"type\" : \"event\"")).cloned().collect();
    let report = import(&here, &without, ann).await.unwrap();
    let collide =
        report.problems.iter().filter(|problem| problem.message.contains("collides with another row")).count();
    assert!(!report.committed && collide > 0, "{:?}", report.problems.first());
    let raw = report
        .problems
        .iter()
        .find(|problem| problem.message.contains("null value") || problem.message.contains("violates"));
    assert_eq!((raw, report.kinds["rule_application"].left_out), (None, 3), "no raw database errors: {report:?}");
    // A file whose rules were removed by hand.
    let there = MemoryFixture::new().await;
    let without: Vec<String> = file.iter().filter(|line| !line.contains("\"type\" : \"rule\"")).cloned().collect();
    let report = import(&there, &without, |options| options.partial = true).await.unwrap();
    let marks =
        report.problems.iter().filter(|problem| problem.message.contains("a rule that this tenant does not have"));
    assert_eq!(marks.count(), 3, "{:?}", report.problems);

    let there = MemoryFixture::new().await;
    let changed: Vec<String> = (file.iter())
        .map(|line| line.replace("\"validity\" : \"retracted\"", "\"validity\" : \"forgotten\""))
        .map(|line| line.replace("\"f32\" : \"", "\"f32\" : \"!").replace("gone", "g\\u0000one"))
        .collect();
    let report = import(&there, &changed, |options| options.tenant = TenantId::new("ann").unwrap()).await.unwrap();
    assert!(report.committed, "{:?}", report.problems);
    assert!(report.embedded > 30, "memories without a vector of this model are embedded: {report:?}");
    let stats = there.call("memory_stats", json!({"tenant_id": "ann"})).await.unwrap();
    assert_eq!(stats["facts"]["retracted"], 1, "{stats}");
}

#[tokio::test]
async fn imported_facts_are_linked_to_the_entity_that_their_subject_names() {
    let here = MemoryFixture::new().await;
    here.call("memory_store_fact", json!({"subject": "Ada", "predicate": "plays", "content": "the harp"}))
        .await
        .unwrap();
    let lines = export(&here).await;
    let there = MemoryFixture::new().await;
    let ada = there.call("entity_create", json!({"canonical_name": "Ada", "entity_type": "person"})).await.unwrap();
    let report = import(&there, &lines, |_| ()).await.unwrap();
    assert_eq!((report.committed, report.linked), (true, 1), "{report:?}");
    let found = there.call("memory_search", json!({"query": "harp", "types": ["fact"]})).await.unwrap();
    assert_eq!(found["results"][0]["entity_id"], ada["entity_id"], "{found}");
    assert_eq!(import(&there, &lines, |_| ()).await.unwrap().linked, 0, "once");
}

#[tokio::test]
async fn a_time_or_number_that_the_program_cannot_read_is_refused_with_its_line() {
    let here = MemoryFixture::new().await;
    fill(&here).await;
    let file = export(&here).await;
    let row = |kind: &str| {
        let at = file.iter().position(|line| line.contains(&format!("\"type\" : \"{kind}\""))).unwrap();
        (at, serde_json::from_str::<Value>(&file[at]).unwrap())
    };
    for (kind, field, bad) in [
        ("fact", "created_at", json!("infinity")),
        ("fact", "last_confirmed_at", json!("-infinity")),
        ("episode", "expires_at", json!("+262142-01-01T00:00:00Z")),
        ("episode", "created_at", json!("294276-01-01 00:00:00+00")),
        ("rule", "last_applied_at", json!("0000-01-01T00:00:00Z")),
        ("entity", "updated_at", json!("tomorrow")),
        ("event", "created_at", json!("infinity")),
        ("link", "created_at", json!(7)),
        ("rule_application", "effectiveness_score", json!("NaN")),
        ("fact", "confidence", json!("NaN")),
        ("fact", "importance", json!("Infinity")),
    ] {
        let (at, mut value) = row(kind);
        value[field] = bad.clone();
        let mut poisoned = file.clone();
        poisoned[at] = value.to_string();
        let there = MemoryFixture::new().await;
        let report = import(&there, &poisoned, |_| ()).await.unwrap();
        assert!(!report.committed, "{kind}.{field} = {bad}");
        let problem = &report.problems[0];
        assert!(problem.message.starts_with(&format!("{field}: ")), "{kind}.{field} = {bad}: {problem:?}");
        assert_eq!(problem.line, Some(at as u64 + 1));
    }
}

#[tokio::test]
async fn imported_names_have_no_control_characters() {
    let here = MemoryFixture::new().await;
    here.call("entity_create", json!({"canonical_name": "Placeholder", "entity_type": "person"})).await.unwrap();
    let fact = json!({"subject": "Placeholder", "predicate": "likes", "content": "Placeholder stays"});
    here.call("memory_store_fact", fact).await.unwrap();
    let file: Vec<String> =
        export(&here).await.iter().map(|line| line.replace("\"Placeholder\"", r#""An\u001b[31m\u0000na\n""#)).collect();
    let there = MemoryFixture::new().await;
    let report = import(&there, &file, |_| ()).await.unwrap();
    assert!(report.committed, "{report:?}");
    let names: Vec<String> = export(&there).await.iter().filter(|line| line.contains("An [31m")).cloned().collect();
    assert_eq!(names.len(), 2, "the fact and the entity: {names:?}");
    assert!(names.iter().all(|line| line.contains(r#""An [31mna""#)), "{names:?}");
}

/// An older program compared keys letter by letter and wrote no times.
#[tokio::test]
async fn facts_of_an_older_export_that_meet_on_one_key_supersede_each_other_newest_first() {
    let fact = |number: u8, subject: &str, predicate: &str, content: &str, created_at: &str| {
        let id = format!("01993c1e-8a70-7d0c-b1a5-0000000000{number:02}");
        json!({"type": "fact", "id": id, "subject": subject, "predicate": predicate, "content": content,
               "validity": "active", "scope": "global", "created_at": created_at})
        .to_string()
    };
    let header = json!({"format": "butler-memory", "version": 1, "created_at": "2025-06-01T00:00:00Z", "program": "butler 0.1.0",
        "butler": "general", "tenant": "default", "counts": {"fact": 4}});
    let header = header.to_string();
    let lines = [
        header,
        fact(1, "User", "favorite color", "red", "2025-01-01T00:00:00Z"),
        fact(2, "user", "favorite_color", "blue", "2025-03-01T00:00:00Z"),
        fact(3, "USER", "Favorite-Color", "green", "2025-02-01T00:00:00Z"),
        fact(4, "User", "city", "Oslo", "2025-01-01T00:00:00Z"),
    ];
    let here = MemoryFixture::new().await;
    let report = import(&here, &lines, |_| ()).await.unwrap();
    assert!(report.committed && !report.has_problems(), "{report:?}");
    let mut pg = here.db.connect().await;
    let facts: Vec<(String, String, bool)> = sqlx::query_as(
        "SELECT content, validity, holds_from < holds_to FROM facts WHERE predicate_key = 'favorite_color' ORDER BY created_at",
    )
    .fetch_all(&mut pg)
    .await
    .unwrap();
    let row = |content: &str, validity: &str| (content.to_owned(), validity.to_owned(), true);
    assert_eq!(facts, [row("red", "superseded"), row("green", "superseded"), row("blue", "active")]);
    let events: Vec<String> = sqlx::query_scalar(
        "SELECT f.content FROM memory_events e JOIN facts f ON f.id = e.memory_id
         WHERE e.event_type = 'fact_superseded' AND e.actor = 'import' ORDER BY f.created_at",
    )
    .fetch_all(&mut pg)
    .await
    .unwrap();
    assert_eq!(events, ["red", "green"]);
    let due = "SELECT f.content FROM conflicts_due d JOIN facts f ON f.id = d.fact_id
               WHERE f.validity = 'active' ORDER BY f.content COLLATE \"C\"";
    let due: Vec<String> = sqlx::query_scalar(due).fetch_all(&mut pg).await.unwrap();
    assert_eq!(due, ["Oslo", "blue"], "both are compared with the other facts by the next run of the job");
    let found = here.call("memory_recall", json!({"topic": "favorite color", "min_confidence": 0})).await.unwrap();
    assert_eq!(found["results"][0]["content"], "blue", "{found}");
    let again = import(&here, &lines, |_| ()).await.unwrap();
    assert_eq!(
        (again.kinds["fact"].created, again.kinds["fact"].existing),
        (0, 4),
        "importing it again changes nothing"
    );

    // What was here before stays.
    let there = MemoryFixture::new().await;
    let known = json!({"subject": "user", "predicate": "favorite color", "content": "black"});
    there.call("memory_store_fact", known).await.unwrap();
    let report = import(&there, &lines, |_| ()).await.unwrap();
    assert!(report.committed, "black is newer: {report:?}");
    let active = "SELECT content FROM facts WHERE predicate_key = 'favorite_color' AND validity = 'active'";
    let active: Vec<String> = sqlx::query_scalar(active).fetch_all(&mut there.db.connect().await).await.unwrap();
    assert_eq!(active, ["black"]);
}
