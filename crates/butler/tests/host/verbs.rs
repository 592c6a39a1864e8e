//! Commands that call one tool, with and without a running server.

mod trust;

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{MCP_HEADERS, Serving, butler, eventually, request, stderr, stdout};

/// Runs commands on a data directory.
struct Shell<'a> {
    data_dir: &'a Path,
}

impl Shell<'_> {
    fn run(&self, args: &[&str]) -> Output {
        self.pipe(args, "")
    }

    fn pipe(&self, args: &[&str], stdin: &str) -> Output {
        let mut child = butler()
            .args(args)
            .arg("--data-dir")
            .arg(self.data_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }

    fn text(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        stdout(&output)
    }

    fn json(&self, args: &[&str]) -> Value {
        let text = self.text(&[args, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"))
    }
}

fn id(answer: &Value) -> String {
    answer["id"].as_str().unwrap().to_owned()
}

/// Replaces ids and times, which differ in every run.
fn normalized(text: &str) -> String {
    let placeholder = |word: &str| {
        let bare = word.trim_matches(['[', ']']);
        let dashes = bare.matches('-').count();
        let of_this_century = bare.starts_with("20") && dashes == 2;
        match bare.len() {
            36 if dashes == 4 => "ID",
            10 if of_this_century => "DAY",
            20.. if of_this_century && bare.ends_with('Z') => "TIME",
            5 if bare.as_bytes()[2] == b':' => "TIME",
            _ => "",
        }
    };
    text.split_inclusive(char::is_whitespace)
        .map(|word| match placeholder(word.trim_end()) {
            "" => word.to_owned(),
            name => word.replace(word.trim_end(), name),
        })
        .collect()
}

#[test]
fn every_command_works_through_a_running_server() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let shell = Shell { data_dir: &server.data_dir };

    let fact =
        id(&shell.json(&["remember", "fact", "user", "allergy", "severe, to peanuts", "--permanence", "permanent"]));
    let again = shell.text(&["remember", "fact", "user", "allergy", "to peanuts and shrimps", "--tag", "food,health"]);
    assert!(again.starts_with("stored fact ") && again.contains(&format!("supersedes {fact}")), "{again}");
    let rule = id(&shell.json(&["remember", "rule", "Ask about allergies before suggesting a recipe."]));
    let episode = shell.pipe(&["remember", "episode", "-", "--importance", "8", "--json"], "Ann cooked\nfor four.\n");
    let episode = id(&serde_json::from_str(&stdout(&episode)).unwrap());
    let stored = shell.json(&["get", &episode]);
    assert_eq!((&stored["content"], &stored["importance"]), (&json!("Ann cooked\nfor four."), &json!(8.0)));
    assert_eq!(stored["butler"], "general");

    let found = shell.json(&["search", "allergy to peanuts", "--type", "fact", "-n", "1"]);
    assert_eq!(found["results"].as_array().unwrap().len(), 1);
    assert_eq!(found["results"][0]["content"], "to peanuts and shrimps");
    for nothing in [["search", ""], ["recall", " "]] {
        assert_eq!(shell.json(&nothing)["results"], json!([]), "an empty query finds nothing");
    }
    insta::assert_snapshot!("search", normalized(&shell.text(&["search", "allergy to peanuts", "--mode", "keyword"])));
    assert!(shell.json(&["recall", "what can I cook?"])["results"][0]["relevance"].is_number());
    insta::assert_snapshot!("context", normalized(&shell.text(&["context", "Plan a dinner"])));
    assert!(shell.json(&["context", "Plan a dinner", "--token-budget", "200"])["tokens"].as_u64().unwrap() <= 200);
    let why = shell.json(&["why-not", "allergy to peanuts", &fact]);
    assert_eq!((&why["served"], &why["reasons"][0]["code"]), (&json!(false), &json!("superseded")));
    let told = shell.text(&["why-not", "allergy to peanuts", &rule, "--tool", "search"]);
    assert!(told.contains("it is returned at place"), "{told}");
    assert!(shell.text(&["why", "no-such-session"]).is_empty());
    insta::assert_snapshot!("get", normalized(&shell.text(&["get", "rule", &rule])));

    assert_eq!(shell.json(&["helpful", &rule])["success_count"], 1);
    let harmful = shell.text(&["harmful", &rule, "--reason", "it was only a salad"]);
    assert!(harmful.contains("1 helpful, 1 harmful, 2 applied"), "{harmful}");
    assert_eq!(shell.json(&["confirm", &rule])["effective_confidence"], 0.5);
    assert_eq!(shell.json(&["forget", &episode])["changed"], true);
    assert!(shell.text(&["forget", "episode", &episode]).starts_with("already forgotten:"));
    let unknown = shell.run(&["forget", "01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa", "--json"]);
    assert!(stderr(&unknown).contains("there is no memory with id 01993c1e"), "{}", stderr(&unknown));
    let stats = shell.json(&["stats"]);
    assert_eq!((&stats["facts"]["active"], &stats["facts"]["superseded"]), (&json!(1), &json!(1)));
    insta::assert_snapshot!("stats", normalized(&shell.text(&["stats"])));

    // Another tenant sees none of it.
    assert_eq!(shell.json(&["stats", "--tenant", "ann"])["facts"]["total"], 0);
    let nothing = shell.run(&["stats", "--tenant", "ann"]);
    assert!(stderr(&nothing).contains("check --tenant"), "{}", stderr(&nothing));
    assert_eq!(server.mcp().call("memory_stats", json!({}))["facts"]["total"], 2);

    // Once a token exists, requests without one are rejected, but commands of this user still work.
    shell.json(&["token", "create", "--tenant", "ann"]);
    let stranger = || request(server.address, "POST", "/mcp", &MCP_HEADERS, b"{}").status;
    eventually(Duration::from_secs(60), "the server requires a token", || (stranger() == 401).then_some(()));
    assert_eq!(shell.json(&["stats"])["facts"]["total"], 2);
}

#[test]
fn entities_are_created_resolved_updated_and_merged_from_the_shell() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let shell = Shell { data_dir: &server.data_dir };
    let create = |name: &str| {
        let created = shell.json(&["entity", "create", name, "--type", "person"]);
        created["entity_id"].as_str().unwrap().to_owned()
    };
    let (chloe, duplicate) = (create("Chloe Martin"), create("C. Martin"));
    shell.json(&["entity", "update", &chloe, "--alias", "Chloe", "--metadata", "{\"team\": 3}"]);
    insta::assert_snapshot!("resolve", normalized(&shell.text(&["entity", "resolve", "Chloe"])));
    shell.json(&["remember", "fact", "Chloe", "employer", "Initech", "--entity-id", &duplicate]);
    shell.json(&["entity", "merge", &duplicate, &chloe]);
    assert_eq!(shell.json(&["entity", "get", &duplicate])["merged_into"], json!(chloe));
    let itself = stderr(&shell.run(&["entity", "merge", &chloe, &chloe]));
    assert!(itself.contains("SOURCE") && !itself.contains("entity_id"), "{itself}");
    let refused = shell.run(&["entity", "create", "Chloe Martin", "--type", "person"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains(&chloe), "{}", stderr(&refused));
    assert_eq!(shell.run(&["entity", "update", &chloe]).status.code(), Some(2), "there is nothing to update");

    let linked = shell.text(&["remember", "fact", "Chloe Martin", "city", "Lyon"]);
    assert!(linked.contains(&format!("about the entity of this name, {chloe}")), "{linked}");

    let kims = [create("Kim A"), create("Kim B")];
    for kim in &kims {
        shell.json(&["entity", "update", kim, "--alias", "Kim"]);
    }
    let told = shell.text(&["remember", "fact", "Kim", "job", "teacher"]);
    assert!(told.contains("store the same fact again with --entity-id"), "{told}");
    assert!(kims.iter().zip(["Kim A", "Kim B"]).all(|(id, name)| told.contains(&format!("{id}  {name} (person)"))));
    assert!(
        shell.text(&["remember", "fact", "Kim", "job", "teacher", "--entity-id", &kims[0]]).starts_with("confirmed")
    );
}

#[test]
fn without_a_server_a_command_opens_the_database_itself_and_leaves_nothing_running() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let shell = Shell { data_dir: &data_dir };
    let stored = shell.json(&["remember", "fact", "user", "city", "Lyon", "--tenant", "ann"]);
    assert_eq!(crate::program::postgres_pid(&data_dir), None, "the private PostgreSQL was stopped");
    // Reading by id needs no model, so an invalid model directory does not matter.
    let fact = shell.json(&["get", "fact", &id(&stored), "--tenant", "ann", "--model-dir", "/nowhere"]);
    assert_eq!(fact["content"], "Lyon");
    let stranger = shell.run(&["get", "fact", &id(&stored)]);
    assert_eq!(stranger.status.code(), Some(1));
    assert!(stderr(&stranger).contains("hint: "), "{}", stderr(&stranger));
    let sweep = shell.json(&["jobs", "run", "decay_sweep", "--dry-run"]);
    assert_eq!((&sweep["mode"], &sweep["facts_expired"]), (&json!("dry_run"), &json!(0)));
    for wrong in [&["jobs", "run", "nosuch"][..], &["jobs", "run", "retrain_indexes", "--dry-run"]] {
        let output = shell.run(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("hint: "), "{}", stderr(&output));
    }
    // Without a server the command itself turns the rule into a warning at the third mark.
    let rule = id(&shell.json(&["remember", "rule", "Restart it first.", "--tenant", "ann"]));
    for marks in 1..=3 {
        let marked = shell.json(&["harmful", &rule, "--reason", "data were lost", "--tenant", "ann"]);
        assert_eq!(marked["harmful_count"], marks);
    }
    let warning = shell.json(&["get", "rule", &rule, "--tenant", "ann"]);
    assert_eq!(warning["maturity"], "anti_pattern", "{warning}");
}

#[test]
fn invalid_arguments_exit_with_code_2_before_the_database_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let shell = Shell { data_dir: &dir.path().join("data") };
    for args in [
        &["remember", "fact", "user"][..],
        &["remember", "episode"],
        &["remember", "episode", ""],
        &["recall"],
        &["search"],
        &["remember", "fact", "a", "b", "c", "--permanence", "forever"],
        &["remember", "rule", "r", "--metadata", "[1]"],
        &["get", "fact", "no-uuid"],
        &["get", "thought", "01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa"],
        &["search", "x", "--mode", "loud"],
        &["stats", "--config", "a.toml", "--roster", "b"],
    ] {
        let output = shell.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stdout(&output).is_empty() && !stderr(&output).is_empty(), "{args:?}");
    }
    assert!(crate::program::postgres_pid(&dir.path().join("data")).is_none());
}

#[test]
fn entity_commands_take_names_list_entities_and_preview_a_merge() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let shell = Shell { data_dir: &server.data_dir };
    for (name, entity_type) in [("Ann", "person"), ("A. Lee", "person"), ("Oslo", "place")] {
        shell.json(&["entity", "create", name, "--type", entity_type]);
    }
    shell.json(&["entity", "update", "Ann", "--alias", "Anni"]);
    let updated = shell.json(&["entity", "update", "Ann", "--add-alias", "Annie"]);
    assert_eq!(updated["aliases"], json!(["Anni", "Annie"]), "{updated}");
    shell.json(&["remember", "fact", "Annie", "lives_in", "Oslo"]);
    shell.json(&["remember", "fact", "A. Lee", "lives_in", "Rome"]);
    shell.json(&["remember", "fact", "Ann", "visited", "Oslo", "--object", "Oslo"]);
    let names = |args: &[&str]| -> Vec<String> {
        let listed = shell.json(args);
        let rows = listed["entities"].as_array().unwrap();
        rows.iter().map(|row| row["canonical_name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["entity", "list"]), ["A. Lee", "Ann", "Oslo"]);
    assert_eq!(names(&["entity", "list", "--type", "place"]), ["Oslo"]);
    assert_eq!(names(&["entity", "list", "--limit", "1", "--since", "1h"]), ["A. Lee"]);
    assert_eq!(names(&["entity", "list", "--until", "2001"]), [""; 0]);
    assert!(shell.text(&["entity", "list"]).contains("Ann (person, also Anni, Annie)\n"));
    assert_eq!(shell.json(&["entity", "get", "annie"])["canonical_name"], "Ann");
    assert_eq!(shell.text(&["entity", "neighbors", "Annie", "--predicate", "visited"]), "Ann visited Oslo\n");
    assert_eq!(shell.text(&["entity", "neighbors", "Annie", "--valid-at", "2001-01-01", "--as-of", "2001-01-01"]), "");

    let told = shell.text(&["entity", "merge", "A. Lee", "Ann", "--preview"]);
    assert!(told.contains("would merge A. Lee (person, 1 fact) into Ann (person, 2 facts)"), "{told}");
    assert!(told.contains("lives_in differs: Rome and Oslo"), "{told}");
    assert_eq!(names(&["entity", "list"]).len(), 3, "nothing was merged");
    shell.json(&["entity", "merge", "A. Lee", "Ann"]);
    assert_eq!(names(&["entity", "list"]), ["Ann", "Oslo"]);
    shell.json(&["entity", "unmerge", "a. lee"]);
    let again = stderr(&shell.run(&["entity", "unmerge", "a. lee"]));
    assert!(again.contains("\"a. lee\" is not merged into another entity"), "{again}");
    assert_eq!(names(&["entity", "list"]), ["A. Lee", "Ann", "Oslo"]);

    shell.json(&["entity", "create", "Ann", "--type", "organization"]);
    let refused = shell.run(&["entity", "get", "Ann"]);
    let told = stderr(&refused);
    assert!(told.contains("2 entities are called \"Ann\"") && told.contains("(Ann, organization)"), "{told}");
    assert!(stderr(&shell.run(&["entity", "get", "Zoe"])).contains("no entity is called \"Zoe\""));
}

#[test]
fn a_fact_is_corrected_and_loses_a_date_from_the_shell() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let shell = Shell { data_dir: &server.data_dir };
    let dates = ["--valid-from", "2020", "--valid-to", "2024-03"];
    let fact = id(&shell.json(&[&["remember", "fact", "Ann", "lives_in", "Oslo"], &dates[..]].concat()));
    let edited = id(&shell.json(&["edit", &fact, "--content", "Bergen", "--no-valid-to"]));
    let shown = shell.json(&["get", "fact", &edited]);
    assert_eq!((&shown["content"], &shown["valid_from"]), (&json!("Bergen"), &json!("2020")), "{shown}");
    assert_eq!(shown.get("valid_to"), None);
    assert_eq!(shell.run(&["edit", &edited]).status.code(), Some(2), "there is nothing to change");
    let forgotten = shell.run(&["forget", &edited]);
    assert!(stderr(&forgotten).contains(&format!("butler restore {edited}")), "{}", stderr(&forgotten));
    assert!(shell.text(&["restore", &edited]).starts_with(&format!("restored fact {edited}")));
    assert_eq!(shell.json(&["get", &edited])["validity"], "active");
    assert_eq!(shell.json(&["restore", &edited])["changed"], false, "it is active already");
    let unknown = shell.run(&["restore", "01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa"]);
    assert!(stderr(&unknown).contains("there is no fact or rule"), "{}", stderr(&unknown));
    let unknown = shell.run(&["edit", "01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa", "--content", "x"]);
    assert!(stderr(&unknown).contains("there is no fact"), "{}", stderr(&unknown));
}
