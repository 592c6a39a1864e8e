//! The generated pages in docs/.

use std::path::Path;

/// Fails if a page is out of date. Writes the page instead if `BUTLER_UPDATE_DOCS` is set.
fn check_page(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("BUTLER_UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = committed.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(
        committed == text,
        "docs/{name} is out of date (line {line:?}): regenerate it with BUTLER_UPDATE_DOCS=1 cargo test -p butler --test host reference"
    );
}

#[test]
fn the_command_reference_is_up_to_date() {
    check_page("cli.md", &butler::reference::cli());
}

#[test]
fn the_tool_reference_is_up_to_date() {
    check_page("tools.md", &butler::reference::tools());
}

#[test]
fn the_configuration_reference_is_up_to_date() {
    check_page("configuration.md", &butler::reference::configuration());
}

#[test]
fn the_page_about_data_lists_every_type_of_an_export_line() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data.md")).unwrap();
    let (_, listed) = page.split_once("has a `type` (").unwrap();
    let (listed, _) = listed.split_once(')').unwrap();
    for kind in butler_store::transfer::Kind::ALL {
        assert!(listed.contains(&format!("`{}`", kind.as_str())), "{}", kind.as_str());
    }
}
