//! Refresh tokens: used twice at once by a busy client, or used again by somebody else.

use serde_json::Value;

use super::{FORM, Login, text};
use crate::access::PING;
use crate::program::{request, sql};

fn age_refreshes(on: &Login) {
    let url = on.butler(&["db", "url"]);
    sql(text(&url["url"]), "UPDATE oauth_refresh_tokens SET replaced_at = replaced_at - interval '1 minute'");
}

#[test]
fn a_client_that_refreshes_in_parallel_keeps_its_access() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let (client, cookie) = (on.client(), on.sign_in(&[]));
    let accepted = |token: &Value| on.mcp(token).post(PING).unwrap().status == 200;
    let tokens = on.exchange(&client, &on.code(&client, &cookie), &[]).json();
    let (address, token) = (on.server.address, text(&tokens["refresh_token"]));
    let body = format!("grant_type=refresh_token&client_id={client}&refresh_token={token}");
    let renew = || request(address, "POST", "/oauth/token", &[FORM], body.as_bytes());
    let answers =
        std::thread::scope(|scope| [(); 3].map(|()| scope.spawn(renew)).map(|request| request.join().unwrap()));
    let renewed = answers.map(|answer| {
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    });
    assert!(renewed.iter().all(|tokens| accepted(&tokens["access_token"])));
    assert!(renewed.iter().all(|tokens| *tokens == renewed[0]), "each request gets the same tokens");
    assert!(accepted(&tokens["access_token"]), "the one before works a moment longer");
    assert_ne!(renewed[0]["access_token"], tokens["access_token"]);
    assert_ne!(renewed[0]["refresh_token"], tokens["refresh_token"]);
    age_refreshes(&on);
    let later = on.refresh(&client, &renewed[2]["refresh_token"]).json();
    assert!(accepted(&later["access_token"]));
    assert_eq!(on.butler(&["grants", "list"])["grants"][0]["state"], "active");
}

#[test]
fn a_refresh_token_that_is_used_again_later_revokes_the_grant() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let (client, cookie) = (on.client(), on.sign_in(&[]));
    let accepted = |token: &Value| on.mcp(token).post(PING).unwrap().status == 200;
    let tokens = on.exchange(&client, &on.code(&client, &cookie), &[]).json();
    let renewed = on.refresh(&client, &tokens["refresh_token"]).json();
    assert!(accepted(&renewed["access_token"]));
    age_refreshes(&on);
    // By the thief or by the client: nobody knows.
    assert_eq!(on.refresh(&client, &tokens["refresh_token"]).json()["error"], "invalid_grant");
    assert!(!accepted(&renewed["access_token"]));
    assert_eq!(on.refresh(&client, &renewed["refresh_token"]).json()["error"], "invalid_grant");
}
