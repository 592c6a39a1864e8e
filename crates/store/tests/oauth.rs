//! OAuth in one database: the number of clients is bounded, and a grant lives and dies as its token does.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use butler_domain::event::Origin;
use butler_domain::ids::new_id;
use butler_domain::{Clock, SystemClock, TenantId, Timestamp};
use butler_store::oauth::{self, Client, CodeUse, NewGrant, NewSecrets, Outcome, RefreshUse};
use butler_store::tokens::{self, hash};
use butler_testkit::TestDb;
use chrono::TimeDelta;

fn origin() -> Origin {
    Origin { actor: Some("tests".to_owned()), request_id: None }
}

fn client(number: usize, now: Timestamp) -> Client {
    Client {
        id: format!("client {number}"),
        name: "a client".to_owned(),
        redirect_uris: vec!["https://client.example/callback".to_owned()],
        created_at: now + TimeDelta::milliseconds(number.try_into().unwrap()),
    }
}

#[tokio::test]
async fn a_flood_of_clients_removes_the_oldest_that_was_never_granted_anything() {
    let db = TestDb::new().await;
    let mut conn = db.database().owner().await.unwrap();
    let now = SystemClock.now();
    for number in 0..1000 {
        assert!(oauth::register(&mut conn, &client(number, now)).await.unwrap());
    }
    oauth::mark_granted(&mut conn, "client 0").await.unwrap();
    assert!(oauth::register(&mut conn, &client(1000, now)).await.unwrap());
    assert!(oauth::client(&mut conn, "client 0").await.unwrap().is_some(), "it was granted something");
    assert!(oauth::client(&mut conn, "client 1").await.unwrap().is_none(), "the oldest of the others");
    assert_eq!(oauth::client(&mut conn, "client 1000").await.unwrap(), Some(client(1000, now)));
    db.execute("UPDATE oauth_clients SET granted = true").await;
    assert!(!oauth::register(&mut conn, &client(1001, now)).await.unwrap(), "no room");
}

fn grant(code: &str, now: Timestamp) -> NewGrant {
    NewGrant {
        id: new_id(now),
        tenant: TenantId::new("ann").unwrap(),
        butler: "general".to_owned(),
        rights: vec!["read".to_owned()],
        client_id: "client".to_owned(),
        client_name: "A client".to_owned(),
        redirect_uri: "https://client.example/callback".to_owned(),
        login: new_id(now),
        created_at: now,
        code_hash: hash(code),
        code_challenge: "challenge".to_owned(),
        code_expires_at: now + TimeDelta::seconds(60),
    }
}

fn code(code: &str) -> CodeUse<'static> {
    CodeUse { code_hash: hash(code), client_id: "client", redirect_uri: None, challenge: "challenge", butler: None }
}

fn secrets(name: &str, now: Timestamp) -> NewSecrets {
    NewSecrets {
        access_hash: hash(&format!("{name} access")),
        access_expires_at: now + TimeDelta::hours(1),
        refresh_hash: hash(&format!("{name} refresh")),
        refresh_expires_at: now + TimeDelta::days(30),
    }
}

#[tokio::test]
async fn codes_and_refresh_tokens_expire_and_a_refresh_renews_an_expired_access_token() {
    let db = TestDb::new().await;
    let mut conn = db.database().owner().await.unwrap();
    let now = SystemClock.now();
    oauth::allow(&mut conn, &grant("late", now)).await.unwrap();
    let late = now + TimeDelta::seconds(60);
    let outcome = oauth::exchange(&mut conn, &origin(), late, code("late"), secrets("late", late)).await.unwrap();
    assert_eq!(outcome, Outcome::Expired);
    assert!(oauth::list(&mut conn).await.unwrap().is_empty(), "nothing was granted");

    oauth::allow(&mut conn, &grant("code", now)).await.unwrap();
    let first = secrets("first", now);
    let outcome = oauth::exchange(&mut conn, &origin(), now, code("code"), first).await.unwrap();
    let Outcome::Issued(issued) = outcome else { panic!("{outcome:?}") };
    let refresh =
        |hash, previous_until| RefreshUse { refresh_hash: hash, client_id: "client", butler: None, previous_until };
    // The access token has expired long ago.
    let day = now + TimeDelta::days(1);
    let second = secrets("second", day);
    let grace = day + TimeDelta::seconds(60);
    let outcome = oauth::refresh(&mut conn, &origin(), day, refresh(first.refresh_hash, grace), second).await.unwrap();
    assert!(matches!(outcome, Outcome::Issued(_)), "{outcome:?}");
    let token = &tokens::list(&mut conn).await.unwrap()[0];
    assert_eq!(
        (token.id, token.hash, token.expires_at),
        (issued.id, second.access_hash, Some(day + TimeDelta::hours(1)))
    );
    assert_eq!(token.butler.as_deref(), Some("general"));
    let rotation = token.rotation.unwrap();
    assert_eq!(
        (rotation.previous_hash, rotation.previous_until),
        (first.access_hash, first.access_expires_at),
        "the expired access token does not work again"
    );
    // Thirty days without a refresh.
    let month = day + TimeDelta::days(30);
    let third = secrets("third", month);
    let outcome =
        oauth::refresh(&mut conn, &origin(), month, refresh(second.refresh_hash, month), third).await.unwrap();
    assert_eq!(outcome, Outcome::Expired);
    // A restore brings back old refresh tokens, which must not work.
    oauth::end_after_restore(&mut conn).await.unwrap();
    let outcome = oauth::refresh(&mut conn, &origin(), day, refresh(second.refresh_hash, day), third).await.unwrap();
    assert_eq!(outcome, Outcome::Unknown);
}
