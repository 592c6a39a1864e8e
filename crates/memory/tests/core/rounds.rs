//! The round trips of a write, counted on the wire.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use butler_domain::secrets::Redactor;
use butler_domain::{Butler, MockClock};
use butler_memory::tool::ToolCall;
use butler_memory::{Caller, Memory, MemoryConfig, MemoryParts};
use butler_store::{Database, DatabaseOptions};
use butler_testkit::{FakeEmbedder, TestDb};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};

/// A proxy that counts the messages that the server answers: Query and Sync.
async fn proxy(upstream: PgConnectOptions) -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let rounds = Arc::new(AtomicU64::new(0));
    let counter = rounds.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (upstream, counter) = (upstream.clone(), counter.clone());
            tokio::spawn(async move {
                match upstream.get_socket() {
                    Some(dir) => {
                        let path = dir.join(format!(".s.PGSQL.{}", upstream.get_port()));
                        relay(client, UnixStream::connect(path).await.unwrap(), counter).await;
                    }
                    None => {
                        let server = TcpStream::connect((upstream.get_host(), upstream.get_port())).await.unwrap();
                        relay(client, server, counter).await;
                    }
                }
            });
        }
    });
    (port, rounds)
}

async fn relay(client: TcpStream, server: impl AsyncRead + AsyncWrite + Send + 'static, counter: Arc<AtomicU64>) {
    client.set_nodelay(true).unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = tokio::io::split(server);
    tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    // The first message has no type; all others consist of type, length and body.
    let mut started = false;
    loop {
        let kind = if started { from_client.read_u8().await } else { Ok(0) };
        let (Ok(kind), Ok(length)) = (kind, from_client.read_u32().await) else { return };
        let mut body = vec![0; length as usize - 4];
        if from_client.read_exact(&mut body).await.is_err() {
            return;
        }
        if kind == b'Q' || kind == b'S' {
            counter.fetch_add(1, Ordering::SeqCst);
        }
        let mut message = Vec::with_capacity(body.len() + 5);
        if started {
            message.push(kind);
        }
        message.extend_from_slice(&length.to_be_bytes());
        message.extend_from_slice(&body);
        if to_server.write_all(&message).await.is_err() {
            return;
        }
        started = true;
    }
}

struct Counted {
    memory: Memory,
    rounds: Arc<AtomicU64>,
    _db: TestDb,
}

async fn counted() -> Counted {
    let db = TestDb::new().await;
    let url = db.url();
    let (port, rounds) = proxy(PgConnectOptions::from_str(&url).unwrap()).await;
    let user = url.split_once("://").unwrap().1.split_once('@').unwrap().0;
    let through = format!("postgres://{user}@127.0.0.1:{port}/{}?sslmode=disable", db.name());
    let options = DatabaseOptions { pool_size: 1, ..DatabaseOptions::new(through) };
    let memory = Memory::new(MemoryParts {
        butler: Butler::new("general").unwrap(),
        db: Database::connect(options).await.unwrap(),
        embedder: Arc::new(FakeEmbedder::default()),
        clock: Arc::new(MockClock::at("2030-01-15T12:00:00Z".parse().unwrap())),
        config: MemoryConfig::default(),
    });
    Counted { memory, rounds, _db: db }
}

impl Counted {
    /// The round trips of one call.
    async fn of(&self, tool: &str, arguments: Value) -> (u64, Value) {
        // What the call before left to be done is not part of this one.
        self.memory.db().settled().await;
        let before = self.rounds.load(Ordering::SeqCst);
        let tools = butler_memory::tools();
        let found = tools.iter().find(|candidate| candidate.spec().name == tool).unwrap();
        let Value::Object(arguments) = arguments else { panic!("an object") };
        let call = ToolCall::parse(found.spec(), Caller::trusted(), arguments, &Redactor::standard());
        let answer = found.run(&self.memory, call).await.unwrap();
        (self.rounds.load(Ordering::SeqCst) - before, Value::Object(answer.structured))
    }
}

#[tokio::test]
async fn a_store_is_at_most_four_round_trips_including_begin_and_commit() {
    let counted = counted().await;
    let fact = |n: usize| json!({"subject": "user", "predicate": "mood", "content": format!("mood {n}")});
    // The first call of each kind connects and prepares its statements.
    counted.of("memory_store_fact", fact(0)).await;
    let (rounds, answer) = counted.of("memory_store_fact", fact(1)).await;
    assert!(answer["superseded_id"].is_string());
    assert_eq!(rounds, 1, "a superseding fact is one statement, committed with it");
    let (rounds, _) = counted.of("memory_store_fact", json!({"subject": "x", "predicate": "y", "content": "z"})).await;
    assert_eq!(rounds, 1, "a new fact");

    counted.of("memory_store_episode", json!({"content": "a", "butler": "b"})).await;
    assert_eq!(counted.of("memory_store_episode", json!({"content": "c", "butler": "b"})).await.0, 1);
    let (_, rule) = counted.of("memory_store_rule", json!({"content": "a"})).await;
    assert_eq!(counted.of("memory_store_rule", json!({"content": "b"})).await.0, 1);

    let keyed = |key: &str| json!({"content": "k", "idempotency_key": key});
    counted.of("memory_store_rule", keyed("1")).await;
    assert_eq!(
        counted.of("memory_store_rule", keyed("2")).await.0,
        2,
        "with an idempotency key, one more to look it up"
    );
    assert_eq!(counted.of("memory_store_rule", keyed("2")).await.0, 1, "a stored answer is only read");

    for (tool, arguments) in [
        ("memory_mark_helpful", json!({"rule_id": rule["id"]})),
        ("memory_mark_harmful", json!({"rule_id": rule["id"]})),
        ("memory_confirm", json!({"memory_type": "rule", "memory_id": rule["id"]})),
        ("memory_forget", json!({"memory_type": "rule", "memory_id": rule["id"]})),
    ] {
        // The first mark prepares two statements.
        counted.of("memory_mark_helpful", json!({"rule_id": rule["id"]})).await;
        if tool == "memory_confirm" {
            counted.of(tool, arguments.clone()).await;
        }
        let (rounds, _) = counted.of(tool, arguments).await;
        assert!(rounds <= 4, "{tool}: {rounds}");
    }
}
