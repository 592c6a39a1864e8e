//! Requests as the hosted connectors of claude.ai and ChatGPT send them, by their documentation of November 2026:
//! `claude.com/docs/connectors/building/authentication` and `developers.openai.com/apps-sdk/build/auth`.

use serde_json::{Value, json};

use super::{Login, VERIFIER, header, parameter, text};
use crate::access::PING;
use crate::program::{MCP_HEADERS, Mcp, request};

struct Connector {
    /// What it calls itself when it calls the OAuth endpoints, and when it calls MCP.
    agents: [(&'static str, &'static str); 2],
    callback: &'static str,
    registration: Value,
    scope: &'static str,
}

impl Connector {
    fn claude() -> Self {
        let callback = "https://claude.ai/api/mcp/auth_callback";
        let registration = json!({"client_name": "Claude", "redirect_uris": [callback], "scope": "claudeai",
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_post"});
        let agents = [("User-Agent", "python-httpx/0.28.1"), ("User-Agent", "Claude-User")];
        Self { agents, callback, registration, scope: "claudeai" }
    }

    fn chatgpt(callback: &'static str) -> Self {
        let registration = json!({"client_name": "ChatGPT", "redirect_uris": [callback],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none", "application_type": "web"});
        let agents = [("User-Agent", "Python/3.12 aiohttp/3.13.3"), ("User-Agent", "openai-mcp/1.0.0 (ChatGPT)")];
        Self { agents, callback, registration, scope: "read write" }
    }

    /// Follows the whole chain from the address of the MCP endpoint to an access token. Returns the client's id and its
    /// tokens.
    fn log_in(&self, on: &Login, endpoint: &str) -> (String, Value) {
        let [oauth, mcp] = self.agents;
        let address = |url: &Value| text(url).strip_prefix(&on.url).unwrap_or_else(|| panic!("{url}")).to_owned();
        // The connector tries methods of its own before it logs in.
        let mut challenge = String::new();
        for (method, body) in [("HEAD", &b""[..]), ("GET", b""), ("POST", PING.as_bytes())] {
            let refused = request(on.server.address, method, endpoint, &[&MCP_HEADERS[..], &[mcp]].concat(), body);
            assert_eq!(refused.status, 401, "{method}: {}", refused.head);
            challenge = header(&refused, "www-authenticate").unwrap();
        }
        // A relative address would be ignored.
        let metadata = challenge.split_once("resource_metadata=\"").unwrap().1.split('"').next().unwrap();
        let headers = [oauth, ("Accept", "*/*"), ("MCP-Protocol-Version", "2025-11-25")];
        let resource = on.get(&address(&json!(metadata)), &headers).json();
        assert_eq!(resource["resource"], format!("{}{endpoint}", on.url), "exactly the address that the client has");
        let issuer = text(&resource["authorization_servers"][0]);
        let known = format!("{issuer}/.well-known/oauth-authorization-server");
        let server = on.get(&address(&json!(known)), &headers).json();
        assert_eq!(server["issuer"], issuer);
        for (member, needed) in [
            ("code_challenge_methods_supported", "S256"),
            ("token_endpoint_auth_methods_supported", "none"),
            ("grant_types_supported", "refresh_token"),
        ] {
            assert!(server[member].as_array().unwrap().contains(&json!(needed)), "{member}: {server}");
        }
        for member in ["client_id_metadata_document_supported", "authorization_response_iss_parameter_supported"] {
            assert_eq!(server[member], true, "{member}");
        }

        let body = self.registration.to_string();
        let headers = [&MCP_HEADERS[..1], &[oauth, ("Accept", "*/*")]].concat();
        let path = address(&server["registration_endpoint"]);
        let registered = request(on.server.address, "POST", &path, &headers, body.as_bytes());
        assert_eq!(registered.status, 201, "{}", registered.text());
        let registered = registered.json();
        assert_eq!(registered["token_endpoint_auth_method"], "none", "whatever the client asked for");
        assert!(registered["client_secret"].is_null());
        let client = text(&registered["client_id"]).to_owned();

        // The person's browser.
        let cookie = on.sign_in(&[]);
        let resource = text(&resource["resource"]);
        let change = [("redirect_uri", self.callback), ("scope", self.scope), ("resource", resource)];
        let back = on.allow(&on.authorize(&client, &change), &cookie);
        assert!(header(&back, "location").unwrap().starts_with(self.callback), "{}", back.head);
        assert_eq!((parameter(&back, "iss").as_str(), parameter(&back, "state").as_str()), (issuer, "a state"));

        let fields = [
            ("grant_type", "authorization_code"),
            ("code", &parameter(&back, "code")),
            ("redirect_uri", self.callback),
            ("client_id", &client),
            ("code_verifier", VERIFIER),
            ("resource", resource),
        ];
        let tokens = on.post(&address(&server["token_endpoint"]), &fields, &[oauth, ("Accept", "application/json")]);
        assert_eq!(tokens.status, 200, "{}", tokens.text());
        assert_eq!(header(&tokens, "cache-control").as_deref(), Some("no-store"));
        (client, tokens.json())
    }
}

#[test]
fn the_connector_of_claude_ai_logs_in_and_refreshes() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let connector = Connector::claude();
    let (client, tokens) = connector.log_in(&on, "/mcp");
    assert_eq!((&tokens["token_type"], &tokens["scope"]), (&json!("Bearer"), &json!("read write")));
    on.mcp(&tokens["access_token"]).call("memory_stats", json!({}));
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", text(&tokens["refresh_token"])),
        ("client_id", &client),
        ("scope", connector.scope),
        ("resource", &format!("{}/mcp", on.url)),
    ];
    let renewed = on.post("/oauth/token", &fields, &[connector.agents[0]]);
    assert_eq!(renewed.status, 200, "{}", renewed.text());
    on.mcp(&renewed.json()["access_token"]).call("memory_stats", json!({}));
}

#[test]
fn the_connector_of_chatgpt_logs_in_with_either_callback() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    for callback in
        ["https://chatgpt.com/connector_platform_oauth_redirect", "https://chatgpt.com/connector/oauth/Fw1ybTgFvGKZ"]
    {
        let (_, tokens) = Connector::chatgpt(callback).log_in(&on, "/butlers/general/mcp");
        on.mcp(&tokens["access_token"]).call("memory_stats", json!({}));
    }
}

#[test]
fn the_query_of_an_endpoint_belongs_to_the_resource_and_not_to_the_grant() {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let (client, tokens) = Connector::claude().log_in(&on, "/mcp?profile=core");
    let tools = |path: &str| {
        let mcp = Mcp { path: path.to_owned(), ..on.mcp(&tokens["access_token"]) };
        mcp.rpc("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len()
    };
    assert!(tools("/mcp?profile=core") < tools("/mcp"), "a profile is no boundary: the rights are");
    // The client may leave the query out, and a fragment is not allowed (RFC 8707).
    let refresh = |token: &Value, resource: String| {
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", client.as_str()),
            ("refresh_token", text(token)),
            ("resource", &resource),
        ];
        on.post("/oauth/token", &fields, &[]).json()
    };
    let refused = refresh(&tokens["refresh_token"], format!("{}/mcp?profile=core#x", on.url));
    assert_eq!(refused["error"], "invalid_target");
    let renewed = refresh(&tokens["refresh_token"], format!("{}/mcp", on.url));
    assert_eq!(renewed["scope"], "read write", "{renewed}");
    let other = refresh(&renewed["refresh_token"], format!("{}/mcp?profile=read-only", on.url));
    assert_eq!(other["scope"], "read write", "{other}");
}
