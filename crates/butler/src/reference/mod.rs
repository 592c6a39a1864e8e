//! The reference pages in docs/, made from what they describe: a test fails when one has drifted.

mod cli;
mod configuration;
mod tools;

pub use cli::cli;
pub use configuration::configuration;
pub use tools::tools;

/// The first line of each page.
const MADE: &str =
    "<!-- Made by `BUTLER_UPDATE_DOCS=1 cargo test -p butler --test host reference`; edit the source instead. -->";

/// Text as a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
