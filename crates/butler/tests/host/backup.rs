//! `butler backup` and scheduled backups.

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
    let expected = recalls(&serving);
    let run = |args: &[&str]| butler().args(args).arg("--data-dir").arg(&data).output().unwrap();
    let json = |args: &[&str]| {
        let output = run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    let created = json(&["backup", "create", "--json"]);
    assert_eq!(created["rows"]["facts"], 8, "{created}");
    assert!(
        created["bytes"].as_u64().unwrap() > 1000 && created["path"].as_str().unwrap().ends_with(".dump"),
        "{created}"
    );
    assert_eq!(json(&["backup", "list", "--json"])["backups"][0]["name"], created["name"]);
    assert_eq!(json(&["backup", "verify", "--json"])["verified"], true);

    let refused = run(&["backup", "restore", "--yes"]);
    assert!(!refused.status.success() && stderr(&refused).contains("stop it first"), "{}", stderr(&refused));
    serving.mcp().call("memory_store_fact", json!({"subject": "thing 1", "predicate": "is", "content": "wrong"}));
    serving.stop();

    let unconfirmed = run(&["backup", "restore"]);
    assert!(stderr(&unconfirmed).contains("--yes"), "{}", stderr(&unconfirmed));
    let name = created["name"].as_str().unwrap();
    let restored = json(&["backup", "restore", name, "--yes", "--json"]);
    assert_eq!(restored["before"]["rows"]["facts"], 9, "the previous state is kept: {restored}");
    let serving = Serving::on(&data);
    let again = recalls(&serving);
    let contents = |answers: &[Value]| -> Vec<Vec<(String, String)>> {
        let pair = |hit: &Value| (hit["id"].to_string(), hit["content"].to_string());
        answers.iter().map(|hits| hits.as_array().unwrap().iter().map(pair).collect()).collect()
    };
    assert_eq!(contents(&again), contents(&expected));
    let events = serving.get("/api/timeline?type=backup_restored").json();
    assert_eq!((&events["meta"]["total"], &events["data"][0]["actor"]), (&json!(1), &json!("cli")), "{events}");
    assert_eq!(events["data"][0]["payload"]["backup"], name);
    serving.stop();

    let path = std::path::Path::new(created["path"].as_str().unwrap());
    let whole = std::fs::read(path).unwrap();
    std::fs::write(path, &whole[..whole.len() / 2]).unwrap();
    let damaged = run(&["backup", "verify", name]);
    assert!(!damaged.status.success() && stderr(&damaged).contains("pg_restore failed"), "{}", stderr(&damaged));
}

#[test]
fn a_restore_keeps_the_current_tokens() {
    let dir = tempfile::tempdir().unwrap();
    let run =
        |args: &[&str]| json_of(&butler().args(args).arg("--json").arg("--data-dir").arg(dir.path()).output().unwrap());
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

fn json_of(output: &Output) -> Value {
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
fn one_schema_of_a_shared_database_is_backed_up_and_restored_without_touching_others() {
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
    let created = json_of(&run(&["backup", "create", "--butler", "bees", "--json"]));
    assert_eq!(created["rows"]["facts"], 1, "{created}");
    assert_eq!(json_of(&run(&["backup", "verify", "--butler", "bees", "--json"]))["verified"], true);
    learn(&server, "ants", "queen");
    learn(&server, "bees", "drone");
    // A butler in the schema `public` can be backed up only if it has the database to itself.
    let refused = run(&["backup", "create", "--butler", "public"]);
    assert!(!refused.status.success() && stderr(&refused).contains("its own schema"), "{}", stderr(&refused));
    server.stop();

    let name = created["name"].as_str().unwrap();
    let dump = Path::new(created["path"].as_str().unwrap());
    let whole = std::fs::read(dump).unwrap();
    std::fs::write(dump, &whole[..whole.len() * 2 / 3]).unwrap();
    let cut = run(&["backup", "restore", name, "--butler", "bees", "--yes"]);
    assert!(!cut.status.success(), "a truncated dump was accepted");
    let server = serve();
    assert_eq!((facts(&server, "ants"), facts(&server, "bees")), (json!(2), json!(2)), "nothing changed");
    server.stop();

    std::fs::write(dump, whole).unwrap();
    let restored = json_of(&run(&["backup", "restore", name, "--butler", "bees", "--yes", "--json"]));
    assert_eq!(restored["before"]["rows"]["facts"], 2, "the previous state is kept: {restored}");
    let server = serve();
    assert_eq!((facts(&server, "ants"), facts(&server, "bees")), (json!(2), json!(1)));
    learn(&server, "bees", "wax");
    drop(server);

    let created = json_of(&run(&["token", "create", "--butler", "bees", "--json"]));
    json_of(&run(&["backup", "create", "--butler", "bees", "--json"]));
    json_of(&run(&["token", "revoke", created["id"].as_str().unwrap(), "--butler", "bees", "--json"]));
    json_of(&run(&["backup", "restore", "--butler", "bees", "--yes", "--json"]));
    let tokens = json_of(&run(&["token", "list", "--butler", "bees", "--json"]));
    assert_eq!(tokens["tokens"][0]["state"], "revoked", "a restore does not reactivate a revoked token: {tokens}");
    drop(elsewhere);
}

#[test]
fn backups_and_the_demo_work_on_a_custom_database() {
    let dir = tempfile::tempdir().unwrap();
    let (elsewhere, url) = foreign_database(&dir.path().join("elsewhere"), "mine", "CREATE DATABASE mine");
    let data = dir.path().join("data");
    let run = |args: &[&str]| {
        butler().args(args).arg("--data-dir").arg(&data).args(["--database-url", &url]).output().unwrap()
    };
    let serve = || Serving::with(&data, &["--database-url".as_ref(), OsStr::new(&url)]);
    let server = serve();
    learn(&server, "general", "sky");
    let created = json_of(&run(&["backup", "create", "--json"]));
    assert_eq!((&created["rows"]["facts"], &created["schema"]), (&json!(1), &json!("public")), "{created}");
    assert_eq!(json_of(&run(&["backup", "verify", "--json"]))["verified"], true);
    learn(&server, "general", "sea");
    server.stop();
    json_of(&run(&["backup", "restore", "--yes", "--json"]));
    let server = serve();
    assert_eq!(facts(&server, "general"), 1);

    // The demo is a schema of the same database.
    let demo = json_of(&run(&["demo", "--size", "500", "--json"]));
    assert!(demo["memories"].as_u64().unwrap() >= 500, "{demo}");
    let shown = || server.get("/api/butlers").json()["data"].as_array().unwrap().len() == 2;
    eventually(Duration::from_secs(60), "the server shows the demo", || shown().then_some(()));
    assert!(facts(&server, "demo").as_u64().unwrap() > 0);
    assert_eq!(facts(&server, "general"), 1);
    assert_eq!(json_of(&run(&["backup", "create", "--butler", "demo", "--json"]))["schema"], "demo");
    assert_eq!(json_of(&run(&["demo", "--remove", "--json"]))["removed"], true);
    eventually(Duration::from_secs(60), "the demo is removed", || (!shown()).then_some(()));
    json_of(&run(&["backup", "create", "--json"]));
    sql(&url, "CREATE TABLE orders (id int)");
    let refused = run(&["backup", "create"]);
    assert!(stderr(&refused).contains("public.orders"), "{}", stderr(&refused));
    drop(server);
    drop(elsewhere);
}

#[test]
fn what_a_killed_restore_leaves_behind_is_named_by_doctor_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (elsewhere, url) = foreign_database(&dir.path().join("elsewhere"), "mine", "CREATE DATABASE mine");
    let admin = url.replacen("/mine?", "/postgres?", 1);
    let data = dir.path().join("data");
    let serve = || Serving::with(&data, &["--database-url".as_ref(), OsStr::new(&url)]);
    let server = serve();
    learn(&server, "general", "sky");
    server.stop();
    // Killed between its two renames, and while it dumped the current state.
    sql(&admin, "ALTER DATABASE mine RENAME TO mine_before_20260101000000001");
    sql(&admin, "CREATE DATABASE mine_restore_20260101000000000");
    sql(&admin, "CREATE DATABASE mine_verify_20260101000000000");
    sql(&admin, "CREATE DATABASE mines_verify_20260101000000000");
    let part = data.join("backups/general/general-x.dump.part");
    std::fs::create_dir_all(part.parent().unwrap()).unwrap();
    std::fs::write(&part, "half a dump").unwrap();

    let doctor =
        butler().args(["doctor", "--json", "--database-url", &url]).arg("--data-dir").arg(&data).output().unwrap();
    let checks: Value = serde_json::from_str(&stdout(&doctor)).unwrap();
    let named = |check: &&Value| check["detail"].as_str().unwrap().contains("an interrupted restore");
    let warning = checks["checks"].as_array().unwrap().iter().find(named).unwrap_or_else(|| panic!("{checks}"));
    for name in ["mine_before_2026", "mine_restore_2026", "mine_verify_2026", "general-x.dump.part"] {
        assert!(warning["detail"].as_str().unwrap().contains(name), "{warning}");
    }

    let server = serve();
    assert_eq!(facts(&server, "general"), 1, "the previous data are back");
    assert!(!part.exists());
    let only_somebody_elses = || {
        sql(
            &admin,
            "DO $$ BEGIN IF (SELECT count(*) FROM pg_database WHERE datname ~ '_(verify|restore|before)_') <> 1
             THEN RAISE 'only the database of somebody else stays'; END IF; END $$",
        );
    };
    only_somebody_elses();
    server.stop();
    // Killed before its first rename, so nothing but the leftovers tells of it.
    sql(&admin, "CREATE DATABASE mine_restore_20260101000000002");
    let server = serve();
    only_somebody_elses();
    drop(server);
    drop(elsewhere);
}

#[test]
fn scheduled_backups_are_created_pruned_and_listed_and_failures_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (config, data) = (dir.path().join("butler.toml"), dir.path().join("data"));
    let toml = "[butler.backup]\nschedule = \"* * * * * *\"\nkeep = 2\ndir = \"kept\"\n";
    std::fs::write(&config, toml).unwrap();
    let run =
        |args: &[&str]| butler().args(args).arg("--data-dir").arg(&data).arg("--config").arg(&config).output().unwrap();
    let server = Serving::with(&data, &["--config".as_ref(), config.as_os_str()]);
    let backup = || {
        let listed = json_of(&run(&["jobs", "list", "--json"]));
        listed["jobs"].as_array().unwrap().iter().find(|job| job["job"] == "backup").unwrap().clone()
    };
    // The third successful backup removes the first.
    let job = eventually(Duration::from_secs(60), "three backups", || {
        Some(backup()).filter(|job| job["last_run"]["result"]["removed"] == 1)
    });
    assert_eq!((&job["cron"], &job["enabled"]), (&json!("* * * * * *"), &json!(true)), "{job}");
    let kept = json_of(&run(&["backup", "list", "--json"]));
    let kept = kept["backups"].as_array().unwrap();
    assert!((2..=3).contains(&kept.len()), "{kept:?}");
    assert!(Path::new(kept[0]["path"].as_str().unwrap()).starts_with(dir.path().join("kept/general")), "{kept:?}");
    assert!(server.get("/metrics").text().contains("job=\"backup\""));

    // A backup covers all tenants, so the token of one tenant neither sees its result nor starts one.
    let created = json_of(&run(&["token", "create", "--tenant", "ann", "--rights", "read,admin", "--json"]));
    let bearer = format!("Bearer {}", created["token"].as_str().unwrap());
    let ask = |method: &str, path: &str| request(server.address, method, path, &[("Authorization", &bearer)], b"");
    eventually(Duration::from_secs(60), "the token takes effect", || {
        (server.get("/api/jobs").status == 401).then_some(())
    });
    let jobs = ask("GET", "/api/jobs").json();
    let shown = jobs["data"].as_array().unwrap().iter().find(|job| job["job"] == "backup").unwrap();
    assert_eq!(shown["runs"][0]["result"], json!({}), "{shown}");
    let refused = ask("POST", "/api/jobs/backup/run");
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("forbidden")));
    server.stop();

    // A directory that cannot be created makes the run fail, and `doctor` reports it.
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
    for (args, why) in
        [(["--dry-run"].as_slice(), "butler backup verify"), (&["--tenant", "ann"], "contains all tenants")]
    {
        let refused = run(&[&["jobs", "run", "backup"], args].concat());
        assert!(!refused.status.success() && stderr(&refused).contains(why), "{}", stderr(&refused));
    }
}

#[test]
fn a_restore_names_the_erasures_that_it_undoes() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| butler().args(args).arg("--data-dir").arg(dir.path()).output().unwrap();
    let json = |args: &[&str]| json_of(&run(&[args, &["--json"]].concat()));
    let entity = json(&["entity", "create", "Chloe", "--type", "person"])["entity_id"].as_str().unwrap().to_owned();
    json(&["remember", "fact", "Chloe", "city", "Lyon"]);
    let created = json(&["backup", "create"]);
    json(&["forget", "--entity", "Chloe", "--erase", "--yes"]);
    let command = format!("butler forget --entity {entity} --erase --tenant default --butler general");
    let unconfirmed = run(&["backup", "restore", created["name"].as_str().unwrap()]);
    assert!(stderr(&unconfirmed).contains(&command), "{}", stderr(&unconfirmed));
    let restored = json(&["backup", "restore", created["name"].as_str().unwrap(), "--yes"]);
    assert_eq!(restored["erased_since"][0]["entity_id"], json!(entity), "{restored}");
    assert_eq!(json(&["entity", "get", "Chloe"])["entity_id"], json!(entity), "she is back");
    json(&["forget", "--entity", &entity, "--erase", "--yes", "--tenant", "default"]);
    let gone = run(&["entity", "get", "Chloe"]);
    assert!(stderr(&gone).contains("no entity is called"), "{}", stderr(&gone));
}
