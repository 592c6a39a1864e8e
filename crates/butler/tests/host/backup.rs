//! Backups with the runtime's own tools.

use serde_json::{Value, json};

use crate::program::{Serving, butler, stderr, stdout};

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
