//! `butler login-link` prints a link that signs a person in to allow OAuth clients.

use butler_host::access::Rights;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::instance::create_data_dir;
use butler_host::oauth;
use serde_json::json;

use super::Settings;
use crate::printer::Printer;
use crate::progress;

/// Print a link that signs you in, to allow clients to use the memory
///
/// A client such as claude.ai that connects to `public_url` opens a page that asks you to sign in. Open this link in the
/// same browser. It works once, for ten minutes, and the browser then stays signed in for an hour. What you allow there
/// is limited to --tenant, --butler and --rights.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler login-link\n  \
    butler login-link --tenant ann --rights read\n  \
    butler login-link --butler health --json")]
pub struct Args {
    /// The most that you may allow a client, separated by commas
    #[arg(long, value_name = "RIGHTS", default_value = "read,write,admin")]
    rights: Rights,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    if args.rights.metrics {
        return Err(HostError::usage("a client cannot get the right `metrics`", "choose from read, write and admin"));
    }
    let host = Host::new(settings.host.clone())?;
    let Some(public_url) = host.server().public_url().map(str::to_owned) else {
        let hint =
            "add it to butler.toml and restart the server:\n  [server]\n  public_url = \"https://memory.example.com\"";
        return Err(HostError::usage("OAuth is off, because [server] has no public_url", hint));
    };
    if let Some(name) = &settings.butler {
        host.butler(Some(name))?;
    }
    create_data_dir(&settings.host.data_dir)?;
    host.start_databases(progress::on_stderr(settings.quiet)).await?;
    let tenant = settings.tenant.clone().unwrap_or_default();
    let outcome = match oauth::login_link(&host, tenant, settings.butler.clone(), args.rights).await {
        Ok((code, login)) => {
            let link = format!("{public_url}/oauth/login?code={code}");
            if args.json {
                printer.json(&json!({
                    "url": link, "expires_at": login.link_expires_at, "tenant": login.tenant, "butler": login.butler,
                    "rights": login.rights,
                }));
            } else {
                printer.line(link);
                printer.note("Open this link in the browser of the client. It works once, for ten minutes.");
            }
            Ok(())
        }
        Err(error) => Err(error),
    };
    let stopped = host.stop().await;
    outcome.and(stopped)
}
