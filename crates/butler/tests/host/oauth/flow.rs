//! What a client and a person do that all goes well.

use std::time::Duration;

use serde_json::json;

use super::{CALLBACK, Login, header, parameter, text};
use crate::access::PING;
use crate::program::{Serving, eventually};

#[test]
fn a_client_logs_in_stores_a_fact_refreshes_and_is_revoked() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let open = on.server.mcp();
    let refused = open.post(PING).unwrap();
    assert_eq!(refused.status, 401, "with a public URL nobody is trusted");
    let challenge = header(&refused, "www-authenticate").unwrap();
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", on.url);
    assert!(
        challenge.starts_with("Bearer ") && challenge.contains(&format!("resource_metadata=\"{metadata}\"")),
        "{challenge}"
    );
    let invalid = header(&open.with("unknown").post(PING).unwrap(), "www-authenticate").unwrap();
    assert!(invalid.contains("invalid_token") && invalid.contains(&metadata), "{invalid}");

    for path in ["", "/mcp"] {
        let resource = on.get(&format!("/.well-known/oauth-protected-resource{path}"), &[]).json();
        assert_eq!(resource["resource"], format!("{}/mcp", on.url), "{resource}");
        assert_eq!(resource["authorization_servers"], json!([on.url]));
        let server = on.get(&format!("/.well-known/oauth-authorization-server{path}"), &[]).json();
        assert_eq!(
            (&server["issuer"], &server["code_challenge_methods_supported"]),
            (&json!(on.url), &json!(["S256"]))
        );
        assert_eq!(server["scopes_supported"], json!(["read", "write"]), "some clients ask for all of them");
    }
    let named = on.get("/.well-known/oauth-protected-resource/butlers/general/mcp", &[]).json();
    assert_eq!(named["resource"], format!("{}/butlers/general/mcp", on.url));
    assert_eq!(on.get("/.well-known/oauth-protected-resource/butlers/none/mcp", &[]).status, 404);

    // Not signed in, then signed in.
    let client = on.client();
    let address = on.authorize(&client, &[]);
    let page = on.get(&address, &[]);
    assert!(
        page.text().contains("butler login-link") && page.text().contains("http-equiv=\"refresh\""),
        "{}",
        page.text()
    );
    let cookie = on.sign_in(&["--tenant", "ann"]);
    let page = on.get(&address, &[("Cookie", &cookie)]).text();
    for words in ["A client", "general", "ann", "http://127.0.0.1:9", "search and read", "store, change and forget"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("administer"), "only what the client asked for: {page}");
    let answer = on.allow(&address, &cookie);
    assert_eq!((parameter(&answer, "state").as_str(), parameter(&answer, "iss")), ("a state", on.url.clone()));
    let tokens = on.exchange(&client, &parameter(&answer, "code"), &[]);
    assert_eq!(tokens.status, 200, "{}", tokens.text());
    let tokens = tokens.json();
    assert_eq!(
        (&tokens["token_type"], &tokens["scope"], &tokens["expires_in"]),
        (&json!("Bearer"), &json!("read write"), &json!(3600))
    );

    // The token opens the tenant's memory, with the rights that were allowed.
    let mcp = on.mcp(&tokens["access_token"]);
    let fact = json!({"subject": "ann", "predicate": "drinks", "content": "tea"});
    let stored = mcp.call("memory_store_fact", fact);
    let refused = mcp.try_call("memory_run_episode_cleanup", json!({})).unwrap_err();
    assert_eq!(refused["error"], "forbidden");
    let listed = on.butler(&["grants", "list"]);
    let grant = &listed["grants"][0];
    assert_eq!(
        (&grant["client_name"], &grant["tenant"], &grant["state"]),
        (&json!("A client"), &json!("ann"), &json!("active"))
    );
    let owner = on.server.get_with("/api/grants", &on.server.secret()).json();
    assert_eq!((owner["data"].as_array().unwrap().len(), &owner["data"][0]["id"]), (1, &grant["id"]));
    let events = on.server.get_with("/api/timeline?tenant=ann", &on.server.secret()).text();
    assert!(events.contains("token:A client "), "the actor is the client: {events}");
    for event in ["login_opened", "consent_granted", "token_created"] {
        assert!(events.contains(event), "{event}: {events}");
    }

    // A refresh gives new secrets; the old access token works a moment longer.
    let renewed = on.refresh(&client, &tokens["refresh_token"]).json();
    for token in [&tokens["access_token"], &renewed["access_token"]] {
        let found = on.mcp(token).call("memory_get", json!({"memory_type": "fact", "memory_id": stored["id"]}));
        assert_eq!(found["content"], "tea");
    }
    assert_eq!(on.butler(&["grants", "list"])["grants"].as_array().unwrap().len(), 1);

    // Revoked by the person.
    on.butler(&["grants", "revoke", text(&grant["id"])]);
    eventually(Duration::from_secs(60), "the revocation takes effect", || {
        (on.mcp(&renewed["access_token"]).post(PING).unwrap().status == 401).then_some(())
    });
    assert_eq!(on.refresh(&client, &renewed["refresh_token"]).json()["error"], "invalid_grant");

    // Revoked by the client.
    let tokens = on.exchange(&client, &on.code(&client, &cookie), &[]).json();
    assert_eq!(on.mcp(&tokens["access_token"]).post(PING).unwrap().status, 200);
    let fields = [("token", text(&tokens["refresh_token"])), ("client_id", client.as_str())];
    assert_eq!(on.post("/oauth/revoke", &fields, &[]).status, 200);
    assert_eq!(on.mcp(&tokens["access_token"]).post(PING).unwrap().status, 401);

    // `butler doctor` follows the same chain.
    let doctor = on.butler(&["doctor"]);
    let check = doctor["checks"].as_array().unwrap().iter().find(|check| check["name"] == "oauth").unwrap();
    assert_eq!(check["verdict"], "passed", "{check}");
}

#[test]
fn without_a_public_url_there_is_no_oauth() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server", "/oauth/authorize"]
    {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    for path in ["/oauth/register", "/oauth/token", "/oauth/revoke", "/oauth/login"] {
        let answer = crate::program::request(server.address, "POST", path, &[], b"");
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
    }
    let link = crate::program::run(["login-link".as_ref(), "--data-dir".as_ref(), server.data_dir.as_os_str()]);
    assert_eq!(link.status.code(), Some(2));
    assert!(crate::program::stderr(&link).contains("public_url"), "{}", crate::program::stderr(&link));
}

#[test]
fn the_person_can_deny_and_limits_what_can_be_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let (client, cookie) = (on.client(), on.sign_in(&["--rights", "read"]));
    let address = on.authorize(&client, &[("scope", "read write admin")]);
    let page = on.get(&address, &[("Cookie", &cookie)]).text();
    assert!(
        page.contains("search and read") && !page.contains("store, change") && !page.contains("administer"),
        "{page}"
    );
    let query = address.split_once('?').unwrap().1;
    let csrf = super::hidden(&page, "csrf");
    let denied = on.post(
        "/oauth/authorize",
        &[("request", query), ("csrf", &csrf), ("decision", "deny")],
        &[("Cookie", &cookie)],
    );
    assert_eq!(parameter(&denied, "error"), "access_denied");
    let events = on.server.get_with("/api/timeline?type=consent_refused", &on.server.secret()).json();
    assert_eq!(events["data"][0]["payload"]["client_name"], "A client", "{events}");
    // The form cannot add rights.
    let answer = on.allow(&address, &cookie);
    let tokens = on.exchange(&client, &parameter(&answer, "code"), &[]).json();
    assert_eq!(tokens["scope"], "read");
    // Scopes that are not rights are ignored, and `admin` is not chosen beforehand.
    let full = on.sign_in(&[]);
    let shown = |scope: &str| on.get(&on.authorize(&client, &[("scope", scope)]), &[("Cookie", &full)]).text();
    let page = shown("openid offline_access");
    assert!(page.contains("value=\"read\" checked") && page.contains("value=\"write\" checked"), "{page}");
    assert!(!page.contains("administer"), "{page}");
    let page = shown("read admin");
    assert!(page.contains("value=\"read\" checked") && page.contains("value=\"admin\">"), "{page}");
    // A native client listens on whichever port it gets.
    let elsewhere = CALLBACK.replace(":9/", ":4321/");
    let answer = on.allow(&on.authorize(&client, &[("redirect_uri", &elsewhere)]), &cookie);
    let code = parameter(&answer, "code");
    assert!(header(&answer, "location").unwrap().starts_with(&elsewhere));
    assert_eq!(on.exchange(&client, &code, &[("redirect_uri", &elsewhere)]).status, 200);
}
