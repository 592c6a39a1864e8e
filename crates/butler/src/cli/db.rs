use butler_host::error::HostError;
use butler_host::host::Host;
use serde_json::json;

use super::Settings;
use crate::printer::Printer;

/// The butlers' databases
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  psql \"$(butler db url)\"")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print the connection URL of a butler's database, for psql and other tools
    ///
    /// As the owner role, which sees all tenants. The private PostgreSQL must be running: it runs while `butler serve`
    /// does.
    #[command(after_help = "Examples:\n  psql \"$(butler db url)\"\n  butler db url --butler health --json")]
    Url {
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let Command::Url { json } = args.command;
    let tell = |url: &str| if json { printer.json(&json!({"url": url})) } else { printer.line(url) };
    let host = Host::new(settings.host.clone())?;
    let butler = host.butler(settings.butler.as_deref())?;
    if let Some(url) = host.external_url(&butler) {
        tell(url);
        return Ok(());
    }
    let name = butler.name.as_str();
    match butler_postgres::running(&settings.host.data_dir)? {
        Some(server) => {
            tell(&server.url(name));
            Ok(())
        }
        None => Err(HostError::NotServing { data_dir: settings.host.data_dir.clone() }),
    }
}
