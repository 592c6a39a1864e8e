//! A server whose clock is in doubt says so everywhere, deletes nothing, and goes on by command.

use std::time::Duration;

use serde_json::Value;

use crate::program::{Serving, butler, eventually, sql, stderr, stdout};

#[test]
fn a_clock_in_doubt_is_reported_everywhere_and_accepted_by_command() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let run = |args: &[&str]| butler().args(args).arg("--data-dir").arg(&data).output().unwrap();
    let server = Serving::on(&data);
    let url = stdout(&run(&["db", "url"])).trim().to_owned();
    // As if the clock had been a day ahead when it was last trusted.
    sql(
        &url,
        "INSERT INTO butler_clock (latest) VALUES (now() + interval '1 day')
         ON CONFLICT (only_row) DO UPDATE SET latest = excluded.latest",
    );
    server.stop();

    let server = Serving::on(&data);
    let degraded = || server.get("/readyz").json()["degraded"].clone();
    let found =
        eventually(Duration::from_secs(60), "the doubt is noticed", || Some(degraded()).filter(Value::is_array));
    assert_eq!((&found[0]["what"], server.get("/readyz").status), (&"clock".into(), 200), "{found}");
    assert!(found[0]["hint"].as_str().unwrap().contains("butler jobs accept-clock"), "{found}");
    let stats = server.get("/api/memory/stats").json();
    let attention = stats["data"]["attention"].as_array().unwrap();
    assert!(attention.iter().any(|item| item["what"] == "clock" && item["severity"] == "high"), "{stats}");
    assert!(server.log().contains("the time is in doubt"), "{}", server.log());
    for job in ["decay_sweep", "episode_cleanup"] {
        let refused = run(&["jobs", "run", job]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(stderr(&refused).contains("the time is in doubt"), "{}", stderr(&refused));
        let counted = run(&["jobs", "run", job, "--dry-run"]);
        assert!(counted.status.success(), "a dry run is harmless: {}", stderr(&counted));
    }
    let checks: Value = serde_json::from_str(&stdout(&run(&["doctor", "--json"]))).unwrap();
    let clock = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "clock").unwrap();
    assert_eq!(clock["verdict"], "warned", "{clock}");
    assert!(stderr(&run(&["jobs", "list"])).contains("accept-clock"));

    let accepted = run(&["jobs", "accept-clock"]);
    assert!(stdout(&accepted).starts_with("accepted 2"), "{}", stderr(&accepted));
    eventually(Duration::from_secs(60), "the server goes on", || degraded().is_null().then_some(()));
    assert!(run(&["jobs", "run", "decay_sweep"]).status.success());
}
