//! Failover to a synchronous standby: the servers find the new primary and lose no acknowledged write.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cluster::{Pg, Shared};
use super::{rows, sql};
use crate::program::{Mcp, Serving, eventually};

const TIMEOUT: Duration = Duration::from_secs(60);
const WRITERS: usize = 4;

/// The acknowledged writes, and the longest pause between two acknowledgements.
#[derive(Default)]
struct Journal {
    acknowledged: BTreeSet<String>,
    rejected: usize,
    last: Option<Instant>,
    longest: Duration,
}

fn write_on(mcp: &Mcp, writer: usize, journal: &Shared<Journal>, count: &AtomicUsize, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let n = count.fetch_add(1, Ordering::Relaxed);
        // The idempotency key makes the call safe to retry.
        let key = format!("{writer}-{n}");
        let arguments = json!({"content": format!("note {key}"), "butler": "general", "idempotency_key": key});
        let answer = mcp.try_call("memory_store_episode", arguments);
        let mut journal = journal.lock().unwrap();
        match answer {
            Ok(stored) => {
                let now = Instant::now();
                let since = journal.last.replace(now).map_or(Duration::ZERO, |last| now - last);
                journal.longest = journal.longest.max(since);
                journal.acknowledged.insert(stored["id"].as_str().unwrap().to_owned());
            }
            Err(error) => {
                assert_eq!(error["error"], "unavailable", "{error}");
                journal.rejected += 1;
                drop(journal);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// Makes the standby synchronous and waits until it is.
fn make_synchronous(primary: &Pg) {
    let url = primary.url("postgres");
    sql(&url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    sql(&url, "SELECT pg_reload_conf()::text");
    let state = "SELECT sync_state FROM pg_stat_replication";
    eventually(TIMEOUT, "the standby is synchronous", || (rows(&url, state) == ["sync"]).then_some(()));
}

/// Runs one failover under load, and checks that the servers continue and that the standby has every acknowledged
/// write.
fn round(dir: &Path, primary: &mut Pg, standby: &Pg, servers: &[&Serving]) -> Value {
    let (journal, stop) = (Shared::<Journal>::default(), AtomicBool::new(false));
    let count = Arc::new(AtomicUsize::new(0));
    let mut promotion = Duration::ZERO;
    let acknowledged = || journal.lock().unwrap().acknowledged.len();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let mcp = servers[writer % servers.len()].mcp();
            let (journal, count, stop) = (&journal, &count, &stop);
            scope.spawn(move || write_on(&mcp, writer, journal, count, stop));
        }
        eventually(TIMEOUT, "writes are acknowledged", || (acknowledged() > 50).then_some(()));
        primary.kill();
        let started = Instant::now();
        standby.promote();
        promotion = started.elapsed();
        let before = acknowledged();
        eventually(TIMEOUT, "writes are acknowledged again", || (acknowledged() > before + 50).then_some(()));
        stop.store(true, Ordering::Relaxed);
    });
    let journal = Mutex::into_inner(Arc::into_inner(journal).unwrap()).unwrap();
    let stored: BTreeSet<String> = rows(&standby.url("memory"), "SELECT id::text FROM episodes").into_iter().collect();
    let lost: Vec<&String> = journal.acknowledged.difference(&stored).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?} in {}", dir.display());
    let twice = "SELECT content FROM episodes GROUP BY content HAVING count(*) > 1";
    assert_eq!(rows(&standby.url("memory"), twice), Vec::<String>::new(), "a repeated request is stored once");
    json!({"acknowledged": journal.acknowledged.len(), "lost": 0, "rejected": journal.rejected,
           "longest_pause_ms": journal.longest.as_millis() as u64, "promotion_ms": promotion.as_millis() as u64})
}

#[test]
fn servers_find_a_promoted_standby_and_lose_no_acknowledged_write() {
    let dir = tempfile::tempdir().unwrap();
    let mut primary = Pg::primary(&dir.path().join("a"), &[]);
    let standby = Pg::standby_of(&primary, &dir.path().join("b"));
    let url = primary.url_of_either(&standby);
    let server = Serving::with(&dir.path().join("data"), &["--database-url".as_ref(), url.as_ref()]);
    make_synchronous(&primary);
    // The standby inherits the setting, but has no standby of its own to wait for.
    sql(&standby.url("postgres"), "ALTER SYSTEM SET synchronous_standby_names = ''");
    sql(&standby.url("postgres"), "SELECT pg_reload_conf()::text");
    let figures = round(dir.path(), &mut primary, &standby, &[&server]);
    eprintln!("failover: {figures}");
    // Reads and background jobs also find the new primary.
    assert!(!server.mcp().call("memory_search", json!({"query": "note"}))["results"].as_array().unwrap().is_empty());
    server.is_ready_soon();
}

/// Repeats failovers under two servers, each with a new standby of the new primary. Run by `cargo xtask scaleout`.
#[test]
#[ignore = "takes minutes; run by cargo xtask scaleout"]
fn repeated_failovers_lose_no_acknowledged_write() {
    let rounds: usize = std::env::var("BUTLER_SCALEOUT_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    let mut primary = Pg::primary(&a, &[]);
    let mut standby = Pg::standby_of(&primary, &b);
    let url = primary.url_of_either(&standby);
    let serve = |name: &str| Serving::with(&dir.path().join(name), &["--database-url".as_ref(), url.as_ref()]);
    let (one, two) = (serve("one"), serve("two"));
    println!("| round | acknowledged | lost | refused | promotion | longest pause |\n|---|---|---|---|---|---|");
    for n in 1..=rounds {
        make_synchronous(&primary);
        sql(&standby.url("postgres"), "ALTER SYSTEM SET synchronous_standby_names = ''");
        sql(&standby.url("postgres"), "SELECT pg_reload_conf()::text");
        let figures = round(dir.path(), &mut primary, &standby, &[&one, &two]);
        println!(
            "| {n} | {} | {} | {} | {} ms | {} ms |",
            figures["acknowledged"],
            figures["lost"],
            figures["rejected"],
            figures["promotion_ms"],
            figures["longest_pause_ms"]
        );
        // The killed server becomes a standby of the new primary, in the same directory.
        let home = if n % 2 == 1 { &a } else { &b };
        drop(std::mem::replace(&mut primary, standby));
        std::fs::remove_dir_all(home).unwrap();
        standby = Pg::standby_of(&primary, home);
    }
}
