//! Tokens and TLS: which requests are allowed and which are rejected.

use std::ffi::OsStr;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

use crate::program::{Answer, MCP_HEADERS, Mcp, Serving, eventually, exchange, foreign_database, request, run, stderr};

/// Token changes take effect within a second, but a machine that runs all tests at once may take longer.
pub const TOKEN_TIMEOUT: Duration = Duration::from_secs(60);
pub const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// A server on a roster, and `butler token` on the same data directory.
pub struct RosterServer {
    pub server: Serving,
    pub roster: PathBuf,
}

impl RosterServer {
    pub fn start(dir: &Path, butlers: &[&str]) -> Self {
        let roster = dir.join("roster");
        for name in butlers {
            std::fs::create_dir_all(roster.join(name)).unwrap();
            std::fs::write(roster.join(name).join("butler.toml"), "").unwrap();
        }
        let server = Serving::with(&dir.join("data"), &["--roster".as_ref(), roster.as_os_str()]);
        Self { server, roster }
    }

    pub fn token(&self, args: &[&str]) -> Value {
        let output = token(&self.server.data_dir, Some(&self.roster), args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn create(&self, args: &[&str]) -> (Mcp, String) {
        let created = self.token(&[&["create"], args].concat());
        let token = created["token"].as_str().unwrap();
        (self.server.mcp().with(token), created["id"].as_str().unwrap().to_owned())
    }
}

pub fn token(data_dir: &Path, roster: Option<&Path>, args: &[&str]) -> Output {
    let mut all: Vec<&OsStr> = vec!["token".as_ref()];
    all.extend(args.iter().map(OsStr::new));
    all.extend(["--json".as_ref(), "--data-dir".as_ref(), data_dir.as_os_str()]);
    if let Some(roster) = roster {
        all.extend(["--roster".as_ref(), roster.as_os_str()]);
    }
    run(all)
}

#[track_caller]
fn unauthorized(answer: &Answer, message: &str) {
    assert_eq!(answer.status, 401, "{}", answer.text());
    assert!(answer.head.to_lowercase().contains("www-authenticate: bearer"), "{}", answer.head);
    let error = &answer.json()["error"];
    assert_eq!(error["code"], "unauthorized", "{error}");
    assert!(error["message"].as_str().unwrap().contains(message), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("butler token create"), "{error}");
}

fn stored(mcp: &Mcp) -> Value {
    mcp.call("memory_stats", json!({}))["episodes"]["total"].clone()
}

#[test]
fn commands_use_the_database_of_the_running_server() {
    let dir = tempfile::tempdir().unwrap();
    let (_elsewhere, url) = foreign_database(&dir.path().join("elsewhere"), "mine", "CREATE DATABASE mine");
    let data_dir = dir.path().join("data");
    let server = Serving::with(&data_dir, &["--database-url".as_ref(), OsStr::new(&url)]);
    let shown = run(["db".as_ref(), "url".as_ref(), "--data-dir".as_ref(), data_dir.as_os_str()]);
    assert_eq!(crate::program::stdout(&shown).trim(), url);
    let created = token(&data_dir, None, &["create", "--tenant", "ann"]);
    let created: Value = serde_json::from_slice(&created.stdout).unwrap_or_else(|_| panic!("{}", stderr(&created)));
    let ann = server.mcp().with(created["token"].as_str().unwrap());
    eventually(Duration::from_secs(60), "the token takes effect", || {
        (server.mcp().post(PING).unwrap().status == 401).then_some(())
    });
    assert_eq!(stored(&ann), 0);
    assert!(!data_dir.join("postgres").exists(), "no private database was created");
    // Other commands work through the server.
    let output = run(["stats", "--json", "--tenant", "ann", "--data-dir"]
        .map(OsStr::new)
        .into_iter()
        .chain([data_dir.as_os_str()]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_token_grants_only_its_tenant_butler_and_rights() {
    let dir = tempfile::tempdir().unwrap();
    let roster_server = RosterServer::start(dir.path(), &["alpha", "beta"]);
    let open = roster_server.server.mcp();
    assert_eq!(stored(&open), 0, "without tokens every local client is trusted");

    let (ann, ann_id) = roster_server.create(&["--tenant", "ann", "--name", "ann's laptop"]);
    eventually(TOKEN_TIMEOUT, "the first token makes tokens required", || {
        (open.post(PING).unwrap().status == 401).then_some(())
    });
    unauthorized(&open.post(PING).unwrap(), "requires a token");
    unauthorized(&open.with("btl_0000").post(PING).unwrap(), "unknown token");
    for path in ["/butlers/beta/mcp", "/api", "/api/memory/stats", "/mcp/"] {
        unauthorized(&roster_server.server.get(path), "requires a token");
    }
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(roster_server.server.get(path).status, 200, "{path} stays open on loopback");
    }

    // A token is limited to its tenant.
    ann.store_episode("Ann was here").unwrap();
    let (bob, _) = roster_server.create(&["--tenant", "bob"]);
    eventually(TOKEN_TIMEOUT, "a new token takes effect", || (bob.post(PING).unwrap().status == 200).then_some(()));
    assert_eq!((stored(&ann), stored(&bob)), (json!(1), json!(0)));
    let foreign = bob.try_call("memory_stats", json!({"request_context": {"tenant_id": "ann"}})).unwrap_err();
    assert!(foreign["message"].as_str().unwrap().contains("not the tenant of this token"), "{foreign}");

    // A token is limited to its rights.
    let (reader, _) = roster_server.create(&["--tenant", "ann", "--rights", "read"]);
    eventually(TOKEN_TIMEOUT, "a new token takes effect", || (reader.post(PING).unwrap().status == 200).then_some(()));
    assert_eq!(stored(&reader), 1);
    let refused = reader.store_episode("I may not").unwrap_err();
    assert_eq!((&refused["error"], stored(&ann)), (&json!("forbidden"), json!(1)), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("--rights read,write"), "{refused}");
    let refused = ann.try_call("memory_run_episode_cleanup", json!({})).unwrap_err();
    assert_eq!(refused["error"], "forbidden", "{refused}");
    let (admin, _) = roster_server.create(&["--tenant", "ann", "--rights", "admin"]);
    eventually(TOKEN_TIMEOUT, "a new token takes effect", || (admin.post(PING).unwrap().status == 200).then_some(()));
    admin.call("memory_run_episode_cleanup", json!({}));

    // A token with --butler is limited to that butler.
    let (beta, _) = roster_server.create(&["--tenant", "ann", "--butler", "beta"]);
    let beta_there = Mcp { path: "/butlers/beta/mcp".to_owned(), ..beta.clone() };
    eventually(TOKEN_TIMEOUT, "a new token takes effect", || {
        (beta_there.post(PING).unwrap().status == 200).then_some(())
    });
    let refused = beta.post(PING).unwrap();
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("forbidden")), "{}", refused.text());
    let everywhere = Mcp { path: "/butlers/beta/mcp".to_owned(), ..ann.clone() };
    assert_eq!(everywhere.post(PING).unwrap().status, 200, "a token without --butler is valid for all");

    // Of a job run for all tenants, a tenant sees only its own part.
    let all = ["jobs", "run", "consolidation", "--data-dir"].map(OsStr::new);
    let place = [roster_server.server.data_dir.as_os_str(), "--roster".as_ref(), roster_server.roster.as_os_str()];
    let output = run([&all[..], &place[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let seen_by = |mcp: &Mcp, path: &str| {
        let bearer = format!("Bearer {}", mcp.token.as_deref().unwrap());
        let answer = request(roster_server.server.address, "GET", path, &[("Authorization", &bearer)], b"");
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer
    };
    let last = |answer: &Answer| answer.json()["data"][0]["runs"][0]["result"].clone();
    let (of_ann, of_bob) = (last(&seen_by(&reader, "/api/jobs")), last(&seen_by(&bob, "/api/jobs")));
    assert_eq!((&of_ann["groups"][0]["tenant_id"], &of_ann["totals"]["episodes"]), (&json!("ann"), &json!(1)));
    assert_eq!((&of_bob["groups"], &of_bob["totals"]["episodes"]), (&json!([]), &json!(0)));
    for path in ["/api/jobs", "/api/memory/stats", "/api/butlers"] {
        let text = seen_by(&bob, path).text();
        assert!(!text.contains("ann"), "{path} leaks: {text}");
    }
    let own = format!("Bearer {}", admin.token.as_deref().unwrap());
    let sweep =
        request(roster_server.server.address, "POST", "/api/jobs/decay_sweep/run", &[("Authorization", &own)], b"");
    assert_eq!(sweep.status, 200, "{}", sweep.text());
    let runs = |mcp: &Mcp| seen_by(mcp, "/api/jobs").json()["data"][1]["runs"].as_array().unwrap().len();
    assert_eq!((runs(&reader), runs(&bob)), (1, 0), "a run for one tenant is visible to that tenant only");

    // A valid token does not allow a forged host or origin.
    let bearer = format!("Bearer {}", ann.token.as_deref().unwrap());
    for forged in [("Host", "evil.example"), ("Origin", "https://evil.example")] {
        let headers = [&MCP_HEADERS[..], &[("Authorization", &bearer), forged]].concat();
        let answer = request(roster_server.server.address, "POST", "/mcp", &headers, PING.as_bytes());
        assert_eq!(answer.status, 403, "{forged:?}: {}", answer.text());
    }
    let discovery = roster_server.server.get("/.well-known/oauth-protected-resource/mcp");
    assert_eq!((discovery.status, &discovery.json()["error"]["code"]), (404, &json!("not_found")));

    // A token stops working when it is revoked or expires.
    let (brief, _) = roster_server.create(&["--tenant", "ann", "--expires", "2s"]);
    eventually(TOKEN_TIMEOUT, "a new token takes effect", || (brief.post(PING).unwrap().status == 200).then_some(()));
    roster_server.token(&["revoke", &ann_id]);
    eventually(TOKEN_TIMEOUT, "a revocation takes effect", || (ann.post(PING).unwrap().status == 401).then_some(()));
    unauthorized(&ann.post(PING).unwrap(), "revoked");
    eventually(Duration::from_secs(60), "it expires", || (brief.post(PING).unwrap().status == 401).then_some(()));
    unauthorized(&brief.post(PING).unwrap(), "expired");

    // Commands on this machine use the secret in the data directory.
    let state = roster_server.server.data_dir.join("serve.json");
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o600);
    let state: Value = serde_json::from_slice(&std::fs::read(&state).unwrap()).unwrap();
    let local = open.with(state["secret"].as_str().unwrap());
    let of_bob = local.call("memory_stats", json!({"request_context": {"tenant_id": "bob"}}));
    assert_eq!(of_bob["episodes"]["total"], 0);

    let RosterServer { server, roster } = roster_server;
    let data_dir = server.data_dir.clone();
    assert_eq!(server.stop().0.code(), Some(0));
    let output = token(&data_dir, Some(&roster), &["list"]);
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let listed = listed["tokens"].as_array().unwrap();
    assert_eq!(listed.len(), 6, "{listed:#?}");
    let of_ann = listed.iter().find(|token| token["id"] == ann_id.as_str()).unwrap();
    assert_eq!((&of_ann["state"], &of_ann["name"]), (&json!("revoked"), &json!("ann's laptop")));
    assert!(of_ann["last_used_at"].is_string(), "{of_ann}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("btl_"), "a token is shown only once");
    let unknown = token(&data_dir, Some(&roster), &["revoke", "00000000-0000-0000-0000-000000000001"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("there is no token") && stderr(&unknown).contains("butler token list"));
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host/tls").join(name)
}

/// Sends a request as a client that trusts only the self-signed certificate.
fn over_tls(address: SocketAddr, name: &str, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("cert.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let server = ServerName::try_from(name.to_owned()).unwrap();
    let connection = ClientConnection::new(Arc::new(config), server).unwrap();
    let stream = StreamOwned::new(connection, TcpStream::connect(address).unwrap());
    exchange(stream, address, method, path, headers, PING.as_bytes()).unwrap()
}

#[test]
fn a_server_on_a_public_address_requires_a_token_and_serves_tls() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let (cert, key) = (fixture("cert.pem"), fixture("key.pem"));
    let serve = |args: &[&OsStr]| {
        let always = ["serve", "--listen", "0.0.0.0:0", "--data-dir"].map(OsStr::new);
        run([&always[..], &[data_dir.as_os_str()], args].concat())
    };
    let refused = serve(&[]);
    let text = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    let command = format!("butler token create --tenant default --data-dir '{}'", data_dir.display());
    assert!(text.contains("is reachable from other machines") && text.contains(&command), "{text}");
    assert!(!data_dir.exists(), "nothing was started");

    let created = token(&data_dir, None, &["create", "--tenant", "default", "--rights", "read,write"]);
    let created: Value = serde_json::from_slice(&created.stdout).unwrap();
    let bearer = format!("Bearer {}", created["token"].as_str().unwrap());
    let bearer_of = |args: &[&str]| {
        let created = token(&data_dir, None, args);
        let created: Value = serde_json::from_slice(&created.stdout).unwrap();
        format!("Bearer {}", created["token"].as_str().unwrap())
    };
    let admin = bearer_of(&["create", "--tenant", "default", "--rights", "read,write,admin"]);
    let counter = bearer_of(&["create", "--rights", "metrics"]);
    for bound in [&["--rights", "metrics", "--tenant", "ann"][..], &["--rights", "read,metrics"]] {
        let refused = token(&data_dir, None, &[&["create"], bound].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    }
    for (cert, key, message) in [
        (fixture("nothing.pem"), key.clone(), "cannot be read as PEM"),
        (cert.clone(), cert.clone(), "cannot be read as PEM"),
        (cert.clone(), fixture("other-key.pem"), "cannot be used with the key"),
    ] {
        let output = serve(&["--tls-cert".as_ref(), cert.as_os_str(), "--tls-key".as_ref(), key.as_os_str()]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(message) && text.contains("hint: --tls-cert takes"), "{text}");
    }
    let without_key = serve(&["--tls-cert".as_ref(), cert.as_os_str()]);
    assert!(stderr(&without_key).contains("pass it with --tls-key"), "{}", stderr(&without_key));

    let flags = ["--listen", "0.0.0.0:0", "--rate-limit", "1", "--allowed-host", "memory.example.com"].map(OsStr::new);
    let files = ["--tls-cert".as_ref(), cert.as_os_str(), "--tls-key".as_ref(), key.as_os_str()];
    let server = Serving::with(&data_dir, &[&flags[..], &files].concat());
    let address = SocketAddr::from(([127, 0, 0, 1], server.address.port()));
    let ask = |host: &str, method: &str, path: &str, more: &[(&str, &str)]| {
        over_tls(address, "localhost", method, path, &[&[("Host", host)], more].concat())
    };
    assert_eq!(ask("memory.example.com", "GET", "/healthz", &[]).status, 200);
    assert_eq!(ask("192.0.2.7:443", "GET", "/healthz", &[]).status, 200, "an IP address is not a host name");
    assert_eq!(ask("evil.example", "GET", "/healthz", &[]).status, 403);
    assert_eq!(ask("localhost", "GET", "/healthz", &[("Origin", "https://evil.example")]).status, 403);
    for path in ["/mcp", "/api/memory/stats", "/metrics"] {
        unauthorized(&ask("localhost", "GET", path, &[]), "requires a token");
    }
    let authorized = [&MCP_HEADERS[..], &[("Authorization", &bearer)]].concat();
    assert_eq!(ask("localhost", "GET", "/metrics", &authorized).status, 403, "metrics cover all tenants");
    let status = |path: &str, bearer: &str| ask("localhost", "GET", path, &[("Authorization", bearer)]).status;
    assert_eq!(status("/metrics", &admin), 403, "metrics need the metrics right");
    assert_eq!((status("/metrics", &counter), status("/api/memory/stats", &counter)), (200, 403));
    assert_eq!(ask("localhost", "POST", "/mcp", &authorized).json()["result"], json!({}));
    assert!(
        TcpStream::connect(address)
            .is_ok_and(|plain| { exchange(plain, address, "GET", "/healthz", &[], b"").is_err() })
    );

    // The burst of ten seconds is soon used up. The response says when to retry.
    let limited = eventually(Duration::from_secs(60), "the limit", || {
        let answer = ask("localhost", "POST", "/mcp", &authorized);
        (answer.status != 200).then_some(answer)
    });
    assert_eq!((limited.status, &limited.json()["error"]["code"]), (429, &json!("rate_limited")), "{}", limited.text());
    assert!(limited.head.to_lowercase().contains("retry-after: 1"), "{}", limited.head);

    // `doctor` uses the secret in the data directory.
    let doctor = run(["doctor", "--json", "--data-dir"].map(OsStr::new).into_iter().chain([data_dir.as_os_str()]));
    let report: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let mcp = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "mcp").unwrap();
    assert_eq!(mcp["verdict"], "passed", "{report:#}");
}

/// A roster of `general` on a PostgreSQL of its own and `health` on the private one. Returns the PostgreSQL's process.
fn roster_with_a_foreign_database(dir: &Path) -> (Serving, PathBuf) {
    let (foreign, url) = foreign_database(&dir.join("elsewhere"), "mine", "CREATE DATABASE mine");
    let roster = dir.join("roster");
    std::fs::create_dir_all(roster.join("general")).unwrap();
    std::fs::write(roster.join("general/butler.toml"), format!("[butler.database]\nurl = \"{url}\"\n")).unwrap();
    (foreign, roster)
}

fn add_health(roster: &Path) {
    std::fs::create_dir_all(roster.join("health")).unwrap();
    std::fs::write(roster.join("health/butler.toml"), "").unwrap();
}

#[test]
fn a_database_that_is_away_at_the_start_does_not_disable_authentication() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let (foreign, roster) = roster_with_a_foreign_database(dir.path());
    add_health(&roster);
    let serve = || Serving::with(&data_dir, &["--roster".as_ref(), roster.as_os_str()]);
    let created = token(&data_dir, Some(&roster), &["create", "--tenant", "ann", "--butler", "general"]);
    assert_eq!(created.status.code(), Some(0), "{}", stderr(&created));
    drop(foreign);

    let assert_closed = |status: u16, message: &str| {
        let server = serve();
        let health = Mcp { path: "/butlers/health/mcp".to_owned(), ..server.mcp() };
        let admin = r#"{"rights": ["read", "write", "admin"]}"#;
        let json = [("Content-Type", "application/json")];
        for answer in [
            health.post(PING).unwrap(),
            server.get("/api/memory/stats"),
            request(server.address, "POST", "/api/tokens", &json, admin.as_bytes()),
        ] {
            assert_eq!(answer.status, status, "{}", answer.text());
            assert!(answer.text().contains(message), "{}", answer.text());
        }
        // An unknown token might be one of the butler that cannot be asked.
        let unknown = health.with("btl_0000").post(PING).unwrap();
        assert_eq!(unknown.status, 503, "{}", unknown.text());
    };
    assert_closed(401, "requires a token");
    // Without the file that remembers it, nobody can say whether there are tokens.
    std::fs::remove_file(data_dir.join("tokens-exist")).unwrap();
    assert_closed(503, "the tokens of butler \\\"general\\\" cannot be read");
}

#[test]
fn a_butler_that_is_added_learns_the_tokens_for_all_butlers() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let (foreign, roster) = roster_with_a_foreign_database(dir.path());
    let serve = || Serving::with(&data_dir, &["--roster".as_ref(), roster.as_os_str()]);
    let created = token(&data_dir, Some(&roster), &["create", "--tenant", "ann"]);
    let created: Value = serde_json::from_slice(&created.stdout).unwrap_or_else(|_| panic!("{}", stderr(&created)));
    add_health(&roster);
    let server = serve();
    let url = run(["db", "url", "--butler", "health", "--data-dir"].map(OsStr::new).into_iter().chain([
        data_dir.as_os_str(),
        "--roster".as_ref(),
        roster.as_os_str(),
    ]));
    let url = crate::program::stdout(&url).trim().to_owned();
    eventually(TOKEN_TIMEOUT, "the token is copied", || {
        let rows = crate::scaleout::rows(&url, "SELECT id::text FROM tokens");
        rows.iter().any(|row| row == created["id"].as_str().unwrap()).then_some(())
    });
    drop(server);
    drop(foreign);

    let server = serve();
    let health = Mcp { path: "/butlers/health/mcp".to_owned(), ..server.mcp() };
    assert_eq!(health.post(PING).unwrap().status, 401);
    assert_eq!(stored(&health.with(created["token"].as_str().unwrap())), 0);
}
