//! `butler connect` writes an agent's configuration, so that it uses the butler's memory.

mod change;
mod clients;
mod diff;
mod formats;
pub mod hooks;
mod json;
mod scan;
mod secret;

use clap::ValueEnum;
use serde_json::{Value, json};

use self::change::Change;
pub use self::clients::{Client, Scope};
use self::hooks::Hooks;
use self::json::EditError;
use self::secret::TokenPlace;
use butler_host::error::HostError;
use butler_host::session::Endpoint;
use butler_host::{env, instance};

use super::Settings;
use super::run::stdio_arguments;
use crate::printer::Printer;

/// Connect an agent: write its MCP configuration and, where it has them, its hooks
///
/// Shows each change, keeps a backup next to the file and leaves all other settings unchanged. Running it again changes
/// nothing. --undo removes what it added. A file that contains a token is readable by you only, and backups never
/// contain it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler connect claude-code             add MCP server and hooks\n  \
    butler connect claude-code --dry-run   show what would change\n  \
    butler connect cursor --scope project\n  \
    butler connect codex\n  \
    butler connect vscode --print          print the configuration to paste\n  \
    butler connect cursor --scope project --http --token-env BUTLER_TOKEN\n  \
    butler connect claude-code --undo")]
pub struct Args {
    /// Agent to connect
    client: Client,
    /// Scope of the configuration [default: user]
    #[arg(long, value_enum, default_value = "user", hide_default_value = true)]
    scope: Scope,
    /// Print the configuration in the agent's format, and write nothing
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
    /// Do not install hooks (Claude Code, Codex, Gemini CLI)
    #[arg(long)]
    no_hooks: bool,
    /// Also install a hook that adds memory to every prompt, not only at the start of a session (Claude Code, Codex,
    /// Gemini CLI)
    #[arg(long, conflicts_with = "no_hooks")]
    every_prompt: bool,
    /// Print the changed files as JSON (--print ignores this)
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let changes =
        if args.undo { Some(removals(args.client, args.scope)?) } else { additions(args, settings, printer)? };
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
        if change.removes_file() {
            printer.line("  the file is removed, because it contains nothing else");
        }
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
    if let Some(note) = args.client.note().filter(|_| !args.undo) {
        printer.note(note);
    }
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
    let client = args.client;
    let entry = client.entry(&endpoint(args, settings)?)?;
    let commands = hook_commands(args, settings)?;
    if args.print {
        print(args, &entry, &commands, printer)?;
        return Ok(None);
    }
    let servers = |text: &str| client.format().with_entry(text, client.servers_path(), &entry);
    let hooks = |text: &str, hooks: &Hooks| {
        let mut document = client.hooks_format().document(text)?;
        hooks.install(&mut document, &commands)?;
        Ok(document.text().to_owned())
    };
    changes((client, args.scope), Hooks::of(client).filter(|_| !commands.is_empty()), servers, hooks).map(Some)
}

/// Prints one document to stdout for each file, and the file that each part belongs to as a note.
fn print(args: &Args, entry: &Value, commands: &[(&str, String)], printer: Printer) -> Result<(), HostError> {
    let client = args.client;
    let file = client.servers_file(args.scope)?;
    let failed = |error: EditError| HostError::Failed(error.to_string());
    let mut text = client.format().with_entry("", client.servers_path(), entry).map_err(failed)?;
    printer.note(format_args!("add `{}` to {}", client.servers_path().join("."), file.display()));
    if let (Some(file), Some(hooks)) =
        (client.hooks_file(args.scope)?, Hooks::of(client).filter(|_| !commands.is_empty()))
    {
        printer.note(format_args!("add `hooks` to {}", file.display()));
        // JSON clients get one document, which a script can parse.
        let into = if client.format().is_json() { text.as_str() } else { "" };
        let mut document = client.hooks_format().document(into).map_err(failed)?;
        hooks.install(&mut document, commands).map_err(failed)?;
        let hooks = document.text().to_owned();
        text = if client.format().is_json() { hooks } else { format!("{text}\n{hooks}") };
    }
    printer.line(text.trim_end());
    Ok(())
}

fn removals(client: Client, scope: Scope) -> Result<Vec<Change>, HostError> {
    let servers = |text: &str| client.format().without_entry(text, client.servers_path());
    let hooks = |text: &str, hooks: &Hooks| {
        let mut document = client.hooks_format().document(text)?;
        hooks.uninstall(&mut document)?;
        Ok(document.text().to_owned())
    };
    changes((client, scope), Hooks::of(client), servers, hooks)
}

/// The changes that disconnect every connected client of the user. A file that cannot be edited is reported and left out.
pub fn connections(printer: Printer) -> Vec<(Client, Change)> {
    let mut found = Vec::new();
    for client in Client::value_variants() {
        match removals(*client, Scope::User) {
            Ok(changes) => found.extend(changes.into_iter().filter(Change::is_needed).map(|change| (*client, change))),
            Err(error) => printer.error(&error),
        }
    }
    found
}

/// Applies an edit to the file with the servers and one to the file with the hooks, which may be the same file.
fn changes(
    (client, scope): (Client, Scope),
    hooks: Option<&Hooks>,
    edit_servers: impl Fn(&str) -> Result<String, EditError>,
    edit_hooks: impl Fn(&str, &Hooks) -> Result<String, EditError>,
) -> Result<Vec<Change>, HostError> {
    let file = client.servers_file(scope)?;
    let hooks = hooks.zip(client.hooks_file(scope)?);
    let token = TokenPlace::of(client);
    Ok(match hooks {
        None => vec![Change::of(file, edit_servers)?.with_token_at(token)],
        Some((hooks, hooks_file)) if hooks_file == file => {
            vec![Change::of(file, |text| edit_hooks(&edit_servers(text)?, hooks))?.with_token_at(token)]
        }
        Some((hooks, hooks_file)) => vec![
            Change::of(file, edit_servers)?.with_token_at(token),
            Change::of(hooks_file, |text| edit_hooks(text, hooks))?,
        ],
    })
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
        let variable = args.client.variable(name);
        return variable.map(Some).ok_or_else(|| {
            let message = format!("the configuration of {} cannot name an environment variable", args.client.title());
            HostError::usage(message, "use --token instead; the file is then readable by you only")
        });
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
    let Some(hooks) = Hooks::of(args.client).filter(|_| !args.no_hooks) else { return Ok(Vec::new()) };
    let program = program()?;
    // The same flags as `butler mcp`, without the subcommand.
    let flags = stdio_arguments(settings.butler.as_deref(), settings).split_off(1);
    let command = |hook: &str| {
        let words = [program.clone(), "hook".to_owned(), hook.to_owned()];
        words.iter().chain(&flags).map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    };
    let prompt_event = args.every_prompt.then_some(&hooks.prompt_event);
    Ok(hooks.events.iter().chain(prompt_event).map(|(event, hook)| (*event, command(hook))).collect())
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
