//! OpenAI's `POST /v1/embeddings` with our MiniLM model, so that `bench peers` compares the systems and not their models.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use butler_embed::{Embedder, Engine, EngineOptions};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

const MODEL: &str = "all-MiniLM-L6-v2";

#[derive(clap::Args)]
pub struct Args {
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Input {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
struct Request {
    input: Input,
    #[serde(default)]
    encoding_format: Option<String>,
}

/// Serves until its standard input ends, which happens when the program that started it exits.
pub async fn run(args: Args) -> anyhow::Result<()> {
    // The smallest cache: every system embeds the same texts, and none may profit from an earlier one.
    let engine = Engine::new(EngineOptions { cache_capacity: 1, ..EngineOptions::default() });
    engine.warm_up().await?;
    let listener = TcpListener::bind(&args.listen).await?;
    announce(&listener)?;
    let app = Router::new()
        .route("/v1/embeddings", post(embeddings))
        .route("/v1/models", get(async || Json(json!({"object": "list", "data": [{"id": MODEL, "object": "model"}]}))))
        .with_state(engine);
    axum::serve(listener, app).with_graceful_shutdown(end_of_input()).await?;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the address is the program's output")]
fn announce(listener: &TcpListener) -> anyhow::Result<()> {
    println!("ready http://{}/v1", listener.local_addr()?);
    Ok(())
}

async fn end_of_input() {
    let mut nothing = Vec::new();
    let _ = tokio::io::stdin().read_to_end(&mut nothing).await;
}

async fn embeddings(
    State(engine): State<Arc<Engine>>,
    Json(request): Json<Request>,
) -> Result<Json<Value>, (StatusCode, String)> {
    let texts = match request.input {
        Input::One(text) => vec![text],
        Input::Many(texts) => texts,
    };
    let words: usize = texts.iter().map(|text| text.split_whitespace().count()).sum();
    let vectors =
        engine.embed_batch(texts).await.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let base64 = request.encoding_format.as_deref() == Some("base64");
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": encoded(vector, base64)}))
        .collect();
    let usage = json!({"prompt_tokens": words, "total_tokens": words});
    Ok(Json(json!({"object": "list", "model": MODEL, "data": data, "usage": usage})))
}

/// OpenAI's own client asks for little-endian floats in base64, other clients for numbers.
fn encoded(vector: &[f32], base64: bool) -> Value {
    if base64 {
        let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
        json!(BASE64_STANDARD.encode(bytes))
    } else {
        json!(vector)
    }
}
