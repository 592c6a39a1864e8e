//! A streaming replica serves reads, and clients always see their own writes.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::cluster::Pg;
use super::{rows, sql};
use crate::program::{Mcp, Serving, eventually};

const TIMEOUT: Duration = Duration::from_secs(60);

fn serve(dir: &Path, primary: &Pg, replica: &Pg) -> Serving {
    let config = dir.join("butler.toml");
    let (url, read_url) = (primary.url("memory"), replica.url("memory"));
    std::fs::write(&config, format!("[butler.database]\nurl = \"{url}\"\nread_url = \"{read_url}\"\n")).unwrap();
    Serving::with(&dir.join("data"), &["--config".as_ref(), config.as_os_str()])
}

fn degraded(server: &Serving) -> Value {
    let answer = server.get("/readyz");
    assert_eq!(answer.status, 200, "the server stays ready without its replica: {}", answer.text());
    answer.json()["degraded"].clone()
}

/// Whether the last query of one of the program's connections to this server was a search.
fn served_a_search(pg: &Pg) -> bool {
    let searches =
        "SELECT query FROM pg_stat_activity WHERE application_name = 'butler' AND query LIKE '%memory_retrieve%'";
    !rows(&pg.url("memory"), searches).is_empty()
}

fn search(mcp: &Mcp, tenant: &str, query: &str) -> Vec<Value> {
    let found = mcp.call("memory_search", json!({"query": query, "request_context": {"tenant_id": tenant}}));
    found["results"].as_array().unwrap().clone()
}

#[test]
fn reads_use_the_replica_and_a_tenant_sees_its_own_writes() {
    let dir = tempfile::tempdir().unwrap();
    let primary = Pg::primary(&dir.path().join("a"), &[]);
    let mut replica = Pg::standby_of(&primary, &dir.path().join("b"));
    let server = serve(dir.path(), &primary, &replica);
    let mcp = server.mcp();
    let store = |tenant: &str, what: &str| {
        let arguments = json!({"content": what, "butler": "general", "request_context": {"tenant_id": tenant}});
        mcp.call("memory_store_episode", arguments)["id"].clone()
    };
    eventually(TIMEOUT, "the replica has the schema", || degraded(&server).is_null().then_some(()));
    store("quiet", "The quiet one likes tea");
    for n in 0..20 {
        let id = store("busy", &format!("parcel {n} arrived"));
        let found = search(&mcp, "busy", &format!("parcel {n}"));
        assert!(found.iter().any(|hit| hit["id"] == id), "{n}: {found:?}");
    }

    // The replica serves a tenant without recent writes.
    eventually(TIMEOUT, "the replica has the quiet one's episode", || {
        let there = rows(&replica.url("memory"), "SELECT content FROM episodes WHERE tenant_id = 'quiet'");
        (!there.is_empty()).then_some(())
    });
    eventually(TIMEOUT, "the replica serves", || {
        assert_eq!(search(&mcp, "quiet", "tea").len(), 1);
        served_a_search(&replica).then_some(())
    });

    // While the replica lags, a tenant with recent writes reads from the primary.
    sql(&replica.url("memory"), "SELECT pg_wal_replay_pause()::text");
    let id = store("busy", "the last parcel arrived");
    for _ in 0..3 {
        assert!(search(&mcp, "busy", "last parcel").iter().any(|hit| hit["id"] == id));
    }
    let listed = server.get("/api/memory/episodes?tenant=busy&limit=1").json();
    assert_eq!(listed["data"][0]["id"], id, "lists use the primary, too: {listed}");
    let there = rows(&replica.url("memory"), "SELECT content FROM episodes WHERE content LIKE 'the last%'");
    assert!(there.is_empty(), "the replica does not have the episode");
    sql(&replica.url("memory"), "SELECT pg_wal_replay_resume()::text");

    // A recall through the replica is counted on the primary.
    mcp.call("memory_recall", json!({"topic": "tea", "request_context": {"tenant_id": "quiet"}}));
    let fact =
        json!({"subject": "tea", "predicate": "is", "content": "green", "request_context": {"tenant_id": "quiet"}});
    let fact = mcp.call("memory_store_fact", fact)["id"].as_str().unwrap().to_owned();
    mcp.call("memory_recall", json!({"topic": "green tea", "request_context": {"tenant_id": "quiet"}}));
    let count = format!("SELECT reference_count::text FROM facts WHERE id = '{fact}'");
    eventually(TIMEOUT, "the recall is counted", || (rows(&primary.url("memory"), &count) == ["1"]).then_some(()));

    // Without the replica nothing fails, and /readyz reports it.
    replica.kill();
    for _ in 0..5 {
        assert_eq!(search(&mcp, "quiet", "likes tea").len(), 2);
    }
    let problems = degraded(&server);
    assert_eq!((&problems[0]["what"], &problems[0]["butler"]), (&json!("replica"), &json!("general")), "{problems}");
    let metrics = server.get("/metrics").text();
    assert!(metrics.contains("butler_replica_up{butler=\"general\"} 0"), "{metrics}");
    replica.start();
    eventually(TIMEOUT, "the replica is used again", || degraded(&server).is_null().then_some(()));
}

#[test]
fn a_read_url_to_an_unrelated_server_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let primary = Pg::primary(&dir.path().join("a"), &[]);
    let stranger = Pg::primary(&dir.path().join("b"), &[]);
    // The unrelated server accepts the login.
    sql(&stranger.url("memory"), "CREATE ROLE butler_app");
    let server = serve(dir.path(), &primary, &stranger);
    server.mcp().store_episode("Mine alone").unwrap();
    assert_eq!(search(&server.mcp(), "default", "mine").len(), 1);
    let problems = degraded(&server);
    assert!(problems[0]["message"].as_str().unwrap().contains("not a replica of this primary"), "{problems}");
}
