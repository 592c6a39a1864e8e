use std::fmt::Write;

use clap::{Command, CommandFactory};

use super::MADE;
use crate::cli::Cli;

/// Wide enough for examples, narrow enough for a page.
const WIDTH: usize = 100;

/// Every command with its help.
pub fn cli() -> String {
    let mut root = Cli::command().term_width(WIDTH).max_term_width(WIDTH);
    root.build();
    let mut page = format!(
        "{MADE}\n# Commands\n\nExit codes: 0 done, 1 failed, 2 wrong usage. Results go to stdout, everything else to stderr; \
         progress and colour only to\na terminal (`NO_COLOR` is respected). Every command takes the global options shown \
         with `butler` itself, finds a running\n`butler serve` through the data directory and works with it, or opens the \
         database itself.\n"
    );
    write(&mut page, &root, true);
    page
}

fn write(page: &mut String, command: &Command, is_root: bool) {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    // The global options are the same everywhere: once is enough.
    let mut shown = command.clone().disable_help_flag(!is_root);
    if !is_root {
        shown = shown.mut_args(|argument| if argument.is_global_set() { argument.hide(true) } else { argument });
    }
    let help = shown.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", help.join("\n").trim());
    for subcommand in command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        write(page, subcommand, false);
    }
}
