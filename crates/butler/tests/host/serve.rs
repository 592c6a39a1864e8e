//! `butler serve` and `butler doctor`, from start to shutdown.

use std::ffi::OsStr;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::program::{MCP_HEADERS, Mcp, Serving, eventually, is_alive, request, run, sql, stderr, stdout};

#[test]
fn store_get_and_count_an_episode_over_http() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::first(&dir.path().join("data"));
    let mcp = server.mcp();

    let initialized = mcp.rpc(
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
    );
    assert_eq!(initialized["result"]["protocolVersion"], "2025-06-18", "{initialized}");
    assert!(initialized["result"]["instructions"].as_str().unwrap().contains("memory_store_episode"));

    let listed = mcp.rpc("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    for name in ["memory_store_episode", "memory_get", "memory_stats"] {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name}: {listed}"));
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint} of {tool}");
        }
    }

    let stored = mcp.call(
        "memory_store_episode",
        json!({"content": "Ann prefers tea", "butler": "general", "request_context": {"request_id": "r-1"}}),
    );
    assert_eq!(stored["request_id"], "r-1");
    let read = mcp.call("memory_get", json!({"type": "episode", "id": stored["id"]}));
    assert_eq!(read["content"], "Ann prefers tea");
    assert_eq!(mcp.call("memory_stats", json!({}))["episodes"]["total"], 1);
}

#[test]
fn invalid_input_and_unknown_tools_are_different_errors() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let mcp = server.mcp();
    let wrong = mcp.try_call("memory_get", json!({"memory_type": "episode", "memory_id": "no-uuid"})).unwrap_err();
    assert_eq!(wrong["error"], "invalid_argument", "{wrong}");
    let missing = json!({"memory_type": "episode", "memory_id": "00000000-0000-7000-8000-000000000000"});
    assert_eq!(mcp.try_call("memory_get", missing).unwrap_err()["error"], "not_found");
    let unknown = mcp.rpc("tools/call", json!({"name": "memory_stat", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("did you mean memory_stats?"), "{unknown}");

    for (body, code) in [("{not json", -32700), ("[]", -32600), ("{\"jsonrpc\": \"2.0\"}", -32600)] {
        let answer = request(server.address, "POST", "/mcp", &MCP_HEADERS, body.as_bytes());
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        assert_eq!(answer.json()["error"]["code"], code, "{body}: {}", answer.text());
    }
}

#[test]
fn health_readiness_metrics_and_unknown_paths() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    assert_eq!(server.get("/healthz").json()["status"], "ok");
    server.is_ready_soon();
    assert_eq!(server.get("/readyz").json()["not_ready"], json!([]));
    server.mcp().call("memory_stats", json!({}));
    server.mcp().try_call("memory_get", json!({})).unwrap_err();
    let metrics = server.get("/metrics").text();
    for line in [
        "butler_tool_calls_total{butler=\"general\",tool=\"memory_stats\"} 1",
        "butler_tool_errors_total{butler=\"general\",tool=\"memory_get\",code=\"invalid_argument\"} 1",
        "butler_tool_duration_seconds_count{butler=\"general\",tool=\"memory_stats\"} 1",
        "butler_embedding_queue_depth 0",
        "butler_pool_max{butler=\"general\"}",
        "butler_build_info{version=",
        "butler_database_up{butler=\"general\"} 1",
        "butler_backlog_episodes{butler=\"general\"} 0",
        "butler_backlog_age_seconds{butler=\"general\"} 0",
    ] {
        assert!(metrics.contains(line), "{line} is missing in\n{metrics}");
    }
    let nothing = server.get("/nothing/here");
    assert_eq!((nothing.status, &nothing.json()["error"]["code"]), (404, &json!("not_found")));
    assert_eq!(request(server.address, "POST", "/healthz", &[], b"").status, 405);
}

#[test]
fn both_the_2025_and_the_2026_protocol_are_served() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "memory_stats", "arguments": {}, "_meta": meta}});
    let headers = [
        MCP_HEADERS[0],
        MCP_HEADERS[1],
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "memory_stats"),
    ];
    let answer = request(server.address, "POST", "/mcp", &headers, body.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let result = &answer.json()["result"];
    assert_eq!(result["resultType"], "complete", "{result}");
    assert_eq!(result["structuredContent"]["episodes"]["total"], 0, "{result}");
}

#[test]
fn sigterm_completes_requests_in_flight_and_stops_postgres() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let (postgres, data_dir) = (server.postgres_pid(), server.data_dir.clone());
    let mcp = server.mcp();
    // Long texts keep the embedding engine busy, so that some calls are in flight when the signal arrives.
    let writers: Vec<_> = (0..6)
        .map(|n| {
            let mcp = mcp.clone();
            std::thread::spawn(move || mcp.store_episode(&format!("episode {n}: {}", "a long story ".repeat(400))))
        })
        .collect();
    eventually(Duration::from_secs(60), "a call is in flight", || {
        server.get("/metrics").text().contains("butler_tool_calls_total").then_some(())
    });
    let (status, rest) = server.stop();
    assert_eq!(status.code(), Some(0));
    assert_eq!(rest, Vec::<String>::new(), "stdout has only the ready line");
    eventually(Duration::from_secs(60), "PostgreSQL ends", || (!is_alive(postgres)).then_some(()));
    assert!(!data_dir.join("serve.json").exists());
    let stored: Vec<String> = writers.into_iter().filter_map(|writer| writer.join().unwrap().ok()).collect();
    assert!(!stored.is_empty());
    let again = Serving::on(&data_dir);
    for id in stored {
        again.mcp().call("memory_get", json!({"memory_type": "episode", "memory_id": id}));
    }
}

#[test]
fn each_butler_of_a_roster_has_its_own_database() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["health", "money"] {
        std::fs::create_dir_all(dir.path().join("roster").join(name)).unwrap();
        std::fs::write(dir.path().join("roster").join(name).join("butler.toml"), "").unwrap();
    }
    let roster = dir.path().join("roster");
    let server = Serving::with(&dir.path().join("data"), &["--roster".as_ref(), roster.as_os_str()]);
    let of = |name: &str| Mcp { path: format!("/butlers/{name}/mcp"), ..server.mcp() };
    of("health").store_episode("slept eight hours").unwrap();
    assert_eq!(of("health").call("memory_stats", json!({}))["episodes"]["total"], 1);
    assert_eq!(of("money").call("memory_stats", json!({}))["episodes"]["total"], 0);
    assert_eq!(server.mcp().call("memory_stats", json!({}))["episodes"]["total"], 1, "/mcp serves the first butler");
    let unknown = request(server.address, "POST", "/butlers/unknown/mcp", &MCP_HEADERS, b"{}");
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!("not_found")));
}

#[test]
fn a_disabled_module_registers_no_tools() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("butler.toml");
    std::fs::write(&file, "[modules.memory]\nenabled = false\n").unwrap();
    let server = Serving::with(&dir.path().join("data"), &["--config".as_ref(), file.as_os_str()]);
    assert_eq!(server.mcp().rpc("tools/list", json!({}))["result"]["tools"], json!([]));
}

#[test]
fn db_url_prints_the_database_url_while_the_server_runs() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let server = Serving::on(&data_dir);
    let output = run(["db".as_ref(), "url".as_ref(), "--data-dir".as_ref(), data_dir.as_os_str()]);
    let url = stdout(&output).trim().to_owned();
    assert!(url.starts_with("postgres://butler:") && url.contains("/general?"), "{url}");
    drop(server);
    let output = run(["db".as_ref(), "url".as_ref(), "--data-dir".as_ref(), data_dir.as_os_str()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("hint: start the server: butler serve"), "{}", stderr(&output));
}

#[test]
fn doctor_passes_on_a_working_machine_with_and_without_a_running_server() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let doctor = || {
        let output = run([
            "doctor".as_ref(),
            "--json".as_ref(),
            "--listen".as_ref(),
            "127.0.0.1:0".as_ref(),
            "--data-dir".as_ref(),
            data_dir.as_os_str(),
        ]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!(output.status.code(), Some(0), "{report:#}");
        report
    };
    let server = Serving::on(&data_dir);
    let report = doctor();
    let names: Vec<&str> =
        report["checks"].as_array().unwrap().iter().filter_map(|check| check["name"].as_str()).collect();
    for name in [
        "disk",
        "runtime",
        "model",
        "port",
        "database",
        "extensions",
        "indexes",
        "schedules",
        "tokens",
        "tls",
        "llm",
        "hooks",
        "backups",
        "mcp",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    // `doctor` must not stop the PostgreSQL of a running server.
    server.is_ready_soon();
    drop(server);
    let without_server = doctor();
    assert!(without_server.to_string().contains("(temporary server)"), "{without_server:#}");
}

#[test]
fn doctor_reports_pending_migrations_and_does_not_migrate() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let server = Serving::on(&data_dir);
    let url = run(["db".as_ref(), "url".as_ref(), "--data-dir".as_ref(), data_dir.as_os_str()]);
    let latest = "DELETE FROM butler_migrations WHERE version = (SELECT max(version) FROM butler_migrations)";
    sql(&stdout(&url), latest);
    server.stop();
    // Both runs report the same, because `doctor` changes nothing.
    for _ in 0..2 {
        let arguments = ["doctor", "--json", "--listen", "127.0.0.1:0", "--data-dir"].map(OsStr::new);
        let output = run(arguments.into_iter().chain([data_dir.as_os_str()]));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let checks = report["checks"].as_array().unwrap();
        let of = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap();
        assert_eq!(
            (&of("database")["verdict"], &of("mcp")["verdict"]),
            (&"warned".into(), &"skipped".into()),
            "{report:#}"
        );
        assert!(of("database")["detail"].as_str().unwrap().contains("pending migrations"), "{report:#}");
        assert!(of("database")["remedy"].as_str().unwrap().contains("start `butler serve` to migrate"), "{report:#}");
    }
}

#[test]
fn a_signal_during_startup_stops_the_server_cleanly() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    drop(Serving::on(&data_dir));
    let mut child = crate::program::butler()
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(&data_dir)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    eventually(Duration::from_secs(60), "it starts", || data_dir.join("serve.json").exists().then_some(()));
    crate::program::send(child.id() as i32, Signal::INT);
    assert_eq!(crate::program::wait(&mut child, Duration::from_secs(60)).code(), Some(0));
    assert_eq!(crate::program::postgres_pid(&data_dir).filter(|pid| is_alive(*pid)), None);
}
