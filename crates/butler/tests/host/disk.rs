//! A full disk gives a clear error with a remedy, and everything works again once there is space.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use butler_torture::disk::Disk;
use serde_json::{Value, json};

use crate::program::{Serving, eventually, run, stderr, stdout};

/// Mounts a small disk. Returns `None` and prints a message if mounting is not allowed: the test must not fill a real
/// disk.
fn disk(at: &Path) -> Option<Disk> {
    std::fs::create_dir(at).unwrap();
    let mounted = Disk::mount(at);
    if let Err(error) = &mounted {
        eprintln!("SKIPPED, nothing was tested: {error:#}");
    }
    mounted.ok()
}

#[test]
fn a_first_start_on_a_full_disk_names_the_remedy_and_succeeds_once_there_is_space() {
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
    server.mcp().store_episode("there is space").unwrap();
    assert_eq!(server.stop().0.code(), Some(0));
}

#[test]
fn a_full_disk_under_a_running_server_gives_clear_errors_and_loses_no_acknowledged_write() {
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
    let probe = server.get("/readyz");
    assert_eq!((probe.status, &probe.json()["not_ready"][0]["what"]), (503, &json!("disk")), "{}", probe.text());
    let refused = (5..400).find_map(|n| store(n).err()).expect("a full disk rejects writes");
    assert_eq!(refused["error"], "unavailable", "{refused}");
    assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains("free some space")), "{refused}");
    let readable = mcp.call("memory_stats", json!({}));
    assert!(readable["episodes"]["total"].as_u64() >= Some(5), "stored episodes are readable: {readable}");
    disk.free().unwrap();
    // The same process recovers without a restart.
    eventually(Duration::from_secs(60), "there is space again", || store(1_000).ok());
    eventually(Duration::from_secs(90), "the server is ready again", || {
        (server.get("/readyz").status == 200).then_some(())
    });
    for (id, content) in &acknowledged {
        let read = mcp.call("memory_get", json!({"memory_type": "episode", "memory_id": id}));
        assert_eq!(read["content"].as_str().map(str::trim_end), Some(content.as_str()));
    }
    assert_eq!(server.stop().0.code(), Some(0));
}
