//! Killing butler or PostgreSQL loses no acknowledged episode.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{Mcp, Serving, eventually, is_alive, postgres_pid, send};

/// Writers that store episodes in a loop and record which were acknowledged.
struct Load {
    stop: Arc<AtomicBool>,
    acknowledged: Arc<Mutex<Vec<(String, String)>>>,
    errors: Arc<Mutex<Vec<Value>>>,
    writers: Vec<JoinHandle<()>>,
}

impl Load {
    fn on(mcp: &Mcp, round: usize) -> Self {
        let (stop, acknowledged, errors) = <(Arc<AtomicBool>, Arc<Mutex<Vec<_>>>, Arc<Mutex<Vec<_>>>)>::default();
        let writers = (0..4)
            .map(|writer| {
                let (mcp, stop) = (mcp.clone(), Arc::clone(&stop));
                let (acknowledged, errors) = (Arc::clone(&acknowledged), Arc::clone(&errors));
                std::thread::spawn(move || {
                    for n in 0.. {
                        if stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let content = format!("round {round}, writer {writer}, episode {n}");
                        match mcp.store_episode(&content) {
                            Ok(id) => acknowledged.lock().unwrap().push((id, content)),
                            Err(error) => errors.lock().unwrap().push(error),
                        }
                    }
                })
            })
            .collect();
        Self { stop, acknowledged, errors, writers }
    }

    fn wait_for(&self, count: usize) {
        eventually(Duration::from_secs(60), "episodes are stored", || {
            (self.acknowledged.lock().unwrap().len() >= count).then_some(())
        });
    }

    fn end(self) -> (Vec<(String, String)>, Vec<Value>) {
        self.stop.store(true, Ordering::Relaxed);
        self.writers.into_iter().for_each(|writer| writer.join().unwrap());
        let take = |list: Arc<Mutex<Vec<Value>>>| std::mem::take(&mut *list.lock().unwrap());
        let acknowledged = std::mem::take(&mut *self.acknowledged.lock().unwrap());
        (acknowledged, take(self.errors))
    }
}

fn assert_all_stored(server: &Serving, episodes: &[(String, String)]) {
    for (id, content) in episodes {
        let read = server.mcp().call("memory_get", json!({"memory_type": "episode", "memory_id": id}));
        assert_eq!(read["content"], content.as_str());
    }
}

#[test]
fn acknowledged_writes_survive_sigkill_of_butler_postgres_or_both() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        let server = Serving::on(&data_dir);
        let postgres = server.postgres_pid();
        let load = Load::on(&server.mcp(), round);
        load.wait_for(40);
        if round > 0 {
            send(postgres, Signal::KILL);
        }
        server.kill();
        acknowledged.extend(load.end().0);
        if round == 0 {
            assert!(is_alive(postgres), "PostgreSQL keeps running for the next butler");
        }
    }
    let server = Serving::on(&data_dir);
    assert!(acknowledged.len() >= 120);
    assert_all_stored(&server, &acknowledged);
}

#[test]
fn a_killed_private_postgres_restarts_under_a_running_server() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let load = Load::on(&server.mcp(), 0);
    load.wait_for(20);
    // On a slow machine, PostgreSQL may be back before a call notices. Then it is killed again.
    for _ in 0..20 {
        let before = server.postgres_pid();
        send(before, Signal::KILL);
        eventually(Duration::from_secs(60), "PostgreSQL comes back", || {
            postgres_pid(&server.data_dir).filter(|pid| *pid != before && is_alive(*pid))
        });
        let stored = load.acknowledged.lock().unwrap().len();
        load.wait_for(stored + 20);
        if !load.errors.lock().unwrap().is_empty() {
            break;
        }
    }
    let (acknowledged, errors) = load.end();
    for error in &errors {
        assert_eq!(error["error"], "unavailable", "{error}");
        assert!(error["hint"].is_string(), "{error}");
    }
    assert!(!errors.is_empty(), "no call failed, so the kill was not tested");
    assert_all_stored(&server, &acknowledged);
    server.is_ready_soon();
}
