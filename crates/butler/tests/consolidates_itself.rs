//! The real server with a real program as its LLM and a fast schedule: nobody touches it, and episodes become facts.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testkit::TestDb;

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The "model": says one thing about whatever it reads.
const MODEL: &str = r#"cat > /dev/null; printf '%s' '{"new_facts": [{"subject": "Ann", "predicate": "likes", "content": "Ann likes tea."}]}'"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_a_runtime_consolidates_on_schedule_with_nobody_touching_it() {
    let db = TestDb::new().await;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("butler.toml");
    let text = format!(
        "[butler]\nname = \"general\"\n[butler.runtime]\ntype = \"command\"\ncommand = [\"sh\", \"-c\", {MODEL:?}]\n\
         [modules.memory.schedule]\nconsolidation = \"* * * * * *\"\n"
    );
    std::fs::write(&config, text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_butler"))
        .args(["serve", "--listen", "127.0.0.1:0", "--database-url", &db.url(), "--config"])
        .arg(&config)
        .arg("--data-dir")
        .arg(folder.path().join("data"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let _server = Server(child);
    assert!(ready.starts_with("ready http://"), "{ready}");
    db.execute("INSERT INTO episodes (butler, content) VALUES ('general', 'Ann had tea again.')").await;
    until(&db, "SELECT count(*) FROM facts f JOIN memory_links l ON l.source_id = f.id
                JOIN episodes e ON e.id = l.target_id AND e.consolidated WHERE f.subject = 'Ann' AND f.source_butler = 'general'")
    .await;
    until(
        &db,
        "SELECT count(*) FROM job_runs WHERE job = 'consolidation' AND trigger IN ('schedule', 'catch_up')
                AND status = 'succeeded' AND result #>> '{totals,consolidated}' = '1'",
    )
    .await;
}

async fn until(db: &TestDb, question: &'static str) {
    let started = Instant::now();
    loop {
        let count: i64 = sqlx::query_scalar(question).fetch_one(&mut db.connect().await).await.unwrap();
        if count == 1 {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "still {count}: {question}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
