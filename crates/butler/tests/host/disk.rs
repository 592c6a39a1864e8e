//! A data directory whose disk is full: a clear error with its remedy, and once there is room everything goes on.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use butler_torture::disk::Disk;
use serde_json::{Value, json};

use crate::program::{Serving, eventually, run, stderr, stdout};

/// Loudly nothing where the machine lets nobody mount: filling the machine's own disk is no test.
fn disk(at: &Path) -> Option<Disk> {
    std::fs::create_dir(at).unwrap();
    let mounted = Disk::mount(at);
    if let Err(error) = &mounted {
        eprintln!("SKIPPED, nothing was tested: {error:#}");
    }
    mounted.ok()
}

#[test]
fn a_first_start_on_a_full_disk_names_the_remedy_and_succeeds_once_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let Some(disk) = disk(&data_dir) else { return };
    disk.fill().unwrap();
    let start = ["serve", "--listen", "127.0.0.1:0", "--data-dir"].map(OsStr::new);
    let output = run(start.into_iter().chain([data_dir.as_os_str()]));
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(stdout(&output), "", "nothing is ready");
    for part in ["error: ", "is full", "MiB are needed", "Free some space", "--data-dir"] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    disk.free().unwrap();
    let server = Serving::on(&data_dir);
    server.mcp().store_episode("there is room").unwrap();
    assert_eq!(server.stop().0.code(), Some(0));
}

#[test]
fn a_disk_that_fills_up_under_a_running_server_costs_clear_errors_and_nothing_that_was_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let Some(disk) = disk(&data_dir) else { return };
    let server = Serving::on(&data_dir);
    let mcp = server.mcp();
    let large = |n: usize| format!("episode {n} {}", format!("word{n} ").repeat(4_000));
    let mut acknowledged: Vec<(String, String)> = Vec::new();
    let mut store = |n: usize| -> Result<(), Value> {
        let content = large(n);
        mcp.store_episode(&content).map(|id| acknowledged.push((id, content.trim_end().to_owned())))
    };
    (0..5).for_each(|n| store(n).unwrap());
    disk.fill().unwrap();
    let refused = (5..400).find_map(|n| store(n).err()).expect("a full disk takes no more");
    assert_eq!(refused["error"], "unavailable", "{refused}");
    assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains("free some space")), "{refused}");
    let readable = mcp.call("memory_stats", json!({}));
    assert!(readable["episodes"]["total"].as_u64() >= Some(5), "what is there can be read: {readable}");
    disk.free().unwrap();
    // without a restart: the same process answers
    eventually(Duration::from_secs(60), "there is room again", || store(1_000).ok());
    for (id, content) in &acknowledged {
        let read = mcp.call("memory_get", json!({"memory_type": "episode", "memory_id": id}));
        assert_eq!(read["content"].as_str().map(str::trim_end), Some(content.as_str()));
    }
    assert_eq!(server.stop().0.code(), Some(0));
}
