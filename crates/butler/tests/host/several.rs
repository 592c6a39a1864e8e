//! Several isolated butlers in one process.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Mcp, Serving, eventually, run, sql, stderr, stdout};

fn on(server: &Serving, butler: &str) -> Mcp {
    Mcp { path: format!("/butlers/{butler}/mcp"), ..server.mcp() }
}

fn write(roster: &Path, butler: &str, toml: &str) {
    std::fs::create_dir_all(roster.join(butler)).unwrap();
    std::fs::write(roster.join(butler).join("butler.toml"), toml).unwrap();
}

#[test]
fn the_example_roster_serves_two_isolated_butlers() {
    let dir = tempfile::tempdir().unwrap();
    let roster = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/roster");
    let server = Serving::with(&dir.path().join("data"), &["--roster".as_ref(), roster.as_os_str()]);
    let (health, home) = (on(&server, "health"), on(&server, "home"));
    health.store_episode("The user is allergic to penicillin").unwrap();
    let stored = |mcp: &Mcp, query: &str| {
        let all = Mcp { path: format!("{}{query}", mcp.path), ..mcp.clone() };
        all.call("memory_stats", json!({}))["episodes"]["total"].clone()
    };
    assert_eq!(
        (stored(&health, ""), stored(&server.mcp(), ""), stored(&home, "?profile=full")),
        (1.into(), 1.into(), 0.into())
    );

    // Each butler offers the tools of its profile, and its instructions mention no others.
    let tools = |mcp: &Mcp| -> Vec<String> {
        let listed = mcp.rpc("tools/list", json!({}))["result"]["tools"].clone();
        listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let known = butler_memory::tools();
    let core = known.iter().filter(|tool| tool.spec().core).count();
    assert_eq!((tools(&health).len(), tools(&home).len()), (known.len(), core), "{:?}", tools(&home));
    let read_only = Mcp { path: "/butlers/home/mcp?profile=read-only".to_owned(), ..home.clone() };
    assert!(tools(&read_only).iter().all(|name| !name.contains("store") && !name.contains("forget")));
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let instructions = home.rpc("initialize", hello)["result"]["instructions"].as_str().unwrap().to_owned();
    assert!(instructions.contains("memory_context") && !instructions.contains("memory_confirm"), "{instructions}");
    let refused = home.rpc("tools/call", json!({"name": "memory_stats", "arguments": {}}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("not offered by the profile \"core\""), "{refused}");
    let unknown = Mcp { path: "/mcp?profile=tiny".to_owned(), ..home }.post("{}").unwrap();
    assert_eq!(unknown.status, 400, "{}", unknown.text());

    // Commands name the butler they used, refuse an unknown one, and warn that the server's configuration applies.
    let file = dir.path().join("butler.toml");
    std::fs::write(&file, "[butler]\nname = \"health\"\n").unwrap();
    let shell = |args: &[&str]| {
        let args = args.iter().map(OsStr::new).chain([OsStr::new("--data-dir"), server.data_dir.as_os_str()]);
        run(args)
    };
    let stored = shell(&["remember", "fact", "user", "city", "Lyon"]);
    assert!(stdout(&stored).contains("  in butler health\n"), "{}", stdout(&stored));
    assert!(stderr(&stored).is_empty(), "{}", stderr(&stored));
    let unknown = shell(&["stats", "--butler", "general"]);
    assert!(stderr(&unknown).contains("keeps its memory"), "{}", stderr(&unknown));
    let ignored = shell(&["stats", "--config", file.to_str().unwrap()]);
    assert!(stderr(&ignored).contains("its configuration applies"), "{}", stderr(&ignored));
}

#[test]
fn a_butler_that_cannot_start_is_reported_and_retried_and_others_keep_running() {
    let dir = tempfile::tempdir().unwrap();
    let (roster, elsewhere) = (dir.path().join("roster"), dir.path().join("elsewhere"));
    // The database of the second butler does not exist yet; it is on another server.
    let other = Serving::on(&elsewhere);
    let url = run(["db".as_ref(), "url".as_ref(), "--data-dir".as_ref(), elsewhere.as_os_str()]);
    let url = stdout(&url).trim().to_owned();
    let later = url.replacen("/general?", "/later?", 1);
    write(&roster, "first", "");
    write(&roster, "second", &format!("[butler.database]\nurl = \"{later}\"\n"));
    let server = Serving::with(&dir.path().join("data"), &["--roster".as_ref(), roster.as_os_str()]);
    // Nobody knows whether the second butler has tokens, so callers without one are refused everywhere.
    let anonymous = on(&server, "first").post("{}").unwrap();
    assert_eq!(anonymous.status, 503, "{}", anonymous.text());
    assert!(anonymous.text().contains("the tokens of butler \\\"second\\\" cannot be read"), "{}", anonymous.text());
    // The commands of this machine hold the server's secret.
    let secret = server.secret();
    let on = |server: &Serving, butler: &str| on(server, butler).with(&secret);
    let get = |path: &str| server.get_with(path, &secret);
    on(&server, "first").store_episode("still served").unwrap();
    let refused = on(&server, "second").try_call("memory_stats", json!({})).unwrap_err();
    assert_eq!(refused["error"], "unavailable", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("there is no database \"later\""), "{refused}");
    let ready = server.get("/readyz");
    assert_eq!(ready.status, 200, "the other butler is served: {}", ready.text());
    let not_ready = &ready.json()["not_ready"];
    assert_eq!((&not_ready[0]["butler"], not_ready.as_array().unwrap().len()), (&json!("second"), 1), "{not_ready}");
    let butlers = get("/api/butlers").json();
    let health: Vec<&Value> = butlers["data"].as_array().unwrap().iter().map(|butler| &butler["health"]).collect();
    assert_eq!(health, [&json!("ready"), &json!("unavailable")], "{butlers}");
    for path in
        ["/api/butlers/second/memory/facts", "/api/jobs?butler=second", "/api/memory/recall?q=still&butler=second"]
    {
        let refused = get(path);
        assert_eq!(refused.status, 503, "{path}: {}", refused.text());
        assert!(refused.text().contains("there is no database"), "{path} reports the reason: {}", refused.text());
    }
    assert!(server.log().contains("the butler cannot start"), "{}", server.log());
    let figures = server.get("/metrics").text();
    for up in ["butler_database_up{butler=\"first\"} 1", "butler_database_up{butler=\"second\"} 0"] {
        assert!(figures.contains(up), "{figures}");
    }

    sql(&url, "CREATE DATABASE later");
    eventually(Duration::from_secs(60), "the second butler starts", || {
        on(&server, "second").try_call("memory_stats", json!({})).ok()
    });
    assert_eq!(server.get("/readyz").json(), json!({"ready": true, "not_ready": []}));
    drop(server);
    drop(other);
}

#[test]
fn two_butlers_in_two_schemas_of_one_database_are_isolated() {
    let dir = tempfile::tempdir().unwrap();
    let (roster, elsewhere) = (dir.path().join("roster"), dir.path().join("elsewhere"));
    let database = Serving::on(&elsewhere);
    let url = run(["db".as_ref(), "url".as_ref(), "--data-dir".as_ref(), elsewhere.as_os_str()]);
    let url = stdout(&url).trim().replacen("/general?", "/shared?", 1);
    sql(
        &stdout(&run(["db", "url", "--data-dir"].map(OsStr::new).into_iter().chain([elsewhere.as_os_str()]))),
        "CREATE DATABASE shared",
    );
    for name in ["ants", "bees"] {
        write(&roster, name, &format!("[butler.database]\nurl = \"{url}\"\nschema = \"{name}\"\n"));
    }
    let server = Serving::with(&dir.path().join("data"), &["--roster".as_ref(), roster.as_os_str()]);
    let (ants, bees) = (on(&server, "ants"), on(&server, "bees"));
    // While the schema of the ants is renamed, the statements of the bees cannot touch it.
    sql(&url, "ALTER SCHEMA ants RENAME TO away");
    bees.store_episode("Bees dance").unwrap();
    bees.call("memory_store_fact", json!({"subject": "bees", "predicate": "make", "content": "honey"}));
    bees.call("memory_store_rule", json!({"content": "Do not swat bees"}));
    assert_eq!(bees.call("memory_recall", json!({"topic": "honey"}))["results"].as_array().unwrap().len(), 2);
    bees.call("entity_create", json!({"canonical_name": "Queen", "entity_type": "person"}));
    bees.call("memory_run_consolidation", json!({"dry_run": true}));
    bees.call("memory_run_episode_cleanup", json!({}));
    assert!(ants.try_call("memory_stats", json!({})).is_err(), "its schema is renamed");
    sql(&url, "ALTER SCHEMA away RENAME TO ants");
    let empty = ants.call("memory_stats", json!({}));
    assert_eq!((&empty["episodes"]["total"], &empty["facts"]["total"]), (&json!(0), &json!(0)), "{empty}");
    drop(server);
    drop(database);
}
