//! Whatever stands in a file to import: what it holds, and what is wrong with which line.
#![no_main]

use butler_domain::TenantId;
use fuzz::{memory, wait};
use libfuzzer_sys::fuzz_target;
use butler_memory::transfer::{Foreign, ImportOptions, ImportReport, Line, recognise};

/// A file's beginning that is in order, so that the lines are looked at whatever became of theirs.
const HEADER: &str = r#"{"format":"butler-memory","version":1,"created_at":"2026-01-01T00:00:00Z","program":"fuzz","butler":"fuzz","tenant":"default","embedding":{"model":"fake","version":"1","dimensions":384},"counts":{}}"#;

fuzz_target!(|text: &str| {
    let _ = recognise(text);
    for beginning in [None, Some(HEADER)] {
        let mut lines = (1..).zip(beginning.into_iter().chain(text.lines()));
        let mut next = || Ok(lines.next().map(|(number, text)| Line { number, text: text.to_owned() }));
        if let Ok(report) = memory().check_export(&mut next) {
            holds(&report, text.lines().count() as u64 + 1);
        }
    }
    let options = ImportOptions { tenant: TenantId::default(), dry_run: true, partial: true };
    for format in [Foreign::Mem0, Foreign::McpMemory, Foreign::ClaudeCode] {
        match wait(memory().import_foreign(format, text, "notes", &options, &|_, _| ())) {
            Ok(report) => holds(&report, text.lines().count().max(1) as u64),
            // what it found may be there already, which only the database knows; here there is none
            Err(error) => assert!(format!("{error:?}").contains("Unavailable"), "{error}"),
        }
    }
});

fn holds(report: &ImportReport, lines: u64) {
    assert!(report.dry_run && !report.committed && report.created() == 0);
    assert!(report.lines <= lines);
    for problem in &report.problems {
        assert!(!problem.message.is_empty());
        assert!(problem.line.is_none_or(|line| (1..=lines).contains(&line)), "{problem:?}");
    }
}
