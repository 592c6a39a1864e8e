//! `butler token`: names, rotation and revocation, over all databases of a roster.

use std::ffi::OsStr;

use serde_json::{Value, json};

use crate::access::{PING, RosterServer, TOKEN_TIMEOUT, token};
use crate::program::{eventually, request, run, stderr, stdout};
use crate::scaleout::rows;

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn the_command_scopes_rotates_and_revokes_tokens_in_all_databases() {
    let dir = tempfile::tempdir().unwrap();
    let on = RosterServer::start(dir.path(), &["alpha", "beta"]);
    let refused = |args: &[&str], code: i32, message: &str| {
        let output = token(&on.server.data_dir, Some(&on.roster), args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
    };
    let urls = ["alpha", "beta"].map(|name| {
        let place = [on.server.data_dir.as_os_str(), OsStr::new("--roster"), on.roster.as_os_str()];
        let url = run(["db", "url", "--butler", name, "--data-dir"].map(OsStr::new).into_iter().chain(place));
        stdout(&url).trim().to_owned()
    });
    let accepted = |secret: &Value| on.server.mcp().with(text(secret)).post(PING).unwrap().status == 200;
    let refused_soon = |secret: &Value| {
        eventually(TOKEN_TIMEOUT, "the change takes effect", || (!accepted(secret)).then_some(()));
    };

    // Names.
    let create = ["create", "--tenant", "ann", "--rights", "read,write,admin"];
    let root = on.token(&[&create[..], &["--name", " root "]].concat());
    assert_eq!(root["name"], "root");
    refused(&["create", "--tenant", "ann", "--name", "root"], 1, "already has a token named \"root\" for all butlers");
    refused(&["create", "--tenant", "ann", "--name", "root"], 1, "butler token rotate");
    refused(&["create", "--tenant", "ann", "--name", "a\nb"], 2, "without control characters");
    on.token(&["create", "--tenant", "ann", "--butler", "beta", "--name", "root"]);

    // --tenant and --butler limit what the command may change.
    let id = text(&root["id"]);
    for change in ["revoke", "rotate"] {
        refused(&[change, id, "--butler", "alpha"], 2, "is for tenant \"ann\" and all butlers");
        refused(&[change, id, "--tenant", "bob"], 2, "omit --tenant and --butler");
        refused(&[change, "00000000-0000-0000-0000-000000000001"], 1, "there is no token");
    }
    assert!(accepted(&root["token"]));

    // A rotation reaches every database and keeps the id; both secrets work during the grace.
    let body = json!({"rights": ["read", "admin"], "name": "child"}).to_string();
    let headers = [
        ("Authorization", format!("Bearer {}", text(&root["token"]))),
        ("Content-Type", "application/json".to_owned()),
    ];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let child = request(on.server.address, "POST", "/api/tokens", &headers, body.as_bytes()).json()["data"].clone();
    assert_eq!(child["parent_id"], root["id"], "{child}");
    let rotated = on.token(&["rotate", id, "--grace", "1h"]);
    assert_eq!((&rotated["id"], &rotated["name"], &rotated["rights"]), (&root["id"], &root["name"], &root["rights"]));
    assert!(rotated["grace_until"].is_string() && rotated["token"] != root["token"], "{rotated}");
    for secret in [&rotated["token"], &root["token"], &child["token"]] {
        assert!(accepted(secret));
    }
    let hashes = |url: &str| {
        rows(
            url,
            "SELECT encode(token_hash || previous_hash, 'hex') FROM tokens WHERE name = 'root' AND butler IS NULL",
        )
    };
    assert_eq!(hashes(&urls[0]), hashes(&urls[1]));
    let listed = on.token(&["list", "--tenant", "ann"]);
    let shown = |id: &Value| {
        let all = listed["tokens"].as_array().unwrap();
        all.iter().find(|token| token["id"] == *id).unwrap().clone()
    };
    assert_eq!(shown(&root["id"])["grace_until"], rotated["grace_until"]);
    assert_eq!(shown(&child["id"])["parent_id"], root["id"]);
    let place = [on.server.data_dir.as_os_str(), OsStr::new("--roster"), on.roster.as_os_str()];
    let table = stdout(&run(["token", "list", "--data-dir"].map(OsStr::new).into_iter().chain(place)));
    assert!(table.contains("root  (old secret until 20") && table.contains(&format!("{id} child")), "{table}");
    on.token(&["rotate", id]);
    refused_soon(&root["token"]);
    refused_soon(&rotated["token"]);
    assert!(accepted(&child["token"]), "a rotation does not concern the tokens it made");

    // A revocation reaches the tokens it made, in every database, and is recorded there.
    let revoked = on.token(&["revoke", id]);
    assert_eq!((&revoked["revoked"], &revoked["descendants"]), (&json!(true), &json!([child["id"]])));
    refused_soon(&child["token"]);
    refused(&["rotate", id], 1, "is revoked or has expired");
    for url in &urls {
        assert_eq!(rows(url, "SELECT name FROM tokens WHERE butler IS NULL AND revoked_at IS NULL"), [""; 0]);
        let events = rows(
            url,
            "SELECT event_type || ' ' || actor || ' ' || (payload ->> 'name') FROM memory_events
             WHERE tenant_id = 'ann' AND event_type LIKE 'token_%' AND payload ->> 'name' = 'root' AND payload ->> 'token_id' =
                   (SELECT id::text FROM tokens WHERE name = 'root' AND butler IS NULL) ORDER BY created_at",
        );
        let expected =
            ["token_created cli root", "token_rotated cli root", "token_rotated cli root", "token_revoked cli root"];
        assert_eq!(events, expected);
    }
}

#[test]
fn the_command_uses_the_default_lifetime_of_the_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let (config, data) = (dir.path().join("butler.toml"), dir.path().join("data"));
    let create = |args: &[&str]| {
        let always = ["token", "create", "--json", "--data-dir"].map(OsStr::new);
        let place = [data.as_os_str(), OsStr::new("--config"), config.as_os_str()];
        run(always.into_iter().chain(place).chain(args.iter().map(OsStr::new)))
    };
    std::fs::write(&config, "[server]\ndefault_token_lifetime = \"a while\"\n").unwrap();
    let bad = create(&[]);
    assert!(
        stderr(&bad).contains("server.default_token_lifetime is \"a while\"") && stderr(&bad).contains(":2:"),
        "{}",
        stderr(&bad)
    );
    std::fs::write(&config, "[server]\ndefault_token_lifetime = \"90d\"\n").unwrap();
    let expiry = |args: &[&str]| {
        let output = create(args);
        let token: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
        let time = |field: &str| token[field].as_str().map(|at| at.parse::<chrono::DateTime<chrono::Utc>>().unwrap());
        time("expires_at").map(|end| (end - time("created_at").unwrap()).num_days())
    };
    assert_eq!(expiry(&[]), Some(90));
    assert_eq!(expiry(&["--expires", "7d"]), Some(7));
    assert_eq!(expiry(&["--expires", "never"]), None);
}
