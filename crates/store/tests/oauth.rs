//! OAuth in one database: the number of clients is bounded, and a grant lives and dies as its token does.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::LazyLock;

use butler_domain::event::Origin;
use butler_domain::ids::new_id;
use butler_domain::{Clock, SystemClock, TenantId, Timestamp};
use butler_store::oauth::{self, Client, CodeUse, Denial, NewGrant, NewLogin, NewSecrets, Outcome, RefreshUse};
use butler_store::tokens::{self, TokenHash, hash};
use butler_store::{OwnerContext, Session, WriteContext};
use butler_testkit::TestDb;
use chrono::TimeDelta;
use serde_json::{Value, json};

fn origin() -> Origin {
    Origin { actor: Some("tests".to_owned()), request_id: None }
}

fn write_at(session: &mut Session, now: Timestamp) -> OwnerContext<'_> {
    static ORIGIN: LazyLock<Origin> = LazyLock::new(origin);
    OwnerContext { session, now, origin: &ORIGIN }
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

fn refresh(refresh_hash: TokenHash, now: Timestamp) -> RefreshUse<'static> {
    RefreshUse {
        refresh_hash,
        client_id: "client",
        butler: None,
        previous_until: now + TimeDelta::seconds(60),
        parallel_since: now - TimeDelta::seconds(10),
        seed: hash(&now.to_rfc3339()),
    }
}

#[tokio::test]
async fn codes_and_refresh_tokens_expire_and_a_refresh_renews_an_expired_access_token() {
    let db = TestDb::new().await;
    let mut conn = db.database().owner().await.unwrap();
    let now = SystemClock.now();
    oauth::allow(&mut conn, &origin(), &grant("late", now)).await.unwrap();
    let late = now + TimeDelta::seconds(60);
    let outcome = oauth::exchange(write_at(&mut conn, late), code("late"), secrets("late", late)).await.unwrap();
    assert_eq!(outcome, Outcome::Expired);
    assert!(oauth::list(&mut conn).await.unwrap().is_empty(), "nothing was granted");

    oauth::allow(&mut conn, &origin(), &grant("code", now)).await.unwrap();
    let first = secrets("first", now);
    let outcome = oauth::exchange(write_at(&mut conn, now), code("code"), first).await.unwrap();
    let Outcome::Issued(issued) = outcome else { panic!("{outcome:?}") };
    // The access token has expired long ago.
    let day = now + TimeDelta::days(1);
    let second = secrets("second", day);
    let outcome = oauth::refresh(write_at(&mut conn, day), refresh(first.refresh_hash, day), second).await.unwrap();
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
    let outcome = oauth::refresh(write_at(&mut conn, month), refresh(second.refresh_hash, month), third).await.unwrap();
    assert_eq!(outcome, Outcome::Expired);
    // A restore brings back old refresh tokens, which must not work.
    oauth::end_after_restore(&mut conn).await.unwrap();
    let outcome = oauth::refresh(write_at(&mut conn, day), refresh(second.refresh_hash, day), third).await.unwrap();
    assert_eq!(outcome, Outcome::Unknown);
}

/// Uses the refresh token among these secrets.
async fn renew(session: &mut Session, token: NewSecrets, at: Timestamp, next: NewSecrets) -> Outcome {
    oauth::refresh(write_at(session, at), refresh(token.refresh_hash, at), next).await.unwrap()
}

#[tokio::test]
async fn a_refresh_token_used_twice_at_once_revokes_nothing_and_used_again_later_revokes_the_grant() {
    let db = TestDb::new().await;
    let mut conn = db.database().owner().await.unwrap();
    let now = SystemClock.now();
    oauth::allow(&mut conn, &origin(), &grant("code", now)).await.unwrap();
    let first = secrets("first", now);
    oauth::exchange(write_at(&mut conn, now), code("code"), first).await.unwrap();
    // Three requests with the same refresh token: all get the secrets of the first.
    let (at, moment) = (now + TimeDelta::hours(1), now + TimeDelta::seconds(3609));
    let (second, unused) = (secrets("second", at), secrets("unused", moment));
    assert!(matches!(renew(&mut conn, first, at, second).await, Outcome::Issued(_)));
    for _ in 0..2 {
        let again = renew(&mut conn, first, moment, unused).await;
        let Outcome::Repeated(grant, seed) = again else { panic!("{again:?}") };
        assert_eq!((grant.expires_at, seed), (second.refresh_expires_at, hash(&at.to_rfc3339())));
    }
    let stranger = RefreshUse { client_id: "another", ..refresh(first.refresh_hash, moment) };
    let refused = oauth::refresh(write_at(&mut conn, moment), stranger, secrets("stranger", moment)).await.unwrap();
    assert_eq!(refused, Outcome::Mismatch);
    let token = tokens::list(&mut conn).await.unwrap().remove(0);
    let rotation = token.rotation.unwrap();
    assert_eq!((token.hash, rotation.previous_hash), (second.access_hash, first.access_hash));

    let hour = at + TimeDelta::hours(1);
    let third = secrets("third", hour);
    assert!(matches!(renew(&mut conn, second, hour, third).await, Outcome::Issued(_)));
    let seeds = "SELECT count(*) FROM oauth_refresh_tokens WHERE successor_seed IS NOT NULL";
    let seeds: i64 = sqlx::query_scalar(seeds).fetch_one(&mut db.connect().await).await.unwrap();
    assert_eq!(seeds, 1, "that of the last refresh alone");
    // Two parties have the token.
    let late = hour + TimeDelta::seconds(10);
    assert_eq!(renew(&mut conn, second, late, secrets("fourth", late)).await, Outcome::UsedAgain);
    assert_eq!(renew(&mut conn, third, late, secrets("fourth", late)).await, Outcome::Revoked);
}

#[tokio::test]
async fn logins_and_consent_are_in_the_audit_stream() {
    let db = TestDb::new().await;
    let mut conn = db.database().owner().await.unwrap();
    let (now, origin) = (SystemClock.now(), origin());
    let login = NewLogin {
        id: new_id(now),
        tenant: TenantId::new("ann").unwrap(),
        butler: None,
        rights: vec!["read".to_owned()],
        link_hash: hash("link"),
        link_expires_at: now + TimeDelta::minutes(10),
        created_at: now,
    };
    oauth::create_login(&mut conn, &login).await.unwrap();
    let until = now + TimeDelta::hours(1);
    for expected in [true, false] {
        let opened =
            oauth::open_session(write_at(&mut conn, now), &hash("link"), &hash("cookie"), until).await.unwrap();
        assert_eq!(opened, expected, "a link works once");
    }
    let denial = Denial { client_id: "client", client_name: "A client", butler: "general", login: login.id };
    let write = WriteContext { session: &mut conn, tenant: &login.tenant, now, origin: &origin };
    oauth::deny(write, denial).await.unwrap();
    oauth::allow(&mut conn, &origin, &grant("code", now)).await.unwrap();
    let events: Vec<(String, Value)> = sqlx::query_as(
        "SELECT event_type, payload FROM memory_events WHERE tenant_id = 'ann' AND actor = 'tests' ORDER BY event_type",
    )
    .fetch_all(&mut db.connect().await)
    .await
    .unwrap();
    let types: Vec<&str> = events.iter().map(|(event_type, _)| event_type.as_str()).collect();
    assert_eq!(types, ["consent_granted", "consent_refused", "login_opened"], "{events:?}");
    assert_eq!((&events[0].1["client_name"], &events[0].1["rights"]), (&json!("A client"), &json!(["read"])));
    assert_eq!((&events[1].1["client_id"], &events[1].1["login_id"]), (&json!("client"), &json!(login.id)));
    assert_eq!(events[2].1["login_id"], json!(login.id));
    assert!(!format!("{events:?}").contains("hash"), "{events:?}");
}
