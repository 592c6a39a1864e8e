use butler_host::config::mask::mask;
use butler_host::config::show::{Origin, Setting, settings as butler_settings};
use butler_host::config::{self, ButlerConfig};
use butler_host::env;
use butler_host::error::HostError;
use serde_json::{Value, json};

use super::Settings;
use crate::printer::{Colour, Printer};

/// Show the configuration
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  butler config show\n  butler config show --roster butlers --json")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print the effective configuration and where each value comes from
    #[command(after_help = "Examples:\n  butler config show --config butler.toml\n  butler config show --json")]
    Show {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(args: &Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let Command::Show { json } = args.command;
    let butlers = selected(config::load_all(&settings.host.source)?, settings)?;
    let host = host_settings(settings);
    let failed = |error: serde_json::Error| HostError::Failed(error.to_string());
    if json {
        let butlers = butlers
            .iter()
            .map(|butler| {
                let file = butler.path.as_ref().map(|path| path.display().to_string());
                Ok(json!({"name": butler.name, "file": file, "settings": effective_settings(butler, settings).map_err(failed)?}))
            })
            .collect::<Result<Vec<Value>, HostError>>()?;
        printer.json(&json!({"host": host, "butlers": butlers}));
        return Ok(());
    }
    print(printer, "host", &host);
    for butler in &butlers {
        printer.line("");
        let file = butler.path.as_ref().map_or_else(|| "defaults".to_owned(), |path| path.display().to_string());
        print(
            printer,
            &format!("butler {} ({file})", butler.name),
            &effective_settings(butler, settings).map_err(failed)?,
        );
    }
    Ok(())
}

fn selected(butlers: Vec<ButlerConfig>, settings: &Settings) -> Result<Vec<ButlerConfig>, HostError> {
    let Some(name) = &settings.butler else { return Ok(butlers) };
    let known = butlers.iter().map(|butler| butler.name.clone()).collect::<Vec<_>>().join(", ");
    let found: Vec<ButlerConfig> = butlers.into_iter().filter(|butler| butler.name == *name).collect();
    if found.is_empty() {
        return Err(HostError::UnknownButler { name: name.clone(), known });
    }
    Ok(found)
}

/// The settings of a butler's file, overridden by flags and environment variables.
fn effective_settings(butler: &ButlerConfig, settings: &Settings) -> Result<Vec<Setting>, serde_json::Error> {
    let mut shown = butler_settings(butler)?;
    let origin = |id: &str| settings.origins.iter().find(|(key, _)| *key == id).map(|(_, origin)| *origin);
    let mut override_setting = |key: &str, value: Option<Value>, origin: Option<Origin>| {
        let setting = shown.iter_mut().find(|setting| setting.key == key);
        if let (Some(setting), Some(value), Some(origin)) = (setting, value, origin) {
            (setting.value, setting.origin) = (value, origin);
        }
    };
    let host = &settings.host;
    override_setting(
        "butler.database.url",
        host.database_url.as_deref().map(|url| json!(mask(url))),
        origin("database_url"),
    );
    let model_dir = host.model_dir.as_ref().map(|dir| json!(dir.display().to_string()));
    override_setting("modules.memory.embedding.model_dir", model_dir, origin("model_dir"));
    let text = |name: &str| env::var(name).map(|value| value.to_string_lossy().into_owned());
    let number = |text: String| text.trim().parse::<u32>().map_or_else(|_| json!(text), |number| json!(number));
    let list = |text: String| json!(text.split(',').collect::<Vec<_>>());
    for (key, value) in [
        ("server.allowed_hosts", text(env::ALLOWED_HOSTS).map(list)),
        ("server.tls_cert", text(env::TLS_CERT).map(Value::String)),
        ("server.tls_key", text(env::TLS_KEY).map(Value::String)),
        ("server.rate_limit", text(env::RATE_LIMIT).map(number)),
        ("telemetry.otlp_endpoint", text(env::OTLP_ENDPOINT).map(|url| json!(mask(&url)))),
    ] {
        override_setting(key, value, Some(Origin::Env));
    }
    Ok(shown)
}

fn host_settings(settings: &Settings) -> Vec<Setting> {
    let host = &settings.host;
    let path =
        |path: &Option<std::path::PathBuf>| path.as_ref().map_or(Value::Null, |it| json!(it.display().to_string()));
    let value = |id: &str| match id {
        "data_dir" => json!(host.data_dir.display().to_string()),
        "listen" => json!(settings.listen.to_string()),
        "database_url" => host.database_url.as_deref().map_or(Value::Null, |url| json!(mask(url))),
        "runtime_dir" => path(&host.runtime_dir),
        "model_dir" => path(&host.model_dir),
        "config" => match &host.source {
            config::Source::File(file) => json!(file.display().to_string()),
            _ => Value::Null,
        },
        "roster" => match &host.source {
            config::Source::Roster(dir) => json!(dir.display().to_string()),
            _ => Value::Null,
        },
        _ => Value::Null,
    };
    settings
        .origins
        .iter()
        .map(|(id, origin)| Setting { key: (*id).to_owned(), value: value(id), origin: *origin })
        .collect()
}

fn print(printer: Printer, title: &str, settings: &[Setting]) {
    printer.line(printer.on_out(&format!("# {title}"), Colour::Bold));
    let width = settings.iter().map(|setting| setting.key.len()).max().unwrap_or(0);
    for Setting { key, value, origin } in settings {
        let value = if value.is_null() { "(not set)".to_owned() } else { value.to_string() };
        let colour = if *origin == Origin::Default { Colour::Dim } else { Colour::Green };
        let origin = printer.on_out(&format!("# {}", origin.as_str()), colour);
        printer.line(format_args!("{key:width$} = {value}  {origin}"));
    }
}
