//! What somebody does who wants more than they were allowed.

use std::net::TcpListener;

use super::{CALLBACK, FORM, Login, header, parameter, text};
use crate::access::PING;
use crate::program::{MCP_HEADERS, Mcp, request};

#[test]
fn a_code_that_is_used_again_revokes_the_grant_and_a_stolen_one_is_of_no_use() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let (client, cookie) = (on.client(), on.sign_in(&[]));
    let accepted = |token: &serde_json::Value| on.mcp(token).post(PING).unwrap().status == 200;

    // A code is used again.
    let code = on.code(&client, &cookie);
    let tokens = on.exchange(&client, &code, &[]).json();
    assert!(accepted(&tokens["access_token"]));
    let again = on.exchange(&client, &code, &[]);
    assert_eq!((again.status, text(&again.json()["error"])), (400, "invalid_grant"));
    assert!(!accepted(&tokens["access_token"]), "the grant is revoked");
    assert_eq!(on.refresh(&client, &tokens["refresh_token"]).json()["error"], "invalid_grant");

    // The thief lacks the verifier, is another client, or names another resource. The code is spent.
    let other_client = on.client();
    let elsewhere = "https://elsewhere.example/mcp";
    for change in [
        ("code_verifier", "another-verifier-that-is-long-enough-for-the-specification"),
        ("redirect_uri", "http://127.0.0.1:9/other"),
        ("client_id", other_client.as_str()),
    ] {
        let code = on.code(&client, &cookie);
        assert_eq!(on.exchange(&client, &code, &[change]).json()["error"], "invalid_grant", "{change:?}");
        assert_eq!(on.exchange(&client, &code, &[]).json()["error"], "invalid_grant", "{change:?}");
    }
    let code = on.code(&client, &cookie);
    assert_eq!(on.exchange(&client, &code, &[("resource", elsewhere)]).json()["error"], "invalid_target");
    let tokens = on.exchange(&client, &code, &[]).json();
    assert_eq!(on.refresh(&other_client, &tokens["refresh_token"]).json()["error"], "invalid_grant");
    assert!(accepted(&tokens["access_token"]), "a stranger cannot revoke it either");
    let fields = [("token", text(&tokens["access_token"])), ("client_id", other_client.as_str())];
    assert_eq!(on.post("/oauth/revoke", &fields, &[]).status, 200);
    assert!(accepted(&tokens["access_token"]));
    // A code or a refresh token opens nothing.
    assert!(!accepted(&tokens["refresh_token"]) && !accepted(&code.into()));
}

#[test]
fn requests_that_could_send_a_code_elsewhere_are_refused_without_a_redirect() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let (client, cookie) = (on.client(), on.sign_in(&[]));
    let shown = |change: &[(&str, &str)]| on.get(&on.authorize(&client, change), &[("Cookie", &cookie)]);
    for uri in [
        "https://evil.example/callback",
        "http://127.0.0.1:9/callback/../other",
        "http://127.0.0.1:9/callback?x=1",
        "http://127.0.0.1:9@evil.example/callback",
        "http://127.0.0.1.evil.example/callback",
        "javascript:alert(1)",
    ] {
        let page = shown(&[("redirect_uri", uri)]);
        assert_eq!((page.status, header(&page, "location")), (400, None), "{uri}: {}", page.text());
    }
    let twice = format!("{}&redirect_uri=https%3A%2F%2Fevil.example", on.authorize(&client, &[]));
    assert_eq!(on.get(&twice, &[("Cookie", &cookie)]).status, 400);
    assert_eq!(on.get(&on.authorize("unknown", &[]), &[("Cookie", &cookie)]).status, 400);
    // From here on the client is told.
    for (change, error) in [
        (("resource", "https://elsewhere.example/mcp"), "invalid_target"),
        (("resource", "http://127.0.0.1:1/mcp"), "invalid_target"),
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("response_type", "token"), "unsupported_response_type"),
        (("scope", "metrics"), "invalid_scope"),
    ] {
        assert_eq!(parameter(&shown(&[change]), "error"), error, "{change:?}");
    }
    for uris in [&[][..], &["http://evil.example/callback"], &["javascript:alert(1)"], &[CALLBACK, "data:x"]] {
        let answer = on.register(uris);
        assert_eq!((answer.status, text(&answer.json()["error"])), (400, "invalid_redirect_uri"), "{uris:?}");
    }
}

#[test]
fn a_grant_opens_the_butler_of_its_resource_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::with(dir.path(), &["alpha", "beta"]);
    let (client, cookie) = (on.client(), on.sign_in(&[]));
    let [first, beta] = ["mcp", "butlers/beta/mcp"].map(|path| format!("{}/{path}", on.url));
    let missing = on.get(&on.authorize(&client, &[("resource", "")]), &[("Cookie", &cookie)]);
    assert_eq!(parameter(&missing, "error"), "invalid_target", "there are two");
    let code = || parameter(&on.allow(&on.authorize(&client, &[("resource", &beta)]), &cookie), "code");
    assert_eq!(on.exchange(&client, &code(), &[("resource", &first)]).json()["error"], "invalid_target");
    let tokens = on.exchange(&client, &code(), &[("resource", &beta)]).json();
    let at = |path: &str| {
        let mcp = Mcp { path: path.to_owned(), ..on.mcp(&tokens["access_token"]) };
        mcp.post(PING).unwrap().status
    };
    assert_eq!((at("/butlers/beta/mcp"), at("/mcp"), at("/butlers/alpha/mcp")), (200, 403, 403));
    let refresh = [
        ("grant_type", "refresh_token"),
        ("client_id", client.as_str()),
        ("refresh_token", text(&tokens["refresh_token"])),
        ("resource", first.as_str()),
    ];
    assert_eq!(on.post("/oauth/token", &refresh, &[]).json()["error"], "invalid_target");
    // A person who may give access to alpha only.
    let limited = on.sign_in(&["--butler", "alpha"]);
    let page = on.get(&on.authorize(&client, &[("resource", &beta)]), &[("Cookie", &limited)]);
    assert_eq!(parameter(&page, "error"), "access_denied");
}

#[test]
fn addresses_of_client_documents_reach_nothing_on_this_machine() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let cookie = on.sign_in(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for id in [
        format!("https://127.0.0.1:{port}/client.json"),
        format!("https://localhost:{port}/client.json"),
        "https://localhost/client.json".to_owned(),
        "https://[::1]/client.json".to_owned(),
        "https://169.254.169.254/latest/meta-data".to_owned(),
        "https://10.0.0.1/client.json".to_owned(),
    ] {
        // Without a session nothing is even looked up.
        assert!(on.get(&on.authorize(&id, &[]), &[]).text().contains("butler login-link"));
        let page = on.get(&on.authorize(&id, &[]), &[("Cookie", &cookie)]);
        assert_eq!((page.status, header(&page, "location")), (400, None), "{id}: {}", page.text());
        assert!(page.text().contains("This client is not known"), "{id}: {}", page.text());
    }
    assert!(listener.accept().is_err(), "nobody connected");
}

#[test]
fn a_page_of_another_site_can_neither_consent_nor_frame_the_page() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let (client, cookie) = (on.client(), on.sign_in(&[]));
    let address = on.authorize(&client, &[]);
    let query = address.split_once('?').unwrap().1;
    let page = on.get(&address, &[("Cookie", &cookie)]);
    assert_eq!(header(&page, "x-frame-options").as_deref(), Some("DENY"));
    let policy = header(&page, "content-security-policy").unwrap();
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"), "{policy}");
    assert!(!policy.contains("form-action"), "the client may redirect the browser further: {policy}");
    let policy = header(&on.get(&address, &[]), "content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self'"), "on the other pages: {policy}");
    assert_eq!(header(&page, "cache-control").as_deref(), Some("no-store"));
    let csrf = super::hidden(&page.text(), "csrf");

    let decide = |csrf: &str, query: &str, headers: &[(&str, &str)]| {
        let fields = [("request", query), ("csrf", csrf), ("decision", "allow"), ("right", "read")];
        on.post("/oauth/authorize", &fields, headers)
    };
    let own = ("Cookie", cookie.as_str());
    assert_eq!(decide("", query, &[own]).status, 403, "without the form's token");
    assert_eq!(decide(&"0".repeat(64), query, &[own]).status, 403, "with a guessed one");
    let other = on.authorize(&client, &[("scope", "admin")]);
    assert_eq!(decide(&csrf, other.split_once('?').unwrap().1, &[own]).status, 403, "with that of another request");
    let second = on.sign_in(&[]);
    assert_eq!(decide(&csrf, query, &[("Cookie", &second)]).status, 403, "with that of another session");
    assert_eq!(decide(&csrf, query, &[own, ("Origin", "https://evil.example")]).status, 403);
    assert_eq!(decide(&csrf, query, &[own, ("Origin", "null")]).status, 403);
    let without = decide(&csrf, query, &[]);
    assert!(without.text().contains("butler login-link"), "without the cookie");
    assert_eq!(decide(&csrf, query, &[own, ("Origin", &on.url)]).status, 303, "the page itself");

    // The cookie opens the consent page and nothing else, and a link works once.
    assert_eq!(on.get("/api/memory/stats", &[own]).status, 401);
    let link = on.butler(&["login-link"]);
    let code = text(&link["url"]).split_once("code=").unwrap().1;
    let set = on.post("/oauth/login", &[("code", code)], &[]);
    let attributes = header(&set, "set-cookie").unwrap();
    assert!(attributes.contains("HttpOnly") && attributes.contains("SameSite=Lax"), "{attributes}");
    assert_eq!(on.post("/oauth/login", &[("code", code)], &[]).status, 400);
}

#[test]
fn many_guesses_at_once_hold_up_nobody_and_long_bodies_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let (client, cookie, address) = (on.client(), on.sign_in(&[]), on.server.address);
    let tokens = on.exchange(&client, &on.code(&client, &cookie), &[]).json();
    // The prefix names the butler, so the guess reaches its database.
    let guess =
        format!("grant_type=refresh_token&client_id={client}&refresh_token={}-guessed", text(&tokens["refresh_token"]));
    let send = || request(address, "POST", "/oauth/token", &[FORM], guess.as_bytes());
    std::thread::scope(|scope| {
        let guesses: Vec<_> = (0..32).map(|_| scope.spawn(send)).collect();
        let renewed = on.refresh(&client, &tokens["refresh_token"]);
        assert_eq!(renewed.status, 200, "{}", renewed.text());
        assert_eq!(on.mcp(&renewed.json()["access_token"]).post(PING).unwrap().status, 200);
        for guess in guesses {
            let answer = guess.join().unwrap();
            assert_eq!((answer.status, text(&answer.json()["error"])), (400, "invalid_grant"));
        }
    });

    let long = format!("grant_type={}", "x".repeat(40 * 1024));
    assert_eq!(request(address, "POST", "/oauth/token", &[FORM], long.as_bytes()).status, 413);
    let long = format!("{{\"client_name\": \"{}\"}}", "x".repeat(80 * 1024));
    assert_eq!(request(address, "POST", "/oauth/register", &MCP_HEADERS, long.as_bytes()).status, 413);
}
