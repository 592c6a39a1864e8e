//! Backups with the runtime's own tools.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Mcp, Serving, butler, eventually, foreign_database, request, sql, stderr, stdout};

fn recalls(serving: &Serving) -> Vec<Value> {
    let mcp = serving.mcp();
    let topics = (0..40).map(|at| format!("what is thing {}", at % 8));
    topics.map(|topic| mcp.call("memory_search", json!({"query": topic, "limit": 3}))["results"].clone()).collect()
}

#[test]
fn backup_wipe_restore_gives_the_same_answers() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let serving = Serving::on(&data);
    for at in 0..8 {
        let fact = json!({"subject": format!("thing {at}"), "predicate": "is", "content": format!("number {at}")});
        serving.mcp().call("memory_store_fact", fact);
    }
    let asked = recalls(&serving);
    let run = |args: &[&str]| butler().args(args).arg("--data-dir").arg(&data).output().unwrap();
    let said = |args: &[&str]| {
        let output = run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    let made = said(&["backup", "create", "--json"]);
    assert_eq!(made["rows"]["facts"], 8, "{made}");
    assert!(made["bytes"].as_u64().unwrap() > 1000 && made["path"].as_str().unwrap().ends_with(".dump"), "{made}");
    assert_eq!(said(&["backup", "list", "--json"])["backups"][0]["name"], made["name"]);
    assert_eq!(said(&["backup", "verify", "--json"])["verified"], true);

    let refused = run(&["backup", "restore", "--yes"]);
    assert!(!refused.status.success() && stderr(&refused).contains("stop it first"), "{}", stderr(&refused));
    serving.mcp().call("memory_store_fact", json!({"subject": "thing 1", "predicate": "is", "content": "wrong"}));
    serving.stop();

    let asked_whom = run(&["backup", "restore"]);
    assert!(stderr(&asked_whom).contains("--yes"), "{}", stderr(&asked_whom));
    let name = made["name"].as_str().unwrap();
    let restored = said(&["backup", "restore", name, "--yes", "--json"]);
    assert_eq!(restored["before"]["rows"]["facts"], 9, "what was there is kept: {restored}");
    let serving = Serving::on(&data);
    let again = recalls(&serving);
    let contents = |answers: &[Value]| -> Vec<Vec<(String, String)>> {
        let pair = |hit: &Value| (hit["id"].to_string(), hit["content"].to_string());
        answers.iter().map(|hits| hits.as_array().unwrap().iter().map(pair).collect()).collect()
    };
    assert_eq!(contents(&again), contents(&asked));
    serving.stop();

    let path = std::path::Path::new(made["path"].as_str().unwrap());
    let whole = std::fs::read(path).unwrap();
    std::fs::write(path, &whole[..whole.len() / 2]).unwrap();
    let damaged = run(&["backup", "verify", name]);
    assert!(!damaged.status.success() && stderr(&damaged).contains("pg_restore failed"), "{}", stderr(&damaged));
}

#[test]
fn a_restore_keeps_the_tokens_as_they_are_now() {
    let dir = tempfile::tempdir().unwrap();
    let run =
        |args: &[&str]| told(&butler().args(args).arg("--json").arg("--data-dir").arg(dir.path()).output().unwrap());
    let create = |name: &str| run(&["token", "create", "--name", name])["id"].as_str().unwrap().to_owned();
    let (stays, goes) = (create("stays"), create("goes"));
    run(&["backup", "create"]);
    run(&["token", "revoke", &goes]);
    let comes = create("comes");
    run(&["backup", "restore", "--yes"]);
    let tokens = run(&["token", "list"]);
    let state = |id: &str| {
        let all = tokens["tokens"].as_array().unwrap();
        all.iter().find(|token| token["id"] == id).map(|token| token["state"].as_str().unwrap().to_owned())
    };
    let states = [&stays, &goes, &comes].map(|id| state(id).unwrap_or_default());
    assert_eq!(states, ["active", "revoked", "active"], "{tokens}");
}

fn told(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).unwrap()
}

fn facts(server: &Serving, butler: &str) -> Value {
    let mcp = Mcp { path: format!("/butlers/{butler}/mcp"), ..server.mcp() };
    mcp.call("memory_stats", json!({}))["facts"]["total"].clone()
}

fn learn(server: &Serving, butler: &str, subject: &str) {
    let mcp = Mcp { path: format!("/butlers/{butler}/mcp"), ..server.mcp() };
    mcp.call("memory_store_fact", json!({"subject": subject, "predicate": "is", "content": "known"}));
}

#[test]
fn a_schema_of_a_shared_database_is_backed_up_and_restored_and_its_neighbour_is_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let (elsewhere, url) = foreign_database(&dir.path().join("elsewhere"), "shared", "CREATE DATABASE shared");
    let roster = dir.path().join("roster");
    for (name, schema) in [("ants", "ants"), ("bees", "_bees_2"), ("public", "public")] {
        std::fs::create_dir_all(roster.join(name)).unwrap();
        let toml = format!("[butler.database]\nurl = \"{url}\"\nschema = \"{schema}\"\n");
        std::fs::write(roster.join(name).join("butler.toml"), toml).unwrap();
    }
    let data = dir.path().join("data");
    let run = |args: &[&str]| {
        let place = [OsStr::new("--data-dir"), data.as_os_str(), OsStr::new("--roster"), roster.as_os_str()];
        butler().args(args).args(place).output().unwrap()
    };
    let serve = || Serving::with(&data, &["--roster".as_ref(), roster.as_os_str()]);
    let server = serve();
    learn(&server, "ants", "hill");
    learn(&server, "bees", "hive");
    let made = told(&run(&["backup", "create", "--butler", "bees", "--json"]));
    assert_eq!(made["rows"]["facts"], 1, "{made}");
    assert_eq!(told(&run(&["backup", "verify", "--butler", "bees", "--json"]))["verified"], true);
    learn(&server, "ants", "queen");
    learn(&server, "bees", "drone");
    // One butler has the whole database to itself or none of it.
    let refused = run(&["backup", "create", "--butler", "public"]);
    assert!(!refused.status.success() && stderr(&refused).contains("its own schema"), "{}", stderr(&refused));
    server.stop();

    let name = made["name"].as_str().unwrap();
    let dump = Path::new(made["path"].as_str().unwrap());
    let whole = std::fs::read(dump).unwrap();
    std::fs::write(dump, &whole[..whole.len() * 2 / 3]).unwrap();
    let cut = run(&["backup", "restore", name, "--butler", "bees", "--yes"]);
    assert!(!cut.status.success(), "half a dump was taken for a whole one");
    let server = serve();
    assert_eq!((facts(&server, "ants"), facts(&server, "bees")), (json!(2), json!(2)), "nothing changed");
    server.stop();

    std::fs::write(dump, whole).unwrap();
    let restored = told(&run(&["backup", "restore", name, "--butler", "bees", "--yes", "--json"]));
    assert_eq!(restored["before"]["rows"]["facts"], 2, "what was there is kept: {restored}");
    let server = serve();
    assert_eq!((facts(&server, "ants"), facts(&server, "bees")), (json!(2), json!(1)));
    learn(&server, "bees", "wax");
    drop(server);

    let made = told(&run(&["token", "create", "--butler", "bees", "--json"]));
    told(&run(&["backup", "create", "--butler", "bees", "--json"]));
    told(&run(&["token", "revoke", made["id"].as_str().unwrap(), "--butler", "bees", "--json"]));
    told(&run(&["backup", "restore", "--butler", "bees", "--yes", "--json"]));
    let tokens = told(&run(&["token", "list", "--butler", "bees", "--json"]));
    assert_eq!(tokens["tokens"][0]["state"], "revoked", "a restore lets nobody in again: {tokens}");
    drop(elsewhere);
}

#[test]
fn backups_and_the_demo_work_on_a_database_of_ones_own() {
    let dir = tempfile::tempdir().unwrap();
    let (elsewhere, url) = foreign_database(&dir.path().join("elsewhere"), "mine", "CREATE DATABASE mine");
    let data = dir.path().join("data");
    let run = |args: &[&str]| {
        butler().args(args).arg("--data-dir").arg(&data).args(["--database-url", &url]).output().unwrap()
    };
    let serve = || Serving::with(&data, &["--database-url".as_ref(), OsStr::new(&url)]);
    let server = serve();
    learn(&server, "general", "sky");
    let made = told(&run(&["backup", "create", "--json"]));
    assert_eq!((&made["rows"]["facts"], &made["schema"]), (&json!(1), &json!("public")), "{made}");
    assert_eq!(told(&run(&["backup", "verify", "--json"]))["verified"], true);
    learn(&server, "general", "sea");
    server.stop();
    told(&run(&["backup", "restore", "--yes", "--json"]));
    let server = serve();
    assert_eq!(facts(&server, "general"), 1);

    // The demo is a schema of the same database.
    let demo = told(&run(&["demo", "--size", "500", "--json"]));
    assert!(demo["memories"].as_u64().unwrap() >= 500, "{demo}");
    let shown = || server.get("/api/butlers").json()["data"].as_array().unwrap().len() == 2;
    eventually(Duration::from_secs(60), "the server shows the demo", || shown().then_some(()));
    assert!(facts(&server, "demo").as_u64().unwrap() > 0);
    assert_eq!(facts(&server, "general"), 1);
    assert_eq!(told(&run(&["backup", "create", "--butler", "demo", "--json"]))["schema"], "demo");
    assert_eq!(told(&run(&["demo", "--remove", "--json"]))["removed"], true);
    eventually(Duration::from_secs(60), "the demo goes", || (!shown()).then_some(()));
    told(&run(&["backup", "create", "--json"]));
    sql(&url, "CREATE TABLE orders (id int)");
    let refused = run(&["backup", "create"]);
    assert!(stderr(&refused).contains("public.orders"), "{}", stderr(&refused));
    drop(server);
    drop(elsewhere);
}

#[test]
fn scheduled_backups_are_made_pruned_listed_and_their_failure_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (config, data) = (dir.path().join("butler.toml"), dir.path().join("data"));
    let toml = "[butler.backup]\nschedule = \"* * * * * *\"\nkeep = 2\ndir = \"kept\"\n";
    std::fs::write(&config, toml).unwrap();
    let run =
        |args: &[&str]| butler().args(args).arg("--data-dir").arg(&data).arg("--config").arg(&config).output().unwrap();
    let server = Serving::with(&data, &["--config".as_ref(), config.as_os_str()]);
    let backup = || {
        let listed = told(&run(&["jobs", "list", "--json"]));
        listed["jobs"].as_array().unwrap().iter().find(|job| job["job"] == "backup").unwrap().clone()
    };
    // The third one that succeeds has removed the first.
    let job = eventually(Duration::from_secs(60), "three backups", || {
        Some(backup()).filter(|job| job["last_run"]["result"]["removed"] == 1)
    });
    assert_eq!((&job["cron"], &job["enabled"]), (&json!("* * * * * *"), &json!(true)), "{job}");
    let kept = told(&run(&["backup", "list", "--json"]));
    let kept = kept["backups"].as_array().unwrap();
    assert!((2..=3).contains(&kept.len()), "{kept:?}");
    assert!(Path::new(kept[0]["path"].as_str().unwrap()).starts_with(dir.path().join("kept/general")), "{kept:?}");
    assert!(server.get("/metrics").text().contains("job=\"backup\""));

    // It counts what all tenants have: one tenant's token learns nothing of it, and starts none.
    let made = told(&run(&["token", "create", "--tenant", "ann", "--rights", "read,admin", "--json"]));
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let ask = |method: &str, path: &str| request(server.address, method, path, &[("Authorization", &bearer)], b"");
    eventually(Duration::from_secs(60), "the token counts", || (server.get("/api/jobs").status == 401).then_some(()));
    let jobs = ask("GET", "/api/jobs").json();
    let shown = jobs["data"].as_array().unwrap().iter().find(|job| job["job"] == "backup").unwrap();
    assert_eq!(shown["runs"][0]["result"], json!({}), "{shown}");
    let refused = ask("POST", "/api/jobs/backup/run");
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("forbidden")));
    server.stop();

    // A folder that cannot be written is a run that failed, and doctor says so.
    std::fs::write(&config, toml.replace("* * * * * *", "0 3 * * *").replace("kept", "butler.toml")).unwrap();
    let failed = run(&["jobs", "run", "backup"]);
    assert!(!failed.status.success() && stderr(&failed).contains("cannot create"), "{}", stderr(&failed));
    let checks = run(&["doctor", "--json"]);
    let checks: Value = serde_json::from_str(&stdout(&checks)).unwrap();
    let of_backups = checks["checks"].as_array().unwrap().iter().filter(|check| check["name"] == "backups");
    let verdicts: Vec<&Value> = of_backups.filter(|check| check["verdict"] == "failed").collect();
    assert!(
        verdicts.iter().any(|check| check["remedy"].as_str().unwrap().contains("butler jobs run backup")),
        "{checks}"
    );
    for (args, why) in [(["--dry-run"].as_slice(), "butler backup verify"), (&["--tenant", "ann"], "of all tenants")] {
        let refused = run(&[&["jobs", "run", "backup"], args].concat());
        assert!(!refused.status.success() && stderr(&refused).contains(why), "{}", stderr(&refused));
    }
}
