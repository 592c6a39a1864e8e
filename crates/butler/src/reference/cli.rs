use std::fmt::Write;

use clap::{Command, CommandFactory};

use super::GENERATED;
use crate::cli::Cli;

/// Line width of the help texts. The longest examples fit, and the page needs no horizontal scrolling.
const WIDTH: usize = 100;

/// The page with the help text of every command.
pub fn cli() -> String {
    let mut root = Cli::command().term_width(WIDTH).max_term_width(WIDTH);
    root.build();
    let mut page = format!(
        "{GENERATED}\n# Commands\n\nExit codes: 0 success, 1 failure, 2 invalid usage. Results go to stdout, everything else to \
         stderr. Progress and colour\nappear only on a terminal; `NO_COLOR` disables colour.\n\nEvery command accepts the \
         global options listed under `butler`. A command finds a running `butler serve` through the\ndata directory and \
         works with it. Without a running server it opens the database itself.\n"
    );
    write(&mut page, &root, true);
    page
}

fn write(page: &mut String, command: &Command, is_root: bool) {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    // Show the global options only once, under `butler`.
    let mut shown = command.clone().disable_help_flag(!is_root);
    if !is_root {
        shown = shown.mut_args(|argument| {
            if argument.get_help_heading() == Some("Global options") { argument.hide(true) } else { argument }
        });
    }
    let help = shown.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", help.join("\n").trim());
    for subcommand in command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        write(page, subcommand, false);
    }
}
