//! `GET /api/export` and `POST /api/import`: a tenant's memory as a file. Their bodies are files and not JSON, so they are not
//! operations like the others, and describe themselves in the OpenAPI document.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use butler_host::access::Right;
use butler_memory::Memory;
use butler_memory::tool::ErrorCode;
use butler_memory::transfer::{FileFormat, ImportOptions, ImportReport, LineReader, TransferError, detect_format};
use futures::{StreamExt, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::SemaphorePermit;

use super::error::ApiError;
use super::operation::RequestContext;
use super::parameters;
use super::state::Api;
use crate::http::HttpCode;

/// Larger files are for `butler import`.
const IMPORT_BYTES: u64 = 256 * 1024 * 1024;
/// How much of a file to read to recognise its format, and to send at once.
const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
struct ExportQuery {
    /// The butler whose memory to export. Default: the first butler.
    butler: Option<String>,
    /// Whether to include the vectors. Default: true.
    embeddings: Option<bool>,
}

/// The description of both in the OpenAPI document.
pub fn descriptions(error: &Value) -> [(&'static str, Value); 2] {
    let parameter = |name: &str, kind: &str, about: &str| json!({"name": name, "in": "query", "required": false, "description": about, "schema": {"type": kind}});
    let butler = parameter("butler", "string", "The butler whose memory is meant. Default: the first butler.");
    let tenant = parameter("tenant", "string", "The tenant, if no token fixes it.");
    let failed = json!({"description": "The error, with a hint what to do about it.",
        "content": {"application/json": {"schema": error}}});
    let export = json!({"get": {
        "operationId": "exportMemory", "tags": ["transfer"], "summary": "Export a tenant's memory as JSON lines.",
        "x-right": "admin",
        "parameters": [butler, tenant, parameter("embeddings", "boolean", "Whether to include the vectors. Default: true.")],
        "responses": {
            "200": {"description": "The file.", "content": {"application/x-ndjson": {"schema": {"type": "string"}}}},
            "default": failed,
        },
    }});
    let import = json!({"post": {
        "operationId": "importMemory", "tags": ["transfer"],
        "summary": "Import an export, or a file of another program that `butler import` reads. Only for persons.",
        "x-right": "admin",
        "parameters": [
            butler, tenant,
            parameter("dry_run", "boolean", "Report what would be imported, and write nothing. Default: false."),
            parameter("partial", "boolean", "Import the valid lines even if others have problems. Default: false."),
        ],
        "requestBody": {"required": true,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
        "responses": {
            "200": {"description": "What was imported.", "content": {"application/json": {"schema": {"type": "object"}}}},
            "default": failed,
        },
    }});
    [("/api/export", export), ("/api/import", import)]
}

pub async fn export(State(api): State<Api>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let written = async {
        let (ctx, query) = RequestContext::of(&api, &parts, Right::Admin)?;
        let query = parameters::parse::<ExportQuery>(query, &["tenant"])?;
        let memory = memory(&ctx, query.butler.as_deref()).await?;
        let _turn = turn(&ctx)?;
        let name = format!("butler-{}-{}.jsonl", memory.butler(), ctx.now.format("%Y-%m-%d"));
        Ok::<_, ApiError>((write(&ctx, &memory, query.embeddings.unwrap_or(true)).await?, name))
    };
    match written.await {
        Ok(((file, bytes), name)) => {
            let headers = [
                (header::CONTENT_TYPE, "application/x-ndjson".to_owned()),
                (header::CONTENT_LENGTH, bytes.to_string()),
                (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
                (header::CACHE_CONTROL, "no-store".to_owned()),
            ];
            (headers, Body::from_stream(chunks(file))).into_response()
        }
        Err(error) => error.into_response(),
    }
}

/// Writes the export to a file first: a client never sees an incomplete one, and knows its size.
async fn write(ctx: &RequestContext, memory: &Memory, vectors: bool) -> Result<(File, u64), ApiError> {
    let mut out = BufWriter::with_capacity(CHUNK_BYTES, temporary(ctx)?);
    let mut sink = |line: &str| out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n"));
    memory.export(&ctx.call(memory), vectors, &mut sink, &|_, _| ()).await.map_err(failed)?;
    let mut file = out.into_inner().map_err(|error| unwritable(error.into_error()))?;
    let bytes = file.stream_position().map_err(unwritable)?;
    file.rewind().map_err(unwritable)?;
    Ok((file, bytes))
}

fn chunks(file: File) -> impl futures::Stream<Item = std::io::Result<Vec<u8>>> + Send {
    stream::unfold(file, |mut file| async move {
        let mut chunk = vec![0; CHUNK_BYTES];
        match file.read(&mut chunk) {
            Ok(0) => None,
            Ok(read) => {
                chunk.truncate(read);
                Some((Ok(chunk), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ImportQuery {
    /// The butler to import into. Default: the first butler.
    butler: Option<String>,
    /// Only report what would be imported.
    dry_run: Option<bool>,
    /// Import the valid lines even if others are invalid.
    partial: Option<bool>,
}

pub async fn import(State(api): State<Api>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let imported = async {
        let (ctx, query) = RequestContext::of(&api, &parts, Right::Admin)?;
        // A file says itself whether a person stated something.
        ctx.require_person()?;
        let query = parameters::parse::<ImportQuery>(query, &["tenant"])?;
        // A form of another site cannot send this type.
        if parts.headers.get(header::CONTENT_TYPE).is_none_or(|kind| kind != "application/octet-stream") {
            let message = "the file must be sent as application/octet-stream";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, HttpCode::UnsupportedMediaType, message));
        }
        let memory = memory(&ctx, query.butler.as_deref()).await?;
        let file = receive(&ctx, body).await?;
        let options = ImportOptions {
            tenant: ctx.tenant.clone(),
            dry_run: query.dry_run.unwrap_or(false),
            partial: query.partial.unwrap_or(false),
            origin: ctx.call(&memory).origin,
        };
        let _turn = turn(&ctx)?;
        read(&memory, file, &options).await
    };
    match imported.await {
        Ok(report) => Json(json!({"data": report, "meta": {}})).into_response(),
        Err(error) => error.into_response(),
    }
}

async fn receive(ctx: &RequestContext, body: Body) -> Result<File, ApiError> {
    let (mut file, mut read) = (temporary(ctx)?, 0);
    let mut stream = body.into_data_stream();
    let timeout = ctx.api.host.server().request_timeout();
    loop {
        let next = tokio::time::timeout(timeout, stream.next()).await;
        let next = next.map_err(|_| {
            ApiError::new(StatusCode::REQUEST_TIMEOUT, HttpCode::Timeout, "the file did not arrive in time")
                .hint("send it again")
        })?;
        let Some(chunk) = next else { break };
        let chunk = chunk.map_err(|error| {
            ApiError::new(StatusCode::BAD_REQUEST, HttpCode::InvalidRequest, format!("cannot read the file: {error}"))
        })?;
        read += chunk.len() as u64;
        if read > IMPORT_BYTES {
            let message = format!("the file is larger than {IMPORT_BYTES} bytes");
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, HttpCode::TooLarge, message)
                .hint("import it on the server's machine: butler import FILE"));
        }
        file.write_all(&chunk).map_err(unwritable)?;
    }
    file.rewind().map_err(unwritable)?;
    Ok(file)
}

async fn read(memory: &Memory, file: File, options: &ImportOptions) -> Result<ImportReport, ApiError> {
    let mut lines = LineReader::new(BufReader::with_capacity(CHUNK_BYTES, file));
    let head = String::from_utf8_lossy(lines.reader.fill_buf().map_err(unwritable)?).into_owned();
    let format = detect_format(&head, None).ok_or_else(|| {
        let message = "the format of the file is not recognised";
        ApiError::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidArgument, message)
            .hint("import it with `butler import FILE --format FORMAT`")
    })?;
    let report = match format {
        FileFormat::Butler => memory.import(&mut || lines.line(), options, &|_| ()).await,
        FileFormat::Foreign(format) => {
            let mut text = String::new();
            lines.reader.read_to_string(&mut text).map_err(|_| {
                ApiError::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidArgument, "the file is not UTF-8 text")
            })?;
            memory.import_foreign(format, &text, "upload", options, &|_, _| ()).await
        }
    };
    report.map_err(failed)
}

/// Beside the data, if they are on this machine: the system's directory for temporary files may lie in memory.
fn temporary(ctx: &RequestContext) -> Result<File, ApiError> {
    tempfile::tempfile_in(ctx.api.host.data_dir()).or_else(|_| tempfile::tempfile()).map_err(unwritable)
}

fn turn(ctx: &RequestContext) -> Result<SemaphorePermit<'_>, ApiError> {
    ctx.api.transfers.try_acquire().map_err(|_| {
        let message = "another export or import is in progress";
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, HttpCode::Busy, message).hint("try again when it has finished")
    })
}

async fn memory(ctx: &RequestContext, butler: Option<&str>) -> Result<Arc<Memory>, ApiError> {
    let butler = ctx.butlers(butler)?.into_iter().next();
    let butler = butler.ok_or_else(|| ApiError::unavailable("no butler has a memory module"))?;
    butler.memory().await.ok_or_else(|| ApiError::unavailable("the butler has not started"))
}

fn unwritable(error: std::io::Error) -> ApiError {
    let message = format!("cannot keep the file on the server: {error}");
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, message)
}

fn failed(error: TransferError) -> ApiError {
    match error {
        TransferError::Memory(error) => error.into(),
        error => {
            let message = error.to_string();
            let refused = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidArgument, message);
            match error.hint() {
                Some(hint) => refused.hint(hint),
                None => refused,
            }
        }
    }
}
