//! Limits of registrations, and clients that are not registered any more.

use serde_json::json;

use super::{CALLBACK, Login, text};
use crate::program::{MCP_HEADERS, request, sql};

#[test]
fn a_flood_of_registrations_from_one_network_delays_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::set(dir.path(), "behind_proxy = true\n");
    let body = json!({"client_name": "A client", "redirect_uris": [CALLBACK]}).to_string();
    // The first address is what a client claims, the last one what the proxy saw.
    let register = |claimed: usize, seen: &str| {
        let forwarded = format!("198.51.100.{claimed}, {seen}");
        let headers = [&MCP_HEADERS[..], &[("X-Forwarded-For", forwarded.as_str())]].concat();
        request(on.server.address, "POST", "/oauth/register", &headers, body.as_bytes()).status
    };
    let statuses: Vec<u16> = (0..60).map(|n| register(n, "203.0.113.9")).collect();
    let accepted = statuses.iter().filter(|status| **status == 201).count();
    let slowed = statuses.iter().filter(|status| **status == 429).count();
    assert!(accepted >= 10 && slowed > 0 && accepted + slowed == 60, "{statuses:?}");
    assert_eq!(register(0, "203.0.113.10"), 201, "another network");
    assert_eq!(register(0, "2001:db8::1"), 201);
    let statuses: Vec<u16> = (0..60).map(|n| register(0, &format!("2001:db8:1:{n:x}::1"))).collect();
    assert!(statuses.contains(&429), "the networks of 64 bits within one of 48 are one client: {statuses:?}");
}

#[test]
fn without_a_proxy_nobody_chooses_the_address_that_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let body = json!({"client_name": "A client", "redirect_uris": [CALLBACK]}).to_string();
    let statuses: Vec<u16> = (0..60)
        .map(|n| {
            let forwarded = format!("198.51.100.{n}");
            let headers = [&MCP_HEADERS[..], &[("X-Forwarded-For", forwarded.as_str())]].concat();
            request(on.server.address, "POST", "/oauth/register", &headers, body.as_bytes()).status
        })
        .collect();
    assert!(statuses.contains(&429) && statuses[..10] == [201; 10], "{statuses:?}");
}

#[test]
fn a_client_whose_registration_is_gone_is_told_to_register_again() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let (client, cookie) = (on.client(), on.sign_in(&[]));
    let tokens = on.exchange(&client, &on.code(&client, &cookie), &[]).json();
    let unknown = json!(format!("{}-unknown", text(&tokens["refresh_token"])));
    let refused = on.refresh(&client, &unknown);
    assert_eq!((refused.status, text(&refused.json()["error"])), (400, "invalid_grant"), "the client is registered");
    sql(text(&on.butler(&["db", "url"])["url"]), "DELETE FROM oauth_clients");
    let refused = on.refresh(&client, &unknown);
    assert_eq!((refused.status, text(&refused.json()["error"])), (401, "invalid_client"));
    // What a person allowed stays allowed.
    assert_eq!(on.refresh(&client, &tokens["refresh_token"]).status, 200);
}
