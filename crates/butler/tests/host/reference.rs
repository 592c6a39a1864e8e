//! The pages in docs/ that are made from the program.

use std::path::Path;

/// Compares a page with what the program would write now, or writes it.
fn page(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("BUTLER_UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = committed.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(
        committed == text,
        "docs/{name} has drifted (line {line:?}): renew it with BUTLER_UPDATE_DOCS=1 cargo test -p butler --test host reference"
    );
}

#[test]
fn the_reference_of_commands_is_up_to_date() {
    page("cli.md", &butler::reference::cli());
}

#[test]
fn the_reference_of_tools_is_up_to_date() {
    page("tools.md", &butler::reference::tools());
}

#[test]
fn the_reference_of_the_configuration_is_up_to_date() {
    page("configuration.md", &butler::reference::configuration());
}
