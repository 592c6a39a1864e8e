use super::Settings;
use crate::error::HostError;
use crate::host::Host;
use crate::printer::Printer;

/// The butlers' databases
#[derive(Debug, clap::Args)]
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
    #[command(after_help = "Examples:\n  psql \"$(butler db url)\"\n  butler db url --butler health")]
    Url,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let Command::Url = args.command;
    let host = Host::new(settings.host.clone())?;
    let butler = host.butler(settings.butler.as_deref())?;
    if let Some(url) = host.own_url(&butler) {
        printer.line(url);
        return Ok(());
    }
    let name = butler.name.as_str();
    match postgres::running(&settings.host.data_dir)? {
        Some(server) => {
            printer.line(server.url(name));
            Ok(())
        }
        None => Err(HostError::NotServing { data_dir: settings.host.data_dir.clone() }),
    }
}
