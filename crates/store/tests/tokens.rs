//! Tokens in one database: revocation reaches every descendant, names are unique among live tokens, and every change has
//! its event.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::LazyLock;

use butler_domain::event::Origin;
use butler_domain::ids::new_id;
use butler_domain::{Clock, SystemClock, TenantId, Timestamp};
use butler_store::tokens::{self, Creation, TokenRow, hash};
use butler_store::{Database, OwnerContext, Session};
use butler_testkit::TestDb;
use chrono::TimeDelta;
use serde_json::{Value, json};
use uuid::Uuid;

fn origin() -> Origin {
    Origin { actor: Some("tests".to_owned()), request_id: Some("r1".to_owned()) }
}

fn write_at(session: &mut Session, now: Timestamp) -> OwnerContext<'_> {
    static ORIGIN: LazyLock<Origin> = LazyLock::new(origin);
    OwnerContext { session, now, origin: &ORIGIN }
}

fn token(name: &str, parent: Option<Uuid>, now: Timestamp) -> TokenRow {
    let id = new_id(now);
    TokenRow {
        id,
        tenant: TenantId::new("ann").unwrap(),
        butler: None,
        name: name.to_owned(),
        hash: hash(&id.to_string()),
        rights: vec!["read".to_owned(), "admin".to_owned()],
        created_at: now,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        parent,
        rotation: None,
    }
}

async fn create(database: &Database, token: &TokenRow) -> Creation {
    tokens::create(&mut database.owner().await.unwrap(), &origin(), token).await.unwrap()
}

async fn created(database: &Database, name: &str, parent: Option<Uuid>) -> Uuid {
    let token = token(name, parent, SystemClock.now());
    assert_eq!(create(database, &token).await, Creation::Created, "{name}");
    token.id
}

async fn revoke(database: &Database, id: Uuid) -> Option<Vec<Uuid>> {
    let mut conn = database.owner().await.unwrap();
    let mut revoked = tokens::revoke(write_at(&mut conn, SystemClock.now()), id).await.unwrap();
    revoked.iter_mut().for_each(|ids| ids.sort_unstable());
    revoked
}

async fn live(database: &Database) -> Vec<String> {
    let rows = tokens::list(&mut database.owner().await.unwrap()).await.unwrap();
    rows.into_iter().filter(|row| row.revoked_at.is_none()).map(|row| row.name).collect()
}

/// Type, actor, request and payload of the events about tokens.
async fn events(db: &TestDb) -> Vec<(String, Option<String>, Option<String>, Value)> {
    sqlx::query_as(
        "SELECT event_type, actor, request_id, payload FROM memory_events
         WHERE tenant_id = 'ann' AND memory_type IS NULL AND memory_id IS NULL ORDER BY created_at, event_type",
    )
    .fetch_all(&mut db.connect().await)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_revocation_reaches_all_descendants_and_nobody_else_and_records_each() {
    let db = TestDb::new().await;
    let database = db.database();
    let root = created(database, "root", None).await;
    let child = created(database, "child", Some(root)).await;
    let grandchild = created(database, "grandchild", Some(child)).await;
    created(database, "sibling", Some(root)).await;
    let other = created(database, "other", None).await;
    created(database, "other's child", Some(other)).await;

    let mut family = vec![child, grandchild];
    family.sort_unstable();
    assert_eq!(revoke(database, child).await, Some(family));
    assert_eq!(live(database).await, ["root", "sibling", "other", "other's child"]);
    assert_eq!(revoke(database, child).await, Some(vec![]), "a second revocation changes nothing");
    assert_eq!(revoke(database, Uuid::nil()).await, None, "an unknown token");

    let told = events(&db).await;
    assert_eq!(told.iter().filter(|event| event.0 == "token_created").count(), 6);
    let of = |id: Uuid, event_type: &str| {
        let mut found = told.iter().filter(|event| event.0 == event_type && event.3["token_id"] == json!(id));
        found.next().unwrap().clone()
    };
    let (_, actor, request, payload) = of(child, "token_created");
    assert_eq!((actor.as_deref(), request.as_deref()), (Some("tests"), Some("r1")));
    assert_eq!((&payload["parent_id"], &payload["rights"]), (&json!(root), &json!(["read", "admin"])));
    assert!(!payload.to_string().contains("hash"), "{payload}");
    assert_eq!(of(child, "token_revoked").3["with_parent"], false);
    assert_eq!(of(grandchild, "token_revoked").3["with_parent"], true);
}

#[tokio::test]
async fn a_token_made_while_its_parent_is_revoked_does_not_survive() {
    let db = TestDb::new().await;
    let database = db.database();
    for round in 0..10 {
        let root = created(database, &format!("root {round}"), None).await;
        let child = created(database, &format!("child {round}"), Some(root)).await;
        let makers = (0..4).map(|n| {
            let grandchild = token(&format!("grandchild {round} {n}"), Some(child), SystemClock.now());
            async move { create(database, &grandchild).await }
        });
        let (revoked, _) = tokio::join!(revoke(database, root), futures::future::join_all(makers));
        assert!(revoked.is_some());
        assert_eq!(live(database).await, [""; 0], "round {round}");
    }
    let late = token("late", Some(Uuid::nil()), SystemClock.now());
    assert_eq!(create(database, &late).await, Creation::Created, "a parent in another database cannot be checked here");
}

#[tokio::test]
async fn an_expired_parent_makes_no_tokens() {
    let db = TestDb::new().await;
    let now = SystemClock.now();
    let parent = TokenRow { expires_at: Some(now + TimeDelta::seconds(5)), ..token("parent", None, now) };
    assert_eq!(create(db.database(), &parent).await, Creation::Created);
    let late = token("late", Some(parent.id), now + TimeDelta::seconds(5));
    assert_eq!(create(db.database(), &late).await, Creation::ParentNotLive);
}

#[tokio::test]
async fn a_name_belongs_to_one_live_token_of_a_tenant_and_butler() {
    let db = TestDb::new().await;
    let database = db.database();
    let now = SystemClock.now();
    let first = TokenRow { expires_at: Some(now + TimeDelta::seconds(5)), ..token("laptop", None, now) };
    assert_eq!(create(database, &first).await, Creation::Created);
    let again = || token("laptop", None, now);
    assert_eq!(create(database, &again()).await, Creation::NameTaken);
    for other in [
        TokenRow { tenant: TenantId::default(), ..again() },
        TokenRow { butler: Some("health".to_owned()), ..again() },
        token("", None, now),
        token("", None, now),
    ] {
        assert_eq!(create(database, &other).await, Creation::Created, "{other:?}");
    }
    let after_expiry = token("laptop", None, now + TimeDelta::seconds(5));
    assert_eq!(create(database, &after_expiry).await, Creation::Created, "the first has expired");
    revoke(database, after_expiry.id).await;
    let at_once = (0..8).map(|_| async { create(database, &token("laptop", None, now + TimeDelta::seconds(6))).await });
    let made = futures::future::join_all(at_once).await;
    assert_eq!(made.iter().filter(|made| **made == Creation::Created).count(), 1, "{made:?}");
}

#[tokio::test]
async fn a_rotation_keeps_the_token_and_its_children_and_reaches_other_databases() {
    let (here, there) = (TestDb::new().await, TestDb::new().await);
    let now = SystemClock.now();
    let root = token("root", None, now);
    for db in [&here, &there] {
        create(db.database(), &root).await;
    }
    let child = TokenRow { butler: Some("there".to_owned()), ..token("child", Some(root.id), now) };
    create(there.database(), &child).await;
    let (later, until) = (now + TimeDelta::seconds(1), now + TimeDelta::hours(1));
    let mut conn = here.database().owner().await.unwrap();
    let rotated = tokens::rotate(write_at(&mut conn, later), root.id, &hash("new"), until).await.unwrap();
    assert_eq!(rotated, Some(true));
    assert_eq!(tokens::rotate(write_at(&mut conn, later), Uuid::nil(), &hash("x"), until).await.unwrap(), None);
    for secret in [root.hash, hash("new")] {
        assert!(tokens::contains(&mut conn, &secret).await.unwrap());
    }
    let listed = tokens::list(&mut conn).await.unwrap();
    let row = &listed[0];
    assert_eq!((row.id, row.hash, row.rotated_at()), (root.id, hash("new"), Some(later)));
    assert_eq!((row.grace_until(later), row.grace_until(until)), (Some(until), None));
    let event = events(&here).await.pop().unwrap();
    assert_eq!((event.0.as_str(), &event.3["token_id"]), ("token_rotated", &json!(root.id)));

    // The other database learns of the rotation, and an older copy does not undo it.
    let mut other = there.database().owner().await.unwrap();
    tokens::keep(write_at(&mut other, later), &listed).await.unwrap();
    tokens::keep(write_at(&mut other, later), std::slice::from_ref(&root)).await.unwrap();
    let copies = tokens::list(&mut other).await.unwrap();
    assert_eq!(copies.iter().find(|copy| copy.id == root.id).unwrap().rotation, row.rotation);

    // A revocation that arrives as a copy reaches the tokens that live only there.
    let revoked = TokenRow { revoked_at: Some(later), ..row.clone() };
    tokens::keep(write_at(&mut other, later), &[revoked]).await.unwrap();
    drop(other);
    assert_eq!(live(there.database()).await, [""; 0]);
    assert!(
        events(&there).await.iter().any(|event| event.0 == "token_revoked" && event.3["token_id"] == json!(child.id))
    );
    let mut other = there.database().owner().await.unwrap();
    let refused = tokens::rotate(write_at(&mut other, later), root.id, &hash("y"), until).await.unwrap();
    assert_eq!(refused, Some(false), "a revoked token gets no new secret");
}

/// Duplicate names and control characters were accepted before mem_201.
#[tokio::test]
async fn a_database_with_duplicate_and_hostile_names_migrates() {
    let db = TestDb::new().await;
    db.execute(
        "DELETE FROM butler_migrations WHERE version LIKE 'mem_201%';
         DROP TRIGGER tokens_tell ON tokens;
         ALTER TABLE tokens DROP COLUMN parent_id, DROP COLUMN rotated_at, DROP COLUMN previous_hash, DROP COLUMN previous_until;
         CREATE TRIGGER tokens_tell AFTER INSERT ON tokens FOR EACH STATEMENT EXECUTE FUNCTION tell_of_tokens();
         INSERT INTO tokens (name, token_hash, rights) VALUES
             ('laptop', sha256('a'), '{read}'), ('laptop', sha256('b'), '{read}'), (E' a\\n\\x1b[31mb ', sha256('c'), '{read}');",
    )
    .await;
    db.database().migrate().await.unwrap();
    let mut names = live(db.database()).await;
    names.sort();
    assert_eq!(names, ["a [31mb", "laptop", "laptop"]);
}
