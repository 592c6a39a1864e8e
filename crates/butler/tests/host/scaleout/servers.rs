//! Several servers on one database see each other's changes immediately.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::cluster::Pg;
use super::{rows, sql};
use crate::program::{Mcp, Serving, eventually, run, stderr, stdout};

fn serve(dir: &Path, name: &str, url: &str) -> Serving {
    Serving::with(&dir.join(name), &["--database-url".as_ref(), url.as_ref()])
}

/// A load balancer without session affinity.
struct RoundRobin {
    servers: Vec<Mcp>,
    next: usize,
}

impl RoundRobin {
    fn of(servers: &[&Serving]) -> Self {
        Self { servers: servers.iter().map(|server| server.mcp()).collect(), next: 0 }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.next += 1;
        self.servers[self.next % self.servers.len()].call(tool, arguments)
    }
}

#[test]
fn three_servers_on_one_database_share_one_memory() {
    let dir = tempfile::tempdir().unwrap();
    let pg = Pg::primary(&dir.path().join("pg"), &[]);
    let url = pg.url("memory");
    let first = serve(dir.path(), "one", &url);
    // Three jobs are due while two more servers start. Each job runs once.
    let due = "job IN ('consolidation', 'decay_sweep', 'episode_cleanup')";
    let planned = format!("SELECT job FROM schedules WHERE next_run_at IS NOT NULL AND {due}");
    eventually(Duration::from_secs(60), "the jobs are scheduled", || (rows(&url, &planned).len() == 3).then_some(()));
    sql(&url, &format!("UPDATE schedules SET next_run_at = '2020-01-01' WHERE {due}"));
    let (second, third) = std::thread::scope(|scope| {
        let second = scope.spawn(|| serve(dir.path(), "two", &url));
        (serve(dir.path(), "three", &url), second.join().unwrap())
    });
    let ran = format!("SELECT job FROM job_runs WHERE status = 'succeeded' AND {due} ORDER BY job");
    eventually(Duration::from_secs(60), "all jobs ran", || (rows(&url, &ran).len() >= 3).then_some(()));
    let jobs = ["consolidation", "decay_sweep", "episode_cleanup"];
    assert_eq!(rows(&url, &ran), jobs, "each job runs once on any server");

    // Each call sees on one server what the previous call stored on another, by id, by keywords and by meaning.
    let mut any = RoundRobin::of(&[&first, &second, &third]);
    let mut last = Value::Null;
    for n in 0..9 {
        let fact = json!({"subject": "Ann", "predicate": "lives in", "content": format!("city number {n}")});
        let stored = any.call("memory_store_fact", fact);
        assert_eq!(stored["superseded_id"], last, "the chain continues across servers");
        last = stored["id"].clone();
        assert_eq!(any.call("memory_get", json!({"memory_type": "fact", "memory_id": last}))["validity"], "active");
        let found = any.call("memory_recall", json!({"topic": "Where does Ann live?"}));
        assert_eq!(found["results"][0]["id"], last, "{found}");
        let found = any.call("memory_search", json!({"query": format!("city number {n}"), "mode": "keyword"}));
        assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    }
    let entity = any.call("entity_create", json!({"canonical_name": "Ann Smith", "entity_type": "person"}));
    let resolved = any.call("entity_resolve", json!({"name": "ann smith"}));
    assert_eq!(resolved["candidates"][0]["entity_id"], entity["entity_id"]);

    // The same request sent to all three servers at once is executed once.
    let request = json!({"content": "sent three times", "butler": "general", "idempotency_key": "k1"});
    let ids: Vec<Value> = std::thread::scope(|scope| {
        let calls =
            any.servers.iter().map(|server| scope.spawn(|| server.call("memory_store_episode", request.clone())));
        calls.collect::<Vec<_>>().into_iter().map(|answer| answer.join().unwrap()["id"].clone()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");

    // Marks on three servers invert the rule once.
    let rule = any.call("memory_store_rule", json!({"content": "Always restart the router"}))["id"].clone();
    for n in 0..3 {
        any.call("memory_mark_harmful", json!({"rule_id": rule, "reason": format!("outage {n}")}));
    }
    eventually(Duration::from_secs(60), "the rule is inverted", || {
        let rule = any.call("memory_get", json!({"memory_type": "rule", "memory_id": rule}));
        (rule["maturity"] == "anti_pattern").then_some(())
    });
    let inverted = "SELECT id::text FROM memory_events WHERE event_type ILIKE '%invert%'";
    assert_eq!(rows(&url, inverted).len(), 1, "inverted once");

    assert_events_reach_another_server(&first, &second);
    assert_tokens_apply_on_another_server(&first, &second, &url);
}

/// An event stream of one server reports writes on another.
fn assert_events_reach_another_server(writer: &Serving, listener: &Serving) {
    let mut stream = TcpStream::connect(listener.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "GET /api/events HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n\r\n", listener.address)
        .unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    // The response starts once the server listens for events.
    assert!(lines.next().unwrap().contains("200"));
    let id = writer.mcp().store_episode("Stored on the other server").unwrap();
    assert!(lines.any(|line| line.contains(&id)), "the event did not arrive");
}

/// A token created through one server is valid on the other, and rejected there after its revocation.
fn assert_tokens_apply_on_another_server(one: &Serving, other: &Serving, url: &str) {
    let token = |args: &[&str]| {
        let all = ["token"].iter().chain(args).map(OsStr::new);
        let output = run(all
            .chain(["--json", "--database-url", url, "--data-dir"].map(OsStr::new))
            .chain([one.data_dir.as_os_str()]));
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    let created = token(&["create", "--tenant", "default"]);
    let (secret, id) = (created["token"].as_str().unwrap(), created["id"].as_str().unwrap());
    let status = |mcp: &Mcp| mcp.post(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap().status;
    eventually(Duration::from_secs(60), "the other server requires a token", || {
        (status(&other.mcp()) == 401).then_some(())
    });
    assert_eq!(status(&other.mcp().with(secret)), 200);
    token(&["revoke", id]);
    eventually(Duration::from_secs(60), "the revoked token is rejected", || {
        (status(&other.mcp().with(secret)) == 401).then_some(())
    });
}
