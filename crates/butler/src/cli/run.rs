//! `butler run` runs one session with memory.

use std::path::Path;
use std::sync::Arc;

use butler_host::access::session_bearer;
use butler_host::config::{self, ButlerConfig, Source};
use butler_host::error::HostError;
use butler_host::session::{Endpoint, SessionRunner, StartedSession, own_prompt};
use butler_host::{env, runtime};
use butler_memory::runtime::Runtime;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use super::Settings;
use super::serve::Signals;
use super::tool_client::ToolClient;
use super::verbs::input;
use crate::printer::Printer;

/// Run one session with memory
///
/// Appends what memory knows about the prompt to the butler's system prompt (CLAUDE.md or AGENTS.md in its directory),
/// sends both to the LLM of [butler.runtime], which can use the butler's tools, prints the answer to stdout and stores
/// the exchange as an episode. If memory fails or takes longer than [butler.session] memory_timeout_s, the session
/// continues without it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler run 'Plan a dinner for Anna' --config butler.toml\n  \
    cat question.txt | butler run - --roster butlers --butler health\n  \
    butler run 'What did we decide about the release?' --json")]
pub struct Args {
    /// Prompt; `-` reads it from stdin
    prompt: Option<String>,
    /// What started the session; stored with its episode
    #[arg(long, value_name = "NAME", env = env::TRIGGER_SOURCE, hide_env_values = true, default_value = "trigger")]
    trigger_source: String,
    /// Print the answer, the session id and the outcome of each memory step as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    // A closed terminal must also remove the session's private files.
    let mut hangup = signal(SignalKind::hangup()).map_err(HostError::Serve)?;
    let butler = butler(settings)?;
    let section = butler.file.butler.runtime.as_ref();
    let section = section.ok_or_else(|| HostError::NoRuntime { butler: butler.name.clone() })?;
    let runtime = runtime::from_config(section)?;
    let prompt = input::text(args.prompt, "the prompt")?;
    let client = Arc::new(ToolClient::open(settings)?);
    let flow = flow(&butler, &client, runtime, settings)?;
    let outcome = tokio::select! {
        outcome = converse(&flow, prompt, args.trigger_source, args.json, printer) => outcome,
        // Dropping the session stops the LLM's program and removes its files.
        () = signals.any() => Err(interrupted()),
        _ = hangup.recv() => Err(interrupted()),
    };
    if let Err(error) = client.finish().await {
        tracing::warn!(%error, "memory did not shut down cleanly");
    }
    outcome
}

fn interrupted() -> HostError {
    HostError::Failed("the session was interrupted".to_owned())
}

async fn converse(
    flow: &SessionRunner,
    prompt: String,
    trigger_source: String,
    json: bool,
    printer: Printer,
) -> Result<(), HostError> {
    let begun: StartedSession = flow.begin(prompt, trigger_source).await;
    let answer = flow.answer(&begun).await?;
    if !json {
        printer.line(answer.text.trim_end_matches('\n'));
    }
    let ended = flow.end(&begun, &answer.text).await;
    if json {
        let trouble: Vec<String> = begun.problems.iter().chain(&ended.problems).map(ToString::to_string).collect();
        printer.json(&json!({
            "answer": answer.text, "session_id": begun.id, "context": begun.context, "episode_id": ended.episode,
            "trouble": trouble,
        }));
    }
    Ok(())
}

/// Finds the configuration of the butler that runs the session.
fn butler(settings: &Settings) -> Result<ButlerConfig, HostError> {
    let butlers = config::load_all(&settings.host.source)?;
    let known = butlers.iter().map(|butler| butler.name.as_str()).collect::<Vec<_>>().join(", ");
    let requested = settings.butler.as_deref();
    let found = butlers.into_iter().find(|butler| requested.is_none_or(|name| name == butler.name));
    found.ok_or_else(|| HostError::UnknownButler { name: requested.unwrap_or_default().to_owned(), known })
}

fn flow(
    butler: &ButlerConfig,
    client: &Arc<ToolClient>,
    runtime: Arc<dyn Runtime>,
    settings: &Settings,
) -> Result<SessionRunner, HostError> {
    Ok(SessionRunner {
        butler: butler.name.clone(),
        memory: Arc::clone(client) as _,
        runtime,
        redactor: config::redactor(std::slice::from_ref(butler)),
        own_prompt: butler.path.as_deref().and_then(Path::parent).and_then(own_prompt),
        memory_timeout: butler.file.butler.session.memory_timeout(),
        endpoint: endpoint(butler, client, settings)?,
        directory: settings.host.data_dir.join("sessions"),
    })
}

/// Where the LLM's program finds the butler's tools: the running server, with a bearer token for this session's tenant
/// only, or without a server a `butler mcp` that the program starts itself.
fn endpoint(butler: &ButlerConfig, client: &ToolClient, settings: &Settings) -> Result<Endpoint, HostError> {
    let tenant = settings.tenant.clone().unwrap_or_default();
    if let Some(server) = client.server() {
        let url = format!("http://{}/butlers/{}/mcp", server.address, butler.name);
        let bearer = server.secret().map(|secret| session_bearer(secret, &butler.name, &tenant));
        return Ok(Endpoint::Http { url, bearer });
    }
    let program = std::env::current_exe().map_err(HostError::io("find", "butler"))?;
    // Passed as a variable because it may contain a password, and other users of the machine can read arguments.
    let url = settings.host.database_url.iter().map(|url| (env::DATABASE_URL.to_owned(), url.clone()));
    Ok(Endpoint::Stdio {
        command: program.display().to_string(),
        arguments: stdio_arguments(Some(&butler.name), &Settings { tenant: Some(tenant), ..settings.clone() }),
        environment: url.collect(),
    })
}

/// The arguments of a `butler mcp` with the same settings as this command.
pub fn stdio_arguments(butler: Option<&str>, settings: &Settings) -> Vec<String> {
    let host = &settings.host;
    let mut arguments = vec!["mcp".to_owned()];
    let mut flag = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    flag("--data-dir", host.data_dir.display().to_string());
    match host.source.clone().absolute() {
        Source::Defaults => {}
        Source::File(file) => flag("--config", file.display().to_string()),
        Source::Roster(dir) => flag("--roster", dir.display().to_string()),
    }
    if let Some(butler) = butler {
        flag("--butler", butler.to_owned());
    }
    if let Some(tenant) = &settings.tenant {
        flag("--tenant", tenant.to_string());
    }
    for (name, path) in [("--runtime-dir", &host.runtime_dir), ("--model-dir", &host.model_dir)] {
        if let Some(path) = path {
            flag(name, path.display().to_string());
        }
    }
    arguments
}
