//! No planted secret reaches the database, a file or the log, whichever way its text comes in.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_memory::Call;
use butler_memory::transfer::{ForeignFormat, ImportOptions, Line};
use butler_testkit::MemoryFixture;
use butler_testkit::planted::{Planted, all};
use serde_json::{Value, json};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions};

use crate::program::{Serving, butler, eventually, request, stderr, stdout};

const SOON: Duration = Duration::from_secs(120);
/// A password without a known form.
const WORD: &str = "Tr0ub4dor&3";
const MARK: &str = "[redacted: aws key]";
const JSON: &[(&str, &str)] = &[("Content-Type", "application/json")];

/// All planted secrets in a few texts, each with the number of its secrets.
fn texts(planted: &[Planted]) -> Vec<(String, u64)> {
    let text = |planted: &Planted| format!("Anna sent me {} today.", planted.around.replace("{}", &planted.secret));
    let chunks = planted.chunks(30);
    chunks.map(|chunk| (chunk.iter().map(text).collect::<Vec<_>>().join("\n"), chunk.len() as u64)).collect()
}

/// The planted secrets that a text contains. Of a private key each line counts, because a line break may be escaped.
fn leaked(planted: &[Planted], text: &str) -> Vec<String> {
    let lines = planted.iter().flat_map(|planted| planted.secret.lines().map(move |line| (planted.kind, line)));
    let secret = lines.filter(|(_, line)| !line.starts_with("-----"));
    secret.filter(|(_, line)| text.contains(line)).map(|(kind, line)| format!("{kind}: {line}")).collect()
}

#[track_caller]
fn assert_clean(planted: &[Planted], what: &str, text: &str) {
    let leaked = leaked(planted, text);
    assert!(leaked.is_empty(), "{what} contains {} secrets: {leaked:#?}", leaked.len());
}

/// Every row of every table as text.
async fn dump(connection: &mut PgConnection) -> String {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables \
         WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    )
    .fetch_all(&mut *connection)
    .await
    .unwrap();
    let mut rows = Vec::new();
    for table in tables {
        let select = AssertSqlSafe(format!("SELECT t::text FROM {table} AS t"));
        rows.extend(sqlx::query_scalar::<_, String>(select).fetch_all(&mut *connection).await.unwrap());
    }
    rows.join("\n")
}

/// A model that answers every prompt with actions full of secrets, then writes some to stderr.
fn gullible_model(texts: &[(String, u64)], key: &str) -> String {
    let facts: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(n, (text, _))| json!({"subject": format!("mail {n}"), "predicate": "says", "content": text}))
        .collect();
    let answer = json!({
        "new_facts": facts, "updated_facts": [], "confirmations": ["not an id"],
        "new_rules": [{"content": format!("Log in with {key}")}],
        "entities": [{"name": format!("Robot {key}"), "entity_type": "other", "aliases": [key]}],
    });
    let command = json!(["sh", "-c", format!("cat > /dev/null; echo {key} >&2; cat <<'END'\n{answer}\nEND\n")]);
    format!("[butler.runtime]\ntype = \"command\"\ncommand = {command}\n")
}

fn end_of_session(data_dir: &Path, transcript: &Path) {
    let event = json!({"session_id": "0b8a2f3e-6a55-4c39-9a0e-3f1d2c4b5a69", "transcript_path": transcript});
    let mut child = butler()
        .args(["hook", "session-end", "--timeout", "60", "--data-dir"])
        .arg(data_dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    child.wait().unwrap();
}

/// Writes a transcript with the texts and ends its session while no server runs, so that it is spooled.
fn spool(planted: &[Planted], texts: &[(String, u64)], dir: &Path) {
    let message = |role: &str, id: String, text: &str| {
        json!({"type": role, "uuid": id, "message": {"role": role, "content": text}}).to_string() + "\n"
    };
    let lines = texts
        .iter()
        .enumerate()
        .map(|(n, (text, _))| message("user", format!("u{n}"), text) + &message("assistant", format!("a{n}"), text));
    let transcript = dir.join("transcript.jsonl");
    std::fs::write(&transcript, lines.collect::<String>()).unwrap();
    let data_dir = dir.join("data");
    end_of_session(&data_dir, &transcript);
    let spooled: Vec<String> = std::fs::read_dir(data_dir.join("spool"))
        .unwrap()
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert!(spooled.len() == 1 && spooled[0].contains(MARK), "{spooled:?}");
    assert_clean(planted, "the spool", &spooled[0]);
}

/// Stores and asks through the tools. Returns a fact, a rule and an entity.
fn use_tools(server: &Serving, planted: &[Planted], texts: &[(String, u64)], key: &str) -> [String; 3] {
    let mcp = server.mcp();
    let text_of = |value: &Value| value.as_str().unwrap().to_owned();
    let mut fact = String::new();
    for (n, (text, count)) in texts.iter().enumerate() {
        let episode = json!({"content": text, "butler": "general", "metadata": {"note": text, key: 1}});
        let stored = mcp.call("memory_store_episode", episode);
        assert!(stored["redacted"].as_u64().unwrap() > 2 * count, "{stored}");
        let arguments = json!({
            "subject": format!("Letter {n} {key}"), "predicate": "says", "content": text, "tags": [key],
            "object": format!("Robot {key}"), "metadata": {"db_password": WORD},
            "request_context": {"request_id": key, "idempotency_key": format!("{key} {n}")},
        });
        let stored = mcp.call("memory_store_fact", arguments.clone());
        assert_eq!(stored["request_id"], MARK);
        assert_eq!(
            stored["id"],
            mcp.call("memory_store_fact", arguments)["id"],
            "the same key returns the same answer"
        );
        fact = text_of(&stored["id"]);
        assert!(
            leaked(planted, &mcp.call("memory_get", json!({"memory_type": "fact", "memory_id": fact})).to_string())
                .is_empty()
        );
        mcp.call("memory_search", json!({"query": text}));
        mcp.call("memory_recall", json!({"topic": text}));
    }
    let rule = mcp.call("memory_store_rule", json!({"content": texts[0].0, "tags": [key]}));
    let rule = text_of(&rule["id"]);
    mcp.call("memory_mark_helpful", json!({"rule_id": rule, "context": {"said": texts[1].0}}));
    let marked = mcp.call("memory_mark_harmful", json!({"rule_id": rule, "reason": format!("it leaks {key}")}));
    assert_eq!(marked["redacted"], 1, "{marked}");
    let entity = mcp.call(
        "entity_create",
        json!({"canonical_name": format!("Box {key}"), "entity_type": "other", "aliases": [key]}),
    );
    let entity = text_of(&entity["entity_id"]);
    mcp.call("entity_update", json!({"entity_id": entity, "metadata": {"note": texts[2].0}}));
    let clean = mcp.call("memory_store_rule", json!({"content": "Ask first"}));
    assert!(clean.get("redacted").is_none(), "{clean}");
    for wrong in [json!({"content": "c", key: 1}), json!({"content": "c", "permanence": key})] {
        let error = mcp.try_call("memory_store_rule", wrong).unwrap_err().to_string();
        assert!(!error.contains(key), "{error}");
    }
    [fact, rule, entity]
}

fn use_rest(server: &Serving, texts: &[(String, u64)], key: &str, [fact, rule, entity]: &[String; 3]) {
    let send = |method: &str, path: &str, body: Value| {
        let headers = [JSON[0], ("X-Request-Id", key)];
        request(server.address, method, path, &headers, body.to_string().as_bytes())
    };
    let edited = send("PUT", &format!("/api/memory/facts/{fact}"), json!({"content": texts[0].0, "tags": [key]}));
    let found = edited.json()["meta"]["redacted"].as_u64();
    assert!(edited.status == 200 && found.is_some_and(|found| found > texts[0].1), "{}", edited.text());
    assert_eq!(send("PUT", &format!("/api/memory/rules/{rule}"), json!({"content": texts[1].0})).status, 200);
    let harmful = send("POST", &format!("/api/memory/rules/{rule}/harmful"), json!({"reason": key})).json();
    assert_eq!(harmful["meta"]["redacted"], 1, "{harmful}");
    let names = json!({"canonical_name": format!("Chest {key}"), "metadata": {"note": texts[3].0}});
    assert_eq!(send("PUT", &format!("/api/memory/entities/{entity}"), names).status, 200);
    let clean = send("POST", &format!("/api/memory/rules/{rule}/confirm"), Value::Null);
    assert!(clean.status == 200 && !clean.text().contains("redacted\":"), "{}", clean.text());
    for path in [
        format!("/api/memory/recall?q={key}"),
        format!("/api/memory/facts?q={key}"),
        format!("/api/memory/search?q={key}"),
    ] {
        let answer = server.get(&path);
        assert!(answer.status == 200 && !answer.text().contains(key), "{path}: {}", answer.text());
    }
    let error = send("PUT", &format!("/api/memory/rules/{rule}"), json!({key: 1}));
    assert!(error.status >= 400 && !error.text().contains(key), "{}", error.text());
}

#[test]
fn no_planted_secret_reaches_the_database_a_file_or_the_log() {
    let (planted, dir) = (all(), tempfile::tempdir().unwrap());
    let (texts, key) = (texts(&planted), planted[0].secret.as_str());
    spool(&planted, &texts, dir.path());
    let config = dir.path().join("butler.toml");
    std::fs::write(&config, gullible_model(&texts, key)).unwrap();
    let data_dir = dir.path().join("data");
    let server = Serving::with(&data_dir, &[OsStr::new("-vv"), OsStr::new("--config"), config.as_os_str()]);
    eventually(SOON, "the spool is delivered", || {
        std::fs::read_dir(data_dir.join("spool")).unwrap().next().is_none().then_some(())
    });
    let ids = use_tools(&server, &planted, &texts, key);
    use_rest(&server, &texts, key, &ids);

    let told = butler().args(["remember", "rule", key, "--data-dir"]).arg(&data_dir).output().unwrap();
    assert!(stderr(&told).contains("1 secret was redacted"), "{} {}", stdout(&told), stderr(&told));
    let report = server.mcp().call("memory_run_consolidation", json!({}));
    let found: u64 = texts.iter().map(|(_, count)| count).sum();
    assert!(report["totals"]["redacted"].as_u64().is_some_and(|redacted| redacted >= found), "{report}");

    let url = butler().args(["db", "url", "--data-dir"]).arg(&data_dir).output().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rows = runtime.block_on(async {
        let options: PgConnectOptions = stdout(&url).trim().parse().unwrap();
        dump(&mut options.connect().await.unwrap()).await
    });
    assert!(rows.matches(MARK).count() > 20 && rows.contains("mail 3"), "the marks are stored");
    assert_clean(&planted, "the database", &rows);
    let log = server.log();
    assert!(log.contains("memory_store_fact"), "{log}");
    assert_clean(&planted, "the log", &log);
    for file in std::fs::read_dir(&data_dir).unwrap().chain(std::fs::read_dir(data_dir.join("postgres")).unwrap()) {
        if let Ok(text) = std::fs::read(file.unwrap().path()) {
            assert_clean(&planted, "a file", &String::from_utf8_lossy(&text));
        }
    }
}

async fn assert_imported(there: &MemoryFixture, planted: &[Planted]) {
    let rows = dump(&mut there.db.connect().await).await;
    assert!(rows.contains(MARK), "{rows}");
    assert_clean(planted, "the database", &rows);
}

#[tokio::test]
async fn imports_redact_and_say_so() {
    let planted = all();
    let (texts, here) = (texts(&planted), MemoryFixture::new().await);
    let options =
        ImportOptions { tenant: TenantId::default(), dry_run: false, partial: false, origin: Origin::default() };
    here.call(
        "memory_store_episode",
        json!({"content": "zanzibar", "butler": "general", "metadata": {"a": "zanzibar"}}),
    )
    .await
    .unwrap();
    here.call("memory_store_fact", json!({"subject": "Ann", "predicate": "says", "content": "zanzibar"}))
        .await
        .unwrap();
    let mut file = Vec::new();
    let mut sink = |line: &str| {
        let secrets = texts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("\n");
        file.push(line.replace("\"zanzibar\"", &json!(secrets).to_string()));
        Ok(())
    };
    let call = Call::internal(&here.memory, TenantId::default(), "tests");
    here.memory.export(&call, true, &mut sink, &|_, _| ()).await.unwrap();
    let there = MemoryFixture::new().await;
    let mut numbered = file.iter().zip(1..);
    let mut next = || Ok(numbered.next().map(|(text, number)| Line { number, text: text.clone() }));
    let report = there.memory.import(&mut next, &options, &|_| ()).await.unwrap();
    assert!(report.committed && report.redacted as usize > 2 * planted.len(), "{report:?}");
    assert_eq!(report.embedded, 2, "the vectors of the file describe the secrets");
    assert_imported(&there, &planted).await;

    let lines: String = texts.iter().map(|(text, _)| text.replace("\nAnna", "\n- Anna") + "\n- ").collect();
    let pem = planted.iter().find(|planted| planted.kind == "pem block").unwrap();
    let memories: Vec<Value> = texts.iter().map(|(text, _)| json!({"memory": text, "user_id": "ann"})).collect();
    let graph: String = texts
        .iter()
        .enumerate()
        .map(|(n, (text, _))| {
            json!({"type": "entity", "name": format!("E{n} {}", planted[0].secret), "entityType": "x", "observations": [text]})
                .to_string()
                + "\n"
        })
        .collect();
    for (format, text) in [
        (ForeignFormat::ClaudeCode, format!("# Notes\n\n{}\n\n- {lines}end", pem.secret)),
        (ForeignFormat::Mem0, json!({"results": memories}).to_string()),
        (ForeignFormat::McpMemory, graph),
    ] {
        let there = MemoryFixture::new().await;
        let report = there.memory.import_foreign(format, &text, "notes", &options, &|_, _| ()).await.unwrap();
        assert!(report.committed && report.redacted as usize >= planted.len() - 6, "{report:?}");
        assert_imported(&there, &planted).await;
    }
}
