//! Kills the server with SIGKILL at random points under write load. Afterwards every acknowledged write is present, no
//! supersession is half written, and every change has its event.
//!
//! `BUTLER_KILL_ROUNDS` sets the number of rounds.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

const ROUNDS: usize = 5;
const CLIENTS: usize = 6;
/// Few keys, so that most writes supersede.
const KEYS: usize = 4;

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(data_dir: &Path) -> Self {
        let mut child = butler()
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data_dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("butler serve");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("a line");
        let address =
            line.trim().strip_prefix("ready http://").unwrap_or_else(|| panic!("not ready: {line:?}")).to_owned();
        Self { child, address }
    }

    /// Sends SIGKILL, so that the server cannot shut down cleanly.
    fn kill(mut self) {
        self.child.kill().expect("SIGKILL");
        self.child.wait().expect("its end");
    }
}

fn butler() -> Command {
    Command::new(env!("CARGO_BIN_EXE_butler"))
}

/// Kills the postmaster of the private PostgreSQL. Its backends exit, and the next start recovers.
fn kill_postgres(data_dir: &Path) {
    fn postmaster(dir: &Path) -> Option<String> {
        let file = std::fs::read_dir(dir).ok()?.flatten().find_map(|entry| {
            let path = entry.path();
            if path.is_dir() {
                postmaster(&path)
            } else {
                path.ends_with("postmaster.pid").then(|| path.display().to_string())
            }
        })?;
        Some(file)
    }
    let file = postmaster(data_dir).expect("a postmaster.pid");
    let pid = std::fs::read_to_string(file).expect("a pid").lines().next().expect("a pid").to_owned();
    assert!(Command::new("kill").args(["-9", &pid]).status().expect("kill").success());
}

/// A write that the server acknowledged.
enum Acknowledged {
    Fact { id: String, superseded: Option<String> },
    Other { table: &'static str, id: String },
    Marked { rule: String },
}

/// Calls a tool on a new connection. Returns `None` if the server died.
fn call(address: &str, tool: &str, arguments: &Value) -> Option<Value> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2025-06-18\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, json) = answer.split_once("\r\n\r\n")?;
    let answer: Value = serde_json::from_str(json).ok()?;
    let result = &answer["result"];
    if result["isError"] == true || result["structuredContent"].is_null() {
        // The database may be killed before the server.
        return None;
    }
    Some(result["structuredContent"].clone())
}

/// Writes until the server is killed.
fn load(address: &str, client: usize, round: usize, done: &Sender<Acknowledged>) {
    let mut rule = None;
    for n in 0.. {
        let text = format!("client {client} round {round} number {n}");
        let acknowledged = match n % 4 {
            0 | 1 => {
                let key = format!("key {}", (n + client) % KEYS);
                let arguments = json!({ "subject": key, "predicate": "is", "content": text });
                call(address, "memory_store_fact", &arguments).map(|answer| Acknowledged::Fact {
                    id: text_of(&answer["id"]),
                    superseded: answer["superseded_id"].as_str().map(str::to_owned),
                })
            }
            2 => {
                let arguments = json!({ "content": text, "butler": "general" });
                let answer = call(address, "memory_store_episode", &arguments);
                answer.map(|answer| Acknowledged::Other { table: "episodes", id: text_of(&answer["id"]) })
            }
            _ => match &rule {
                None => call(address, "memory_store_rule", &json!({ "content": text })).map(|answer| {
                    rule = Some(text_of(&answer["id"]));
                    Acknowledged::Other { table: "rules", id: text_of(&answer["id"]) }
                }),
                Some(id) => call(address, "memory_mark_helpful", &json!({ "rule_id": id }))
                    .map(|_| Acknowledged::Marked { rule: id.clone() }),
            },
        };
        match acknowledged {
            Some(acknowledged) => done.send(acknowledged).expect("the test listens"),
            None => return,
        }
    }
}

fn text_of(id: &Value) -> String {
    id.as_str().expect("an id").to_owned()
}

#[test]
fn every_acknowledged_write_survives_a_killed_server() {
    let rounds = std::env::var("BUTLER_KILL_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    let dir = tempfile::tempdir().expect("a directory");
    let mut acknowledged = Vec::new();
    for round in 0..rounds {
        let server = Server::start(dir.path());
        let (done, results) = channel();
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (done, address) = (done.clone(), server.address.clone());
                scope.spawn(move || load(&address, client, round, &done));
            }
            drop(done);
            // Wait for two acknowledgements, however slow the machine is, then kill at a random moment.
            for _ in 0..2 {
                acknowledged.push(results.recv().expect("the server answers"));
            }
            std::thread::sleep(Duration::from_micros(u64::from(uuid::Uuid::new_v4().as_fields().0) % 400_000));
            if round % 2 == 1 {
                kill_postgres(dir.path());
            }
            server.kill();
        });
        acknowledged.extend(results);
    }
    let server = Server::start(dir.path());
    let url = butler().args(["db", "url", "--data-dir"]).arg(dir.path()).output().expect("butler db url");
    let url = String::from_utf8(url.stdout).expect("a URL");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut db = PgConnection::connect(url.trim()).await.expect("the database");
        assert_all_present(&mut db, &acknowledged).await;
        assert_consistent(&mut db).await;
    });
    stop(server);
}

/// Stops the server gracefully, together with its private PostgreSQL.
fn stop(mut server: Server) {
    assert!(Command::new("kill").arg(server.child.id().to_string()).status().expect("kill").success());
    server.child.wait().expect("its end");
}

async fn count(db: &mut PgConnection, sql: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {sql}"))).fetch_one(db).await.expect(sql)
}

async fn assert_all_present(db: &mut PgConnection, acknowledged: &[Acknowledged]) {
    let mut marks: HashMap<&str, i64> = HashMap::new();
    for write in acknowledged {
        match write {
            Acknowledged::Fact { id, superseded: None } => {
                assert_eq!(count(db, &format!("facts WHERE id = '{id}' AND supersedes_id IS NULL")).await, 1, "{id}");
            }
            Acknowledged::Fact { id, superseded: Some(old) } => {
                let sql = format!(
                    "facts n JOIN facts o ON o.id = n.supersedes_id AND o.validity = 'superseded' WHERE n.id = '{id}' AND o.id = '{old}'"
                );
                assert_eq!(count(db, &sql).await, 1, "{id}");
            }
            Acknowledged::Other { table, id } => {
                assert_eq!(count(db, &format!("{table} WHERE id = '{id}'")).await, 1, "{table} {id}");
            }
            Acknowledged::Marked { rule } => *marks.entry(rule).or_default() += 1,
        }
    }
    for (rule, expected) in marks {
        let counted = count(db, &format!("rule_applications WHERE rule_id = '{rule}'")).await;
        assert!(counted >= expected, "{rule}: {counted} of {expected} marks");
    }
}

/// Checks that no write is half done, acknowledged or not.
async fn assert_consistent(db: &mut PgConnection) {
    for (what, sql) in [
        (
            "two active facts of one key",
            "(SELECT FROM facts WHERE validity = 'active' GROUP BY subject, predicate, scope HAVING count(*) > 1) x",
        ),
        (
            "a key without an active fact",
            "(SELECT FROM facts GROUP BY subject HAVING count(*) FILTER (WHERE validity = 'active') <> 1) x",
        ),
        (
            "a chain with a gap",
            "(SELECT FROM facts GROUP BY subject HAVING count(*) FILTER (WHERE supersedes_id IS NULL) <> 1) x",
        ),
        (
            "a fact superseded twice",
            "(SELECT FROM facts WHERE supersedes_id IS NOT NULL GROUP BY supersedes_id HAVING count(*) > 1) x",
        ),
        (
            "a superseded fact without successor",
            "facts f WHERE validity = 'superseded' AND NOT EXISTS (SELECT FROM facts n WHERE n.supersedes_id = f.id)",
        ),
        (
            "a supersession without link",
            "facts f WHERE supersedes_id IS NOT NULL AND NOT EXISTS (SELECT FROM memory_links l WHERE l.source_id = f.id AND l.target_id = f.supersedes_id AND l.relation = 'supersedes')",
        ),
        (
            "a fact without event",
            "facts f WHERE 1 <> (SELECT count(*) FROM memory_events e WHERE e.memory_id = f.id AND e.event_type = 'fact_created')",
        ),
        (
            "a supersession without event",
            "facts f WHERE validity = 'superseded' AND 1 <> (SELECT count(*) FROM memory_events e WHERE e.memory_id = f.id AND e.event_type = 'fact_superseded')",
        ),
        (
            "an episode without event",
            "episodes m WHERE 1 <> (SELECT count(*) FROM memory_events e WHERE e.memory_id = m.id AND e.event_type = 'episode_created')",
        ),
        (
            "a rule without event",
            "rules m WHERE 1 <> (SELECT count(*) FROM memory_events e WHERE e.memory_id = m.id AND e.event_type = 'rule_created')",
        ),
        (
            "a mark that was not counted",
            "rules r WHERE applied_count <> (SELECT count(*) FROM rule_applications a WHERE a.rule_id = r.id)",
        ),
        (
            "a mark without event",
            "rules r WHERE applied_count <> (SELECT count(*) FROM memory_events e WHERE e.memory_id = r.id AND e.event_type = 'rule_marked_helpful')",
        ),
        (
            "an event without memory",
            "memory_events e WHERE e.event_type LIKE '%_created' AND e.memory_type <> 'entity' AND NOT memory_exists(e.tenant_id, e.memory_type, e.memory_id)",
        ),
    ] {
        assert_eq!(count(db, sql).await, 0, "{what}");
    }
}
