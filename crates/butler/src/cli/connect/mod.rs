//! `butler connect` writes an agent's configuration, so that it uses the butler's memory.

mod change;
mod clients;
mod diff;
pub mod hooks;
mod json;
mod scan;
mod secret;

use clap::ValueEnum;
use serde_json::{Value, json};

use self::change::Change;
pub use self::clients::{Client, Scope};
use self::secret::TokenPlace;
use butler_host::error::HostError;
use butler_host::session::{Endpoint, SERVER_NAME};
use butler_host::{env, instance};

use super::Settings;
use super::run::stdio_arguments;
use crate::printer::Printer;

/// Connect an agent: write its MCP configuration and, for Claude Code, its hooks
///
/// Shows each change, keeps a backup next to the file and leaves all other settings unchanged. Running it again changes
/// nothing. --undo removes what it added. A file that contains a token is readable by you only, and backups never
/// contain it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler connect claude-code                 add MCP server and hooks for every project\n  \
    butler connect claude-code --dry-run       show what would change\n  \
    butler connect cursor --scope project\n  \
    butler connect vscode --print              print the configuration to paste\n  \
    butler connect cursor --scope project --http --token-env BUTLER_TOKEN\n  \
    butler connect claude-code --undo")]
pub struct Args {
    /// Agent to connect
    client: Client,
    /// Scope of the configuration [default: user]
    #[arg(long, value_enum, default_value = "user", hide_default_value = true)]
    scope: Scope,
    /// Print the configuration as one JSON document, and write nothing
    #[arg(long, conflicts_with_all = ["undo", "dry_run"])]
    print: bool,
    /// Show what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Remove what this command added
    #[arg(long)]
    undo: bool,
    /// Connect over HTTP to a running server instead of starting `butler mcp` [default URL: the server of this data
    /// directory]
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    http: Option<String>,
    /// Bearer token for --http, as printed by `butler token create`; not for --scope project
    #[arg(long, value_name = "TOKEN", requires = "http")]
    token: Option<String>,
    /// Environment variable from which the agent reads the bearer token for --http, so that no file contains it
    #[arg(long, value_name = "NAME", requires = "http", conflicts_with = "token")]
    token_env: Option<String>,
    /// Do not install hooks (Claude Code)
    #[arg(long)]
    no_hooks: bool,
    /// Also install a hook that adds memory to every prompt, not only at the start of a session (Claude Code)
    #[arg(long, conflicts_with = "no_hooks")]
    every_prompt: bool,
    /// Print the changed files as JSON (--print always prints JSON)
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let changes = if args.undo { removals(args)? } else { additions(args, settings, printer)? };
    let Some(changes) = changes else { return Ok(()) };
    if args.undo && !args.dry_run {
        changes.iter().try_for_each(Change::scrub_backups)?;
    }
    let needed: Vec<&Change> = changes.iter().filter(|change| change.is_needed()).collect();
    if args.json {
        return apply_and_print_json(args, &needed, printer);
    }
    if needed.is_empty() {
        let state = if args.undo { "is not connected" } else { "is already connected" };
        printer.line(format_args!("{} {state}: nothing to change", args.client.title()));
        return Ok(());
    }
    for change in &needed {
        printer.line(change.path().display());
        change.show(printer);
        if args.dry_run {
            continue;
        }
        if let Some(backup) = change.write()? {
            printer.line(format_args!("  backup: {}", backup.display()));
        }
    }
    printer.line(match (args.dry_run, args.undo) {
        (true, _) => "dry run: nothing was written".to_owned(),
        (false, true) => format!("{} is disconnected", args.client.title()),
        (false, false) => format!("{} is connected; restart it to load the configuration", args.client.title()),
    });
    if args.undo && needed.iter().any(|change| change.removes_token()) {
        printer.note("if no other agent uses the token, revoke it: butler token list, then butler token revoke ID");
    }
    Ok(())
}

/// Writes the changes and prints the files and their backups as JSON.
fn apply_and_print_json(args: &Args, needed: &[&Change], printer: Printer) -> Result<(), HostError> {
    let mut files = Vec::new();
    for change in needed {
        let backup = if args.dry_run { None } else { change.write()? };
        files.push(json!({"file": change.path(), "backup": backup}));
    }
    let client = args.client.to_possible_value().map(|value| value.get_name().to_owned());
    printer.json(&json!({"client": client, "undo": args.undo, "dry_run": args.dry_run, "changed": files}));
    Ok(())
}

/// Computes the changes that connect the client. Returns `None` if the configuration was only printed.
fn additions(args: &Args, settings: &Settings, printer: Printer) -> Result<Option<Vec<Change>>, HostError> {
    let entry = args.client.entry(&endpoint(args, settings)?)?;
    let hooks = hook_commands(args, settings)?;
    if args.print {
        print(args, &entry, &hooks, printer)?;
        return Ok(None);
    }
    let key = [args.client.servers_key(), SERVER_NAME];
    let file = args.client.servers_file(args.scope)?;
    let mut changes = vec![
        Change::of(file, args.client.allows_comments(), |document| {
            if document.get(&key) == Some(entry.clone()) { Ok(()) } else { document.set(&key, &entry) }
        })?
        .with_token_at(TokenPlace::of(args.client)),
    ];
    if let Some(file) = args.client.hooks_file(args.scope)?.filter(|_| !hooks.is_empty()) {
        changes.push(Change::of(file, false, |document| hooks::install(document, &hooks))?);
    }
    Ok(Some(changes))
}

/// Prints one JSON document to stdout, and the file that each part belongs to as a note.
fn print(args: &Args, entry: &Value, hooks: &[(&str, String)], printer: Printer) -> Result<(), HostError> {
    let mut document = args.client.snippet(entry);
    let servers = args.client.servers_key();
    let file = args.client.servers_file(args.scope)?;
    printer.note(format_args!("add `{servers}` to {}", file.display()));
    if let Some(file) = args.client.hooks_file(args.scope)?.filter(|_| !hooks.is_empty()) {
        let groups = hooks.iter().map(|(event, command)| ((*event).to_owned(), json!([hooks::group(command)])));
        document["hooks"] = groups.collect::<serde_json::Map<String, Value>>().into();
        printer.note(format_args!("add `hooks` to {}", file.display()));
    }
    printer.json(&document);
    Ok(())
}

fn removals(args: &Args) -> Result<Option<Vec<Change>>, HostError> {
    let servers = args.client.servers_key();
    let file = args.client.servers_file(args.scope)?;
    let mut changes = vec![
        Change::of(file, args.client.allows_comments(), |document| {
            if document.get(&[servers, SERVER_NAME]).is_none() {
                return Ok(());
            }
            document.remove(&[servers, SERVER_NAME])?;
            if document.get(&[servers]) == Some(json!({})) { document.remove(&[servers]) } else { Ok(()) }
        })?
        .with_token_at(TokenPlace::of(args.client)),
    ];
    if let Some(file) = args.client.hooks_file(args.scope)? {
        changes.push(Change::of(file, false, hooks::uninstall)?);
    }
    Ok(Some(changes))
}

fn endpoint(args: &Args, settings: &Settings) -> Result<Endpoint, HostError> {
    let Some(url) = &args.http else {
        return Ok(Endpoint::Stdio {
            command: program()?,
            arguments: stdio_arguments(settings.butler.as_deref(), settings),
            environment: Vec::new(),
        });
    };
    let url = if url.is_empty() {
        let server = instance::running(&settings.host.data_dir)
            .ok_or_else(|| HostError::NotServing { data_dir: settings.host.data_dir.clone() })?;
        match &settings.butler {
            Some(butler) => format!("{}/butlers/{butler}/mcp", server.url),
            None => format!("{}/mcp", server.url),
        }
    } else {
        url.clone()
    };
    Ok(Endpoint::Http { url, bearer: bearer(args)? })
}

/// The bearer token, or the client's reference to the variable that holds it.
fn bearer(args: &Args) -> Result<Option<String>, HostError> {
    if let Some(name) = &args.token_env {
        if !env::is_name(name) {
            let message = format!("{name:?} is not the name of an environment variable");
            return Err(HostError::usage(message, "for example: --token-env BUTLER_TOKEN"));
        }
        return Ok(Some(args.client.variable(name)));
    }
    if args.token.is_some() && args.scope == Scope::Project {
        return Err(HostError::usage(
            "the configuration of a project is shared, so it must not contain a token",
            "use --token-env BUTLER_TOKEN instead and set that variable for the agent, or use --scope user",
        ));
    }
    Ok(args.token.clone())
}

fn hook_commands(args: &Args, settings: &Settings) -> Result<Vec<(&'static str, String)>, HostError> {
    if args.no_hooks || args.client != Client::ClaudeCode {
        return Ok(Vec::new());
    }
    let program = program()?;
    // The same flags as `butler mcp`, without the subcommand.
    let flags = stdio_arguments(settings.butler.as_deref(), settings).split_off(1);
    let command = |hook: &str| {
        let words = [program.clone(), "hook".to_owned(), hook.to_owned()];
        words.iter().chain(&flags).map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    };
    let prompt_event = args.every_prompt.then_some(hooks::PROMPT_EVENT);
    Ok(hooks::EVENTS.into_iter().chain(prompt_event).map(|(event, hook)| (event, command(hook))).collect())
}

fn program() -> Result<String, HostError> {
    Ok(std::env::current_exe().map_err(HostError::io("find", "butler"))?.display().to_string())
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
