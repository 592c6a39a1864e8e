//! Calls every operation with every kind of token and checks that forbidden operations are rejected.

use butler_domain::event::Origin;
use butler_host::access::new_token;
use butler_store::tokens::{self, TokenRow};
use serde_json::{Value, json};

use super::tokens::made;
use super::{Api, id};
use crate::program::{Answer, request};

/// A word that occurs in every text of tenant `default` and nowhere else.
const SECRET: &str = "zanzibar";

/// One operation with its parameters and body.
struct Case {
    name: String,
    method: String,
    /// Contains the ids of memories of tenant `default` in butler `general`.
    path: String,
    query: String,
    body: String,
    right: String,
    by_id: bool,
    names_butler: bool,
}

impl Case {
    fn with(&self, parameter: &str) -> String {
        let joint = if self.query.is_empty() { '?' } else { '&' };
        format!("{}{}{joint}{parameter}", self.path, self.query)
    }

    fn target(&self) -> String {
        format!("{}{}", self.path, self.query)
    }

    async fn ask(&self, api: &Api, target: String, token: Option<&str>, more: &[(&str, &str)]) -> Answer {
        let mut headers: Vec<(String, String)> = more.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))));
        if !self.body.is_empty() {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        let (address, method, body) = (api.address, self.method.clone(), self.body.clone());
        let response = tokio::task::spawn_blocking(move || {
            let headers: Vec<(&str, &str)> = headers.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            request(address, &method, &target, &headers, body.as_bytes())
        });
        response.await.unwrap()
    }

    #[track_caller]
    fn refused(&self, answer: &Answer, why: &str) {
        assert_eq!(answer.status, 403, "{} with {why}: {}", self.name, answer.text());
        assert_eq!(answer.json()["error"]["code"], "forbidden", "{} with {why}", self.name);
    }
}

/// Stores one memory of each type for tenant `default` in butler `general`.
async fn fill(api: &Api) -> [(&'static str, String); 4] {
    let entity = json!({"canonical_name": SECRET, "entity_type": "place"});
    let entity = api.tool("general", "entity_create", entity).await["entity_id"].as_str().unwrap().to_owned();
    let rule = api.rule(SECRET).await;
    let episode = api.episode(SECRET).await;
    let fact = json!({"subject": SECRET, "predicate": "is", "content": SECRET, "entity_id": entity});
    let fact = id(&api.tool("general", "memory_store_fact", fact).await);
    [("/facts/", fact), ("/rules/", rule), ("/episodes/", episode), ("/entities/", entity)]
}

/// They need more than a right: a caller of all tenants, or an LLM. The tests of transfer cover them.
const APART: [&str; 6] = ["listenEvents", "listBackups", "createBackup", "testLlm", "exportMemory", "importMemory"];

/// Turns every operation of the document into a case, except for those apart and the event stream, which never ends.
fn cases(document: &Value, ids: &[(&str, String)]) -> Vec<Case> {
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap().to_owned();
            let Some(right) = operation["x-right"].as_str().filter(|_| !APART.contains(&name.as_str())) else {
                continue;
            };
            let about = ids.iter().find(|(part, _)| path.contains(part)).map(|(_, id)| id.as_str());
            let unknown_id = "00000000-0000-0000-0000-000000000000";
            let url = path.replace("{id}", about.unwrap_or(unknown_id)).replace("{name}", "general");
            let (query, body) = match name.as_str() {
                "recallMemory" | "searchMemory" => ("?q=zanzibar", Value::Null),
                "explainWhyNot" => ("?q=zanzibar&id=00000000-0000-0000-0000-000000000000", Value::Null),
                "mergeEntity" => ("?preview=true", json!({"target_entity_id": unknown_id})),
                "keepApart" => ("", json!({"other_entity_id": unknown_id})),
                "editFact" | "editRule" => ("", json!({"content": format!("{SECRET} edited")})),
                "resolveConflict" => ("", json!({"resolution": "keep_a"})),
                "createToken" => ("", json!({"name": "another", "rights": ["admin"]})),
                _ => ("", Value::Null),
            };
            let mut parameters = operation["parameters"].as_array().into_iter().flatten();
            // For episodes, `butler` filters by the butler of the session, not by the database.
            let names_butler = name != "listEpisodes" && parameters.any(|parameter| parameter["name"] == "butler");
            all.push(Case {
                name,
                method: method.to_uppercase(),
                path: url.replace("{job}", "decay_sweep"),
                query: query.to_owned(),
                body: if body.is_null() { String::new() } else { body.to_string() },
                right: right.to_owned(),
                by_id: about.is_some(),
                names_butler,
            });
        }
    }
    all
}

async fn token(api: &Api, tenant: &str, butler: Option<&str>, rights: &[&str]) -> String {
    made(api, tenant, butler, rights).await.secret
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_enforces_the_rights_tenant_and_butler_of_a_token() {
    let api = Api::with(&["general", "other"]).await;
    let ids = fill(&api).await;
    let cases = cases(&api.get("/api/openapi.json").await, &ids);
    assert!(cases.len() >= 37, "{} operations", cases.len());
    let all = ["read", "write", "admin"];
    let without = |right: &str| all.into_iter().filter(|one| *one != right).collect::<Vec<_>>();
    let own_token = async |rights: &[&str]| token(&api, "default", None, rights).await;
    let [only_read, only_write, only_admin] =
        [own_token(&["read"]).await, own_token(&["write"]).await, own_token(&["admin"]).await];
    let [no_read, no_write, no_admin] =
        [own_token(&without("read")).await, own_token(&without("write")).await, own_token(&without("admin")).await];
    let everything = own_token(&all).await;
    let guest = token(&api, "guest", None, &all).await;
    let bound = token(&api, "default", Some("other"), &all).await;

    for case in &cases {
        let answer = case.ask(&api, case.target(), None, &[]).await;
        assert_eq!(answer.status, 401, "{} without a token: {}", case.name, answer.text());
        let (right, lacking) = match case.right.as_str() {
            "read" => (&only_read, &no_read),
            "write" => (&only_write, &no_write),
            _ => (&only_admin, &no_admin),
        };
        let answer = case.ask(&api, case.target(), Some(lacking), &[]).await;
        case.refused(&answer, "all rights but the one it needs");
        assert!(
            answer.json()["error"]["hint"].as_str().unwrap().contains(&case.right),
            "{}: {}",
            case.name,
            answer.text()
        );

        // A token of another tenant can neither name this tenant nor see its data.
        let answer = case.ask(&api, case.with("tenant=default"), Some(&guest), &[]).await;
        case.refused(&answer, "the name of another tenant");
        let answer = case.ask(&api, case.target(), Some(&guest), &[]).await;
        let expected: &[u16] = if case.by_id { &[404] } else { &[200, 404] };
        assert!(expected.contains(&answer.status), "{} by a guest: {} {}", case.name, answer.status, answer.text());
        // The response may repeat the query once.
        let echo = usize::from(case.query.contains(SECRET));
        let leaks = |answer: &Answer| answer.text().matches(SECRET).count() > echo;
        assert!(!leaks(&answer), "{} leaks to a guest: {}", case.name, answer.text());

        // A token for another butler.
        let answer = case.ask(&api, case.target(), Some(&bound), &[]).await;
        match (case.path.contains("/butlers/general/"), case.by_id) {
            (true, _) => case.refused(&answer, "a token of another butler"),
            (false, true) => assert_eq!(answer.status, 404, "{} of another butler: {}", case.name, answer.text()),
            _ => assert!(!leaks(&answer), "{} of another butler: {}", case.name, answer.text()),
        }
        if case.names_butler && !case.path.contains("/butlers/") {
            let answer = case.ask(&api, case.with("butler=general"), Some(&bound), &[]).await;
            case.refused(&answer, "the name of another butler");
        }

        // A browser request from a page of another site.
        if case.method != "GET" {
            for forged in [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example")] {
                let answer = case.ask(&api, case.target(), Some(&everything), &[forged]).await;
                case.refused(&answer, forged.0);
            }
        }
        assert!(right != lacking);
    }
    // The rejected requests changed nothing, and each right allows its operations.
    let stats = api.tool("general", "memory_stats", json!({})).await;
    assert_eq!(stats["facts"]["active"], 1, "{stats}");
    assert_eq!(stats["rules"]["total"], 1, "{stats}");
    for case in &cases {
        let right = match case.right.as_str() {
            "read" => &only_read,
            "write" => &only_write,
            _ => &only_admin,
        };
        let answer = case.ask(&api, case.target(), Some(right), &[]).await;
        assert!(![401, 403].contains(&answer.status), "{} with {}: {}", case.name, case.right, answer.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_created_token_works_immediately_and_a_revoked_one_stops_working() {
    let api = Api::start().await;
    let created = api.done("POST", "/api/tokens", json!({"name": "mine", "rights": ["read", "write", "admin"]})).await;
    let case = |method: &str, path: String| Case {
        name: path.clone(),
        method: method.to_owned(),
        path,
        query: String::new(),
        body: String::new(),
        right: String::new(),
        by_id: false,
        names_butler: false,
    };
    assert_eq!(api.answer("/api/server").await.status, 401, "the first token makes tokens required");
    let token = created["token"].as_str();
    let server = case("GET", "/api/server".to_owned());
    let seen = server.ask(&api, server.target(), token, &[]).await.json();
    assert_eq!((&seen["data"]["token_id"], &seen["data"]["auth_required"]), (&created["id"], &json!(true)));
    let revoke = case("DELETE", format!("/api/tokens/{}", created["id"].as_str().unwrap()));
    let revoked = revoke.ask(&api, revoke.target(), token, &[]).await;
    assert_eq!(revoked.json()["data"]["state"], "revoked", "{}", revoked.text());
    assert_eq!(server.ask(&api, server.target(), token, &[]).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_token_is_never_served_as_one_without() {
    let api = Api::start().await;
    let stats = |bearer: Option<String>| {
        let address = api.address;
        async move {
            let ask = move || {
                let bearer = bearer.map(|bearer| format!("Bearer {bearer}"));
                let headers: Vec<(&str, &str)> =
                    bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
                request(address, "GET", "/api/memory/stats", &headers, b"")
            };
            tokio::task::spawn_blocking(ask).await.unwrap()
        }
    };
    assert_eq!(stats(None).await.status, 200, "without tokens, loopback callers are trusted");
    let unknown = stats(Some("btl_0000".to_owned())).await;
    assert_eq!(unknown.status, 401, "{}", unknown.text());

    // Another process creates the first token, and this server has not heard of it yet.
    let butler = api.host.butler(None).unwrap();
    let (bearer, now) = (new_token().unwrap(), api.host.clock().now());
    let row = TokenRow {
        id: butler_domain::ids::new_id(now),
        tenant: butler_domain::TenantId::new("acme").unwrap(),
        butler: None,
        name: String::new(),
        hash: tokens::hash(&bearer),
        rights: vec!["read".to_owned()],
        created_at: now,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        parent: None,
        rotation: None,
    };
    let mut conn = butler.database().unwrap().owner().await.unwrap();
    tokens::create(&mut conn, &Origin::default(), &row).await.unwrap();
    drop(conn);
    let own = stats(Some(bearer)).await;
    assert_eq!(own.status, 200, "{}", own.text());
    api.fact("ann", "likes", "tea").await;
    assert_eq!(own.json()["data"]["facts"]["total"], 0, "the tenant is the token's");
    assert_eq!(stats(None).await.status, 401, "a token exists now");
}
