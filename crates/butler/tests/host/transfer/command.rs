//! The commands `butler export` and `butler import`.

use serde_json::{Value, json};

use crate::program::{Serving, butler, stderr, stdout};

#[test]
fn a_partial_import_that_refuses_every_line_fails() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.jsonl");
    let header = json!({"format": "butler-memory", "version": 1, "created_at": "2026-01-01T00:00:00Z", "program": "butler",
                        "butler": "general", "tenant": "default", "counts": {"fact": 1},
                        "embedding": {"model": "m", "version": "1", "dimensions": 384}});
    let fact = |id: u128, created_at: &str| {
        json!({"type": "fact", "id": uuid::Uuid::from_u128(id), "subject": "Ann", "predicate": "likes", "content": "tea",
               "created_at": created_at})
    };
    let import = |lines: &[Value]| {
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        std::fs::write(&file, text.join("\n")).unwrap();
        butler()
            .args(["import", "--partial"])
            .arg(&file)
            .arg("--data-dir")
            .arg(dir.path().join("data"))
            .output()
            .unwrap()
    };
    let output = import(&[header.clone(), fact(1, "infinity")]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("every line was refused"), "{}", stderr(&output));
    let output = import(&[header, fact(1, "infinity"), fact(2, "2026-01-01T00:00:00Z")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn export_and_import_work_while_a_server_runs() {
    let dir = tempfile::tempdir().unwrap();
    let serving = Serving::on(&dir.path().join("data"));
    serving.mcp().call("memory_store_fact", json!({"subject": "user", "predicate": "likes", "content": "tea"}));
    let run = |args: &[&str]| {
        let output = butler().args(args).arg("--data-dir").arg(&serving.data_dir).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    let file = dir.path().join("memory.jsonl");
    let file = file.to_str().unwrap();
    let result: Value = serde_json::from_str(&run(&["export", "--json", "--output", file])).unwrap();
    // The fact, its event and the event of the export.
    assert_eq!((&result["counts"]["fact"], result["lines"].as_u64()), (&json!(1), Some(3)), "{result}");
    assert_eq!(run(&["export", "--output", "-"]).lines().count(), 5, "a header, and the event of the second export");
    let notes = dir.path().join("CLAUDE.md");
    std::fs::write(&notes, "- Use tabs\n- Write tests\n").unwrap();
    let result = run(&["import", notes.to_str().unwrap(), "--dry-run"]);
    assert!(result.starts_with("would import 2 of 2 memories from 2 lines (claude-code)"), "{result}");
    let garbage = dir.path().join("g.bin");
    std::fs::write(&garbage, "garbage").unwrap();
    let refused = butler().arg("import").arg(&garbage).arg("--data-dir").arg(&serving.data_dir).output().unwrap();
    assert!(!refused.status.success() && stderr(&refused).contains("--format"), "{}", stderr(&refused));
    let report: Value = serde_json::from_str(&run(&["import", file, "--json"])).unwrap();
    assert_eq!(report["kinds"]["fact"], json!({"read": 1, "created": 0, "existing": 1, "left_out": 0}));
}
