//! The REST API over HTTP, with a real database and the real model.

mod best;
mod contract;
mod duplicates;
mod explaining;
mod leaks;
mod lists;
mod live;
mod panic;
mod rights;
mod sections;
mod times;
mod tokens;
mod transfer;
mod undo;
mod writes;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use butler_host::access::{Rights, Secret};
use butler_host::config::Source;
use butler_host::host::{Host, HostOptions};
use butler_memory::Caller;
use butler_memory::tool::ToolCall;
use butler_server::http::{AllowedHosts, Authenticator};
use butler_testkit::TestDb;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::program::{Answer, request};

/// A server in this process, with its own databases.
pub struct Api {
    pub address: SocketAddr,
    pub host: Arc<Host>,
    pub databases: Vec<TestDb>,
    _dir: TempDir,
}

impl Api {
    /// Starts a server with one butler, `general`.
    pub async fn start() -> Self {
        Self::with(&["general"]).await
    }

    /// Starts a server with these butlers, each with its own database.
    pub async fn with(names: &[&str]) -> Self {
        Self::configured(names, "").await
    }

    /// Starts a server with these butlers and additional lines in each butler.toml.
    pub async fn configured(names: &[&str], more: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut databases = Vec::new();
        for name in names {
            let db = TestDb::new().await;
            let folder = dir.path().join("roster").join(name);
            std::fs::create_dir_all(&folder).unwrap();
            let file =
                format!("[butler]\nname = {name:?}\n[butler.database]\nurl = {:?}\npool_size = 4\n{more}", db.url());
            std::fs::write(folder.join("butler.toml"), file).unwrap();
            databases.push(db);
        }
        let host = Host::new(HostOptions {
            data_dir: dir.path().join("data"),
            cache_dir: butler_fetch::default_cache_dir(),
            source: Source::Roster(dir.path().join("roster")),
            database_url: None,
            runtime_dir: None,
            model_dir: std::env::var_os("BUTLER_MODEL_DIR").map(PathBuf::from),
        })
        .unwrap();
        host.start(Arc::new(butler_fetch::Silent)).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let authenticator = Authenticator::new(host.clone(), Secret::new().unwrap(), true, 1000);
        let router = butler_server::router(host.clone(), AllowedHosts::on(address, &[]), authenticator);
        let closing = host.closing().clone();
        tokio::spawn(
            async move { axum::serve(listener, router).with_graceful_shutdown(closing.cancelled_owned()).await },
        );
        Self { address, host, databases, _dir: dir }
    }

    async fn ask(&self, method: &'static str, path: &str, headers: &'static [(&str, &str)], body: String) -> Answer {
        let (address, path) = (self.address, path.to_owned());
        let response = tokio::task::spawn_blocking(move || request(address, method, &path, headers, body.as_bytes()));
        response.await.unwrap()
    }

    pub async fn answer(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], String::new()).await
    }

    /// Sends a GET request that must succeed, and returns its JSON.
    pub async fn get(&self, path: &str) -> Value {
        let answer = self.answer(path).await;
        assert_eq!(answer.status, 200, "GET {path}: {}", answer.text());
        answer.json()
    }

    pub async fn send(&self, method: &'static str, path: &str, body: Value) -> Answer {
        const JSON: &[(&str, &str)] = &[("Content-Type", "application/json")];
        let (headers, body) = if body.is_null() { (&[][..], String::new()) } else { (JSON, body.to_string()) };
        self.ask(method, path, headers, body).await
    }

    pub async fn done(&self, method: &'static str, path: &str, body: Value) -> Value {
        let answer = self.send(method, path, body).await;
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text());
        answer.json()["data"].clone()
    }

    /// Calls a tool of a butler as an agent does.
    pub async fn tool(&self, butler: &str, tool: &str, arguments: Value) -> Value {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let found = self.host.butler(Some(butler)).unwrap();
        let tool = found.tools().get(tool).unwrap();
        let call = ToolCall::parse(tool.spec(), Caller::trusted(), arguments, self.host.redactor());
        let answer = self.host.call(&found, Rights::ALL, &**tool, call).await;
        Value::Object(answer.unwrap_or_else(|error| panic!("{}: {error:?}", tool.spec().name)).structured)
    }

    pub async fn fact(&self, subject: &str, predicate: &str, content: &str) -> String {
        let fact = json!({"subject": subject, "predicate": predicate, "content": content});
        id(&self.tool("general", "memory_store_fact", fact).await)
    }

    pub async fn rule(&self, content: &str) -> String {
        id(&self.tool("general", "memory_store_rule", json!({"content": content})).await)
    }

    pub async fn episode(&self, content: &str) -> String {
        let episode = json!({"content": content, "butler": "general"});
        id(&self.tool("general", "memory_store_episode", episode).await)
    }
}

pub fn id(stored: &Value) -> String {
    stored["id"].as_str().expect("an id").to_owned()
}
