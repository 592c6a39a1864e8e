//! The audit stream is written in one place, and only with event types that the domain knows.

use std::fs;
use std::path::{Path, PathBuf};

use butler_domain::event::EventType;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn only_record_event_and_an_import_insert_events() {
    let home = Path::new(CRATE);
    let mut inserting: Vec<String> = [home.join("functions"), home.join("src")]
        .iter()
        .flat_map(|folder| files(folder))
        .filter(|path| fs::read_to_string(path).unwrap().contains("INSERT INTO memory_events"))
        .map(|path| path.strip_prefix(home).unwrap().display().to_string())
        .collect();
    inserting.sort();
    assert_eq!(inserting, ["functions/record_event.sql", "src/transfer/write.rs"]);
}

/// The event types in the calls of record_event and record_events.
fn recorded(function: &str) -> Vec<&str> {
    let calls = function.split("PERFORM record_event").skip(1).filter_map(|call| call.split(';').next());
    let quoted = calls.flat_map(|call| call.split('\'').skip(1).step_by(2));
    let is_type = |text: &&str| {
        ["episode_", "fact_", "rule_", "link_", "entity_", "token_"].iter().any(|kind| text.starts_with(kind))
            && !["entity_id", "token_id"].contains(text)
    };
    quoted.filter(is_type).collect()
}

#[test]
fn functions_record_only_events_that_the_domain_knows() {
    let mut count = 0;
    for path in files(&Path::new(CRATE).join("functions")) {
        for name in recorded(&fs::read_to_string(&path).unwrap()) {
            count += 1;
            assert!(
                EventType::ALL.iter().any(|known| known.as_str() == name),
                "{}: {name} is no event type",
                path.display()
            );
        }
    }
    assert!(count >= 25, "the calls are no longer found: {count}");
}
