use butler_host::error::HostError;
use clap::CommandFactory;
use clap_complete::Shell;

/// Print the completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler completions bash > ~/.local/share/bash-completion/completions/butler\n  \
    butler completions zsh > \"${fpath[1]}/_butler\"\n  \
    butler completions fish > ~/.config/fish/completions/butler.fish")]
pub struct Args {
    /// Shell to generate the script for
    shell: Shell,
}

pub fn run(args: &Args) -> Result<(), HostError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::Cli::command(), "butler", &mut script);
    super::write_out(&script)
}
