use butler_host::error::HostError;
use serde_json::json;

use super::installation::Method;
use crate::printer::Printer;

/// Show how this program was installed, the newest version and the command to upgrade
///
/// Butler does not replace itself: the package manager that installed it does. Butler asks that package manager for the
/// newest version, which needs network access.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  butler upgrade --check\n  butler upgrade --check --json")]
pub struct Args {
    /// Show the command, and change nothing
    #[arg(long, required = true)]
    check: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, printer: Printer) -> Result<(), HostError> {
    let (method, version) = (Method::of_this_program(), env!("CARGO_PKG_VERSION"));
    let newest = method.newest();
    if args.json {
        printer.json(&json!({"version": version, "installed_with": method.name(), "newest": newest.as_ref().ok(),
            "unknown_because": newest.as_ref().err(), "upgrade": method.upgrade()}));
        return Ok(());
    }
    printer.line(format_args!("version         {version}"));
    printer.line(format_args!("installed with  {}", method.name()));
    match &newest {
        Ok(newest) if newest == version => printer.line(format_args!("newest          {newest}, which is this one")),
        Ok(newest) => printer.line(format_args!("newest          {newest}")),
        Err(reason) => printer.line(format_args!("newest          unknown: {reason}")),
    }
    printer.line(format_args!("to upgrade      {}", method.upgrade()));
    Ok(())
}
