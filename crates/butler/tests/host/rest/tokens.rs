//! Who may create, list, revoke and rotate which tokens, and what becomes of the tokens that a token made.

use butler_domain::event::Origin;
use butler_host::access::{TokenRow, hash_token, new_token};
use butler_host::host::token_changes::{self, homes};
use serde_json::{Value, json};

use super::Api;
use crate::program::{Answer, request};

/// A token, and how to send requests with it.
#[derive(Clone)]
pub struct Made {
    pub secret: String,
    pub id: String,
}

/// Creates a token as `butler token create` does.
pub async fn made(api: &Api, tenant: &str, butler: Option<&str>, rights: &[&str]) -> Made {
    let (secret, now) = (new_token().unwrap(), api.host.clock().now());
    let row = TokenRow {
        id: butler_domain::ids::new_id(now),
        tenant: butler_domain::TenantId::new(tenant).unwrap(),
        butler: butler.map(str::to_owned),
        name: String::new(),
        hash: hash_token(&secret),
        rights: rights.iter().map(|right| (*right).to_owned()).collect(),
        created_at: now,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        parent: None,
        rotation: None,
    };
    token_changes::create(&homes(&api.host.butlers(), &row), &Origin::default(), &row).await.unwrap();
    for butler in api.host.butlers() {
        butler_host::host::tokens::load(&api.host, &butler).await.unwrap();
    }
    Made { secret, id: row.id.to_string() }
}

async fn ask(api: &Api, method: &'static str, path: &str, bearer: Option<&str>, body: Value) -> Answer {
    let (address, path) = (api.address, path.to_owned());
    let bearer = bearer.map(|bearer| format!("Bearer {bearer}"));
    let response = tokio::task::spawn_blocking(move || {
        let mut headers = vec![("Content-Type", "application/json")];
        headers.extend(bearer.iter().map(|bearer| ("Authorization", bearer.as_str())));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        request(address, method, &path, &headers, body.as_bytes())
    });
    response.await.unwrap()
}

/// Whether a token with the right `read` is accepted.
async fn works(api: &Api, secret: &str) -> bool {
    let answer = ask(api, "GET", "/api/memory/stats", Some(secret), Value::Null).await;
    assert!([200, 401].contains(&answer.status), "{}", answer.text());
    answer.status == 200
}

async fn create(api: &Api, by: &str, body: Value) -> Value {
    let answer = ask(api, "POST", "/api/tokens", Some(by), body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"].clone()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

const ALL: [&str; 3] = ["read", "write", "admin"];

/// The callers of the matrix, with the status that a caller who may not manage tokens at all gets.
struct Callers {
    all_butlers: Made,
    one_butler: Made,
    other_tenant: Made,
    admin_only: Made,
    powerless: Vec<(&'static str, Option<Made>, u16)>,
}

async fn callers(api: &Api) -> Callers {
    Callers {
        all_butlers: made(api, "default", None, &ALL).await,
        one_butler: made(api, "default", Some("alpha"), &ALL).await,
        other_tenant: made(api, "guest", None, &ALL).await,
        admin_only: made(api, "default", None, &["admin"]).await,
        powerless: vec![
            ("read-only", Some(made(api, "default", None, &["read"]).await), 403),
            ("write-only", Some(made(api, "default", None, &["write"]).await), 403),
            ("metrics", Some(made(api, "default", None, &["metrics"]).await), 403),
            ("anonymous", None, 401),
        ],
    }
}

/// A token of each kind that a caller might reach for.
async fn targets(api: &Api) -> Vec<(&'static str, Made)> {
    vec![
        ("all butlers", made(api, "default", None, &["read"]).await),
        ("alpha", made(api, "default", Some("alpha"), &["read"]).await),
        ("beta", made(api, "default", Some("beta"), &["read"]).await),
        ("guest", made(api, "guest", None, &["read"]).await),
        ("guest in alpha", made(api, "guest", Some("alpha"), &["read"]).await),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_lists_and_revokes_only_tokens_of_its_own_tenant_and_butler() {
    let api = Api::with(&["alpha", "beta"]).await;
    let callers = callers(&api).await;
    for (caller, made, status) in &callers.powerless {
        for (target, token) in targets(&api).await {
            let secret = made.as_ref().map(|made| made.secret.as_str());
            let listed = ask(&api, "GET", "/api/tokens", secret, Value::Null).await;
            let revoked = ask(&api, "DELETE", &format!("/api/tokens/{}", token.id), secret, Value::Null).await;
            assert_eq!((listed.status, revoked.status), (*status, *status), "{caller}, {target}");
            assert!(works(&api, &token.secret).await, "{caller}, {target}");
        }
    }
    let may_manage: [(&str, &Made, &[&str]); 4] = [
        ("for all butlers", &callers.all_butlers, &["all butlers", "alpha", "beta"]),
        ("for one butler", &callers.one_butler, &["alpha"]),
        ("of another tenant", &callers.other_tenant, &["guest", "guest in alpha"]),
        ("without other rights", &callers.admin_only, &["all butlers", "alpha", "beta"]),
    ];
    for (caller, made, own) in may_manage {
        for (target, token) in targets(&api).await {
            let may = own.contains(&target);
            let listed = ask(&api, "GET", "/api/tokens", Some(&made.secret), Value::Null).await;
            let seen = listed.json()["data"].as_array().unwrap().iter().any(|one| one["id"] == token.id.as_str());
            assert_eq!(seen, may, "an admin {caller} lists {target}: {}", listed.text());
            let revoked =
                ask(&api, "DELETE", &format!("/api/tokens/{}", token.id), Some(&made.secret), Value::Null).await;
            assert_eq!(
                revoked.status,
                if may { 200 } else { 404 },
                "an admin {caller} revokes {target}: {}",
                revoked.text()
            );
            assert_eq!(works(&api, &token.secret).await, !may, "an admin {caller} revokes {target}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_creates_no_token_with_more_rights_butlers_or_another_tenant_than_its_own() {
    let api = Api::with(&["alpha", "beta"]).await;
    let callers = callers(&api).await;
    for (caller, made, status) in &callers.powerless {
        let secret = made.as_ref().map(|made| made.secret.as_str());
        let answer = ask(&api, "POST", "/api/tokens", secret, json!({"rights": ["read"]})).await;
        assert_eq!(answer.status, *status, "{caller}: {}", answer.text());
    }
    let Callers { all_butlers, one_butler, other_tenant, admin_only, .. } = &callers;
    // Caller, query, body, and the butler and rights of the new token, or nothing if it is refused.
    type Case<'a> = (&'a Made, &'a str, Value, Option<(Value, Value)>);
    let cases: Vec<Case<'_>> = vec![
        (all_butlers, "", json!({"rights": ALL}), Some((Value::Null, json!(ALL)))),
        (all_butlers, "", json!({"butler": "beta"}), Some((json!("beta"), json!(["read", "write"])))),
        (all_butlers, "", json!({"rights": ["metrics"]}), None),
        (all_butlers, "?tenant=guest", json!({}), None),
        (one_butler, "", json!({"rights": ALL}), Some((json!("alpha"), json!(ALL)))),
        (one_butler, "", json!({"butler": "alpha"}), Some((json!("alpha"), json!(["read", "write"])))),
        (one_butler, "", json!({"butler": "beta"}), None),
        (one_butler, "", json!({"rights": ["metrics"]}), None),
        (other_tenant, "", json!({"rights": ["read"]}), Some((Value::Null, json!(["read"])))),
        (other_tenant, "?tenant=default", json!({}), None),
        (admin_only, "", json!({}), None),
        (admin_only, "", json!({"rights": ["read"]}), None),
        (admin_only, "", json!({"rights": ["admin"]}), Some((Value::Null, json!(["admin"])))),
    ];
    for (caller, query, body, expected) in cases {
        let answer = ask(&api, "POST", &format!("/api/tokens{query}"), Some(&caller.secret), body.clone()).await;
        match expected {
            None => assert!([403, 422].contains(&answer.status), "{body}{query}: {}", answer.text()),
            Some((butler, rights)) => {
                assert_eq!(answer.status, 200, "{body}{query}: {}", answer.text());
                let data = &answer.json()["data"];
                assert_eq!((&data["butler"], &data["rights"]), (&butler, &rights), "{body}{query}");
                assert_eq!(data["parent_id"], caller.id.as_str(), "{body}{query}");
                assert_eq!(data["tenant"], if caller.id == other_tenant.id { "guest" } else { "default" });
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_rotates_only_itself_and_the_tokens_it_made() {
    let api = Api::with(&["alpha", "beta"]).await;
    let callers = callers(&api).await;
    let rotate = async |id: &str, by: Option<&str>| {
        ask(&api, "POST", &format!("/api/tokens/{id}/rotate"), by, Value::Null).await
    };
    for (caller, made, status) in &callers.powerless {
        for (target, token) in targets(&api).await {
            let answer = rotate(&token.id, made.as_ref().map(|made| made.secret.as_str())).await;
            assert_eq!(answer.status, *status, "{caller}, {target}: {}", answer.text());
        }
    }
    for caller in [&callers.all_butlers, &callers.one_butler, &callers.other_tenant, &callers.admin_only] {
        for (target, token) in targets(&api).await {
            // A token of others is refused even if the caller may revoke it: the new secret would survive the caller.
            let answer = rotate(&token.id, Some(&caller.secret)).await;
            assert!([403, 404].contains(&answer.status), "{target}: {}", answer.text());
            assert!(works(&api, &token.secret).await, "{target}");
        }
    }
    let parent = &callers.all_butlers;
    let child = create(&api, &parent.secret, json!({"rights": ALL, "butler": "alpha"})).await;
    let grandchild = create(&api, text(&child["token"]), json!({"rights": ["read"]})).await;
    let refused = rotate(&parent.id, Some(text(&child["token"]))).await;
    assert_eq!(refused.status, 404, "a token does not take over its parent: {}", refused.text());
    let equal = create(&api, &parent.secret, json!({"rights": ALL})).await;
    let refused = rotate(&parent.id, Some(text(&equal["token"]))).await;
    assert_eq!(refused.status, 403, "a token does not take over its parent: {}", refused.text());
    let rotated = rotate(text(&grandchild["id"]), Some(&parent.secret)).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text());
    let data = rotated.json()["data"].clone();
    for same in ["id", "name", "rights", "butler", "tenant", "parent_id", "created_at"] {
        assert_eq!(data[same], grandchild[same], "{same}");
    }
    assert!(works(&api, text(&data["token"])).await && !works(&api, text(&grandchild["token"])).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tokens_a_token_made_are_revoked_with_it_and_survive_its_rotation() {
    let api = Api::with(&["alpha", "beta"]).await;
    let root = made(&api, "default", None, &ALL).await;
    let child = create(&api, &root.secret, json!({"name": "child", "rights": ALL})).await;
    let in_beta = create(&api, text(&child["token"]), json!({"rights": ["read"], "butler": "beta"})).await;

    let path = format!("/api/tokens/{}", text(&child["id"]));
    let rotated =
        ask(&api, "POST", &format!("{path}/rotate"), Some(text(&child["token"])), json!({"grace": "1h"})).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text());
    let rotated = rotated.json()["data"].clone();
    assert!(rotated["grace_until"].is_string() && rotated["rotated_at"].is_string(), "{rotated}");
    for secret in [&child["token"], &rotated["token"], &in_beta["token"]] {
        assert!(works(&api, text(secret)).await);
    }
    let again = ask(&api, "POST", &format!("{path}/rotate"), Some(text(&rotated["token"])), json!({})).await;
    let again = again.json()["data"].clone();
    assert_eq!(again["grace_until"], Value::Null, "{again}");
    for old in [&child["token"], &rotated["token"]] {
        assert!(!works(&api, text(old)).await, "without a grace the old secrets end at once");
    }
    assert!(works(&api, text(&again["token"])).await && works(&api, text(&in_beta["token"])).await);

    let revoked = ask(&api, "DELETE", &path, Some(&root.secret), Value::Null).await;
    assert_eq!(revoked.status, 200, "{}", revoked.text());
    for secret in [&again["token"], &in_beta["token"]] {
        assert!(!works(&api, text(secret)).await);
    }
    assert!(works(&api, &root.secret).await);
    let refused = ask(&api, "POST", &format!("{path}/rotate"), Some(&root.secret), json!({})).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (409, &json!("invalid_state")),
        "{}",
        refused.text()
    );

    // Each database has the events of its own tokens, with the token that acted.
    let timeline = "/api/timeline?type=token_created,token_revoked,token_rotated&limit=100";
    let events = ask(&api, "GET", timeline, Some(&root.secret), Value::Null).await.json();
    let of = |id: &Value, event_type: &str| {
        let all = events["data"].as_array().unwrap().clone();
        let about = |event: &Value| event["event_type"] == event_type && event["payload"]["token_id"] == *id;
        all.into_iter().filter(about).collect::<Vec<Value>>()
    };
    let [root_actor, child_actor] =
        [format!("token:{}", root.id), format!("token:child:{}", text(&child["id"]))].map(Value::String);
    assert_eq!(of(&child["id"], "token_created").len(), 2, "one in each database: {events}");
    assert_eq!(of(&child["id"], "token_created")[0]["actor"], root_actor);
    assert_eq!(of(&in_beta["id"], "token_created")[0]["actor"], child_actor);
    assert_eq!(of(&child["id"], "token_rotated")[0]["actor"], child_actor);
    let [with_parent] = &of(&in_beta["id"], "token_revoked")[..] else { panic!("{events}") };
    assert_eq!((&with_parent["actor"], &with_parent["payload"]["with_parent"]), (&root_actor, &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_one_line_and_belongs_to_one_live_token() {
    let api = Api::start().await;
    let root = made(&api, "default", None, &ALL).await;
    let first = create(&api, &root.secret, json!({"name": "  laptop "})).await;
    assert_eq!(first["name"], "laptop");
    let taken = ask(&api, "POST", "/api/tokens", Some(&root.secret), json!({"name": "laptop"})).await;
    let error = taken.json()["error"].clone();
    assert_eq!((taken.status, &error["code"]), (409, &json!("conflict")), "{error}");
    assert!(text(&error["message"]).contains("\"laptop\"") && text(&error["hint"]).contains("rotate"), "{error}");
    for name in ["two\nlines", "\u{1b}[31mred", &"x".repeat(101)] {
        let refused = ask(&api, "POST", "/api/tokens", Some(&root.secret), json!({"name": name})).await;
        assert_eq!(refused.status, 422, "{name:?}: {}", refused.text());
    }
    ask(&api, "DELETE", &format!("/api/tokens/{}", text(&first["id"])), Some(&root.secret), Value::Null).await;
    create(&api, &root.secret, json!({"name": "laptop"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_token_expires_after_the_default_lifetime_unless_it_says_otherwise() {
    let api = Api::configured(&["general"], "[server]\ndefault_token_lifetime = \"90d\"\n").await;
    let root = made(&api, "default", None, &ALL).await;
    let days = async |by: &str, mut body: Value| {
        body["rights"] = json!(ALL);
        let token = create(&api, by, body).await;
        let time = |field: &str| token[field].as_str().map(|at| at.parse::<chrono::DateTime<chrono::Utc>>().unwrap());
        let lifetime = time("expires_at").map(|end| (end - time("created_at").unwrap()).num_hours());
        (lifetime, text(&token["token"]).to_owned())
    };
    assert_eq!(days(&root.secret, json!({})).await.0, Some(90 * 24));
    assert_eq!(days(&root.secret, json!({"expires": "never"})).await.0, None);
    assert_eq!(days(&root.secret, json!({"expires_days": 2})).await.0, Some(48));
    let (hours, brief) = days(&root.secret, json!({"expires": "36h"})).await;
    assert_eq!(hours, Some(36));
    assert_eq!(days(&brief, json!({"expires": "never"})).await.0, Some(35), "no later than its parent");
    for bad in [json!({"expires": "soon"}), json!({"expires": "1d", "expires_days": 1}), json!({"expires_days": 0})] {
        let refused = ask(&api, "POST", "/api/tokens", Some(&root.secret), bad.clone()).await;
        assert_eq!(refused.status, 422, "{bad}: {}", refused.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_load_of_the_tokens_never_undoes_a_newer_one() {
    let api = Api::start().await;
    let butlers = api.host.butlers();
    let load = || {
        let (host, butler) = (api.host.clone(), butlers[0].clone());
        tokio::spawn(async move { butler_host::host::tokens::load(&host, &butler).await })
    };
    for _ in 0..10 {
        let token = made(&api, "default", None, &["read"]).await;
        let earlier: Vec<_> = (0..8).map(|_| load()).collect();
        let (id, now) = (token.id.parse().unwrap(), api.host.clock().now());
        token_changes::revoke(&butlers, &Origin::default(), now, id).await.unwrap();
        load().await.unwrap().unwrap();
        for load in earlier {
            load.await.unwrap().unwrap();
        }
        assert!(!works(&api, &token.secret).await, "it was revoked");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_sees_what_the_holder_of_a_token_recalls() {
    let api = Api::with(&["general", "other"]).await;
    api.fact("Anna", "drinks", "green tea").await;
    let teapot = json!({"subject": "Anna", "predicate": "drinks", "content": "black tea", "request_context": {"tenant_id": "b"}});
    api.tool("general", "memory_store_fact", teapot).await;
    let root = made(&api, "default", None, &["read", "write", "admin"]).await;
    let reader = made(&api, "default", None, &["read"]).await;
    let writer = made(&api, "default", None, &["write"]).await;
    let elsewhere = made(&api, "default", Some("other"), &["read"]).await;
    let guest = made(&api, "b", None, &["read"]).await;
    let recall = async |bearer: &str, token: &str, butler: &str| {
        let path = format!("/api/memory/recall?q=tea&butler={butler}&as_token={token}");
        ask(&api, "GET", &path, Some(bearer), Value::Null).await
    };
    let answer = recall(&root.secret, &reader.id, "general").await;
    assert_eq!(answer.json()["data"]["results"][0]["content"], "green tea", "{}", answer.text());
    for (token, butler, status, says) in [
        (&writer, "general", 403, "requires the right `read`; the token has write"),
        (&elsewhere, "general", 403, "for the butler \\\"other\\\""),
        (&guest, "general", 404, "there is no token"),
    ] {
        let answer = recall(&root.secret, &token.id, butler).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert!(answer.text().contains(says), "{}", answer.text());
    }
    assert_eq!(recall(&reader.secret, &root.id, "general").await.status, 403, "only an admin");
    let now = api.host.clock().now();
    for token in [&reader, &guest] {
        token_changes::revoke(&api.host.butlers(), &Origin::default(), now, token.id.parse().unwrap()).await.unwrap();
    }
    for butler in api.host.butlers() {
        butler_host::host::tokens::load(&api.host, &butler).await.unwrap();
    }
    let answer = recall(&root.secret, &reader.id, "general").await;
    assert!(answer.status == 403 && answer.text().contains("is revoked"), "{}", answer.text());
    let nobody = uuid::Uuid::nil().to_string();
    let unknown = recall(&root.secret, &nobody, "general").await;
    let foreign = recall(&root.secret, &guest.id, "general").await;
    assert_eq!((unknown.status, foreign.status), (404, 404), "{}", foreign.text());
    assert_eq!(foreign.text().replace(&guest.id, &nobody), unknown.text(), "its state is not told");
}
