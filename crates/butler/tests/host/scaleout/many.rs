//! Many butlers as schemas of one database, served by one process with few connections.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cluster::Pg;
use super::{rows, write_butler};
use crate::program::{Mcp, Serving, eventually};

const CLIENTS: usize = 16;

struct Roster {
    _pg: Pg,
    url: String,
    names: Vec<String>,
    dir: tempfile::TempDir,
}

impl Roster {
    fn of(butlers: usize, max_connections: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let pg = Pg::primary(&dir.path().join("pg"), &[&format!("max_connections = {max_connections}")]);
        let url = pg.url("memory");
        let names: Vec<String> = (0..butlers).map(|n| format!("b{n:03}")).collect();
        for name in &names {
            let toml = format!("[butler.database]\nurl = \"{url}\"\nschema = \"{name}\"\n");
            write_butler(&dir.path().join("roster"), name, &toml);
        }
        Self { _pg: pg, url, names, dir }
    }

    fn serve(&self) -> (Serving, Duration) {
        let started = Instant::now();
        let roster = self.dir.path().join("roster");
        let server = Serving::with(&self.dir.path().join("data"), &["--roster".as_ref(), roster.as_os_str()]);
        (server, started.elapsed())
    }

    /// Calls each butler from one of the clients. Returns the sorted durations.
    fn call_all(&self, server: &Serving, call: impl Fn(&Mcp, &str) + Sync) -> Vec<Duration> {
        let (call, names, mcp) = (&call, &self.names, &server.mcp());
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    scope.spawn(move || {
                        let mine = names.iter().skip(client).step_by(CLIENTS);
                        mine.map(|name| {
                            let started = Instant::now();
                            call(&Mcp { path: format!("/butlers/{name}/mcp"), ..mcp.clone() }, name);
                            started.elapsed()
                        })
                        .collect::<Vec<_>>()
                    })
                })
                .collect();
            let mut took: Vec<Duration> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
            took.sort_unstable();
            took
        })
    }

    fn connections(&self) -> usize {
        let count = "SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'butler'";
        rows(&self.url, count)[0].parse().unwrap()
    }
}

fn store(mcp: &Mcp, name: &str) {
    mcp.call("memory_store_fact", json!({"subject": name, "predicate": "is", "content": format!("the butler {name}")}));
}

fn recall(mcp: &Mcp, name: &str) {
    let found = mcp.call("memory_recall", json!({"topic": "Who is the butler?"}));
    let found = found["results"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{name} finds only its own fact: {found:?}");
    assert_eq!(found[0]["content"], format!("the butler {name}"));
}

#[test]
fn more_butlers_than_connections_are_all_served() {
    let roster = Roster::of(24, 20);
    let (server, _) = roster.serve();
    roster.call_all(&server, store);
    roster.call_all(&server, recall);
    // Three quarters of 20 connections without the 3 reserved for superusers.
    let metrics = server.get("/metrics").text();
    let limit = metrics.lines().find(|line| line.starts_with("butler_server_connections_max")).unwrap().to_owned();
    assert!(limit.ends_with(" 12"), "{limit}");
    eventually(Duration::from_secs(60), "the limit is respected", || (roster.connections() <= 12).then_some(()));
    let ready = server.get("/readyz").json();
    assert_eq!(ready, json!({"ready": true, "not_ready": []}));
    let stats = server.get("/api/memory/stats").json();
    assert!(stats["meta"]["unavailable"].is_null(), "all butlers are available: {}", stats["meta"]);
    assert_eq!(stats["data"]["facts"]["total"], 24, "{stats}");
}

/// Prints the figures of docs/scaling.md. Run by `cargo xtask scaleout`.
#[test]
#[ignore = "takes minutes; run by cargo xtask scaleout"]
fn two_hundred_butlers_in_one_process() {
    let butlers: usize = std::env::var("BUTLER_SCALEOUT_BUTLERS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let roster = Roster::of(butlers, 100);
    let (server, first) = roster.serve();
    server.stop();
    let (server, again) = roster.serve();
    println!("| {butlers} butlers, max_connections = 100 | |\n|---|---|");
    println!("| first start, with migrations | {:.1} s |", first.as_secs_f64());
    println!("| start | {:.1} s |", again.as_secs_f64());
    println!("| memory of the process | {} MiB |", resident_mib(server.pid()));
    println!("{}", figures("store, each butler once, cold", &roster.call_all(&server, store)));
    println!("{}", figures("recall, each butler once, cold", &roster.call_all(&server, recall)));
    println!("{}", figures("recall, each butler once more", &roster.call_all(&server, recall)));
    println!("| connections meanwhile | {} |", roster.connections());
    let few = Roster { names: roster.names[..20].to_vec(), _pg: roster._pg, url: roster.url, dir: roster.dir };
    few.call_all(&server, recall);
    let warm: Vec<Duration> = (0..10).flat_map(|_| few.call_all(&server, recall)).collect();
    println!("{}", figures("recall, 20 of the butlers, warm", &warm));
    let started = Instant::now();
    let stats = server.get(&format!("/api/memory/stats?butler={}", few.names[0])).json();
    assert_eq!(stats["data"]["facts"]["total"], json!(1));
    println!("| the dashboard's first page, one of many butlers | {} ms |", started.elapsed().as_millis());
    let started = Instant::now();
    let stats = server.get("/api/memory/stats").json();
    assert_eq!((&stats["meta"]["unavailable"], &stats["data"]["facts"]["total"]), (&Value::Null, &json!(butlers)));
    println!("| the same of all butlers together | {:.1} s |", started.elapsed().as_secs_f64());
    let started = Instant::now();
    assert_eq!(server.get("/readyz").status, 200);
    println!("| /readyz | {} ms |", started.elapsed().as_millis());
    println!("| memory of the process, afterwards | {} MiB |", resident_mib(server.pid()));
    eventually(Duration::from_secs(120), "idle connections are closed", || (few.connections() <= 12).then_some(()));
    println!("| connections a while later, nobody asking | {} |", few.connections());
}

fn figures(what: &str, took: &[Duration]) -> String {
    let mut took = took.to_vec();
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    format!("| {what}: p50, p95 | {:.0} ms, {:.0} ms |", at(0.5), at(0.95))
}

fn resident_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}
