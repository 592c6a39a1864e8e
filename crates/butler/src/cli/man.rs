use std::path::PathBuf;

use butler_host::error::HostError;
use clap::CommandFactory;

/// Print the manual page, or write all pages to a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  butler man | man -l -\n  butler man --dir ~/.local/share/man/man1")]
pub struct Args {
    /// Write butler.1 and a page for each command to this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<(), HostError> {
    let command = super::Cli::command();
    let Some(dir) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).map_err(HostError::Serve)?;
        return super::write_out(&page);
    };
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(command, dir))
        .map_err(HostError::io("write manual pages to", dir))
}
