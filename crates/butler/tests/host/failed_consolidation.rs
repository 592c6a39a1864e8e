//! A consolidation in which every group failed is reported as failed wherever people look, and the log quotes no memory.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Serving, butler, eventually, request, stdout};

const SOON: Duration = Duration::from_secs(60);

/// A server whose LLM is a shell script.
fn serve(dir: &Path, script: &str, more: &str, args: &[&str]) -> Serving {
    let config = dir.join("butler.toml");
    let command = json!(["sh", "-c", script]);
    std::fs::write(&config, format!("[butler.runtime]\ntype = \"command\"\ncommand = {command}\n{more}")).unwrap();
    let mut options: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
    options.extend([OsStr::new("--config"), config.as_os_str()]);
    Serving::with(&dir.join("data"), &options)
}

/// The runs of consolidation in the list of jobs, newest first.
fn runs(server: &Serving) -> Vec<Value> {
    let jobs = server.get("/api/jobs").json();
    let job = jobs["data"].as_array().unwrap().iter().find(|job| job["job"] == "consolidation");
    job.unwrap_or_else(|| panic!("{jobs}"))["runs"].as_array().unwrap().clone()
}

fn contains(value: &Value, text: &str) -> bool {
    value.as_str().is_some_and(|value| value.contains(text))
}

#[test]
fn a_consolidation_in_which_every_group_failed_is_shown_as_failed_with_its_first_cause() {
    const CAUSE: &str = "no credit left";
    let dir = tempfile::tempdir().unwrap();
    let server = serve(dir.path(), "echo 'no credit left' >&2; exit 3", "", &[]);
    for group in ["general", "health"] {
        server.mcp().call("memory_store_episode", json!({"content": "Ann had tea.", "butler": group}));
    }
    request(server.address, "POST", "/api/jobs/consolidation/run", &[], b"");
    let listed = eventually(SOON, "the run ends", || {
        runs(&server).into_iter().next().filter(|run| run["finished_at"].is_string())
    });
    assert!(listed["status"] == "failed" && contains(&listed["error"], CAUSE), "{listed}");

    let stats = server.get("/api/memory/stats").json()["data"].clone();
    let mut attention = stats["attention"].as_array().unwrap().iter();
    let shown = attention.find(|item| item["what"] == "consolidation_failed").unwrap_or_else(|| panic!("{stats}"));
    assert!(shown["severity"] == "high" && contains(&shown["message"], CAUSE), "{shown}");
    // The dashboard's section Health shows these.
    let pipeline = &stats["pipeline"];
    assert!(pipeline["last_run_status"] == "failed" && contains(&pipeline["last_run_error"], CAUSE), "{pipeline}");

    let timeline = server.get("/api/timeline?type=episode_consolidation_failed").json();
    let failures = timeline["data"].as_array().unwrap();
    assert!(
        failures.len() == 2 && failures.iter().all(|event| contains(&event["payload"]["error"], CAUSE)),
        "{timeline}"
    );

    let mut doctor = butler();
    doctor.args(["doctor", "--json", "--data-dir"]).arg(&server.data_dir);
    let report = doctor.arg("--config").arg(dir.path().join("butler.toml")).output().unwrap();
    let report: Value = serde_json::from_str(&stdout(&report)).unwrap();
    let mut checks = report["checks"].as_array().unwrap().iter();
    let check = checks.find(|check| check["name"] == "schedules").unwrap_or_else(|| panic!("{report}"));
    assert!(check["verdict"] == "warned" && contains(&check["detail"], CAUSE), "{check}");
}

#[test]
fn a_program_that_repeats_its_prompt_on_stderr_writes_no_memory_to_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let every_second = "[modules.memory.schedule]\nconsolidation = \"* * * * * *\"\n";
    let server = serve(dir.path(), "grep violet >&2; exit 3", every_second, &["-vv"]);
    server.mcp().store_episode("Ann's door is violet.").unwrap();
    let failed =
        eventually(SOON, "the consolidation fails", || runs(&server).into_iter().find(|run| run["status"] == "failed"));
    assert!(contains(&failed["error"], "violet"), "the owner sees the reason: {failed}");
    // The last line that the failure writes.
    eventually(SOON, "the log names the failure", || server.log().contains("the job failed").then_some(()));
    let log = server.log();
    let quoting: Vec<&str> = log.lines().filter(|line| line.contains("violet")).collect();
    assert!(quoting.is_empty(), "{quoting:?}");
    assert!(log.contains("sh ended with exit status: 3"), "the log says what happened");
}
