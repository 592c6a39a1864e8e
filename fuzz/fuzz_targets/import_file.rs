//! Any text as a file to import: no panic, and each problem names a line of the file.
#![no_main]

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_memory::transfer::{ForeignFormat, ImportOptions, ImportReport, Line, detect_format};
use fuzz::{memory, wait};
use libfuzzer_sys::fuzz_target;

/// A valid header, so that the lines are read even if the input's own header is invalid.
const HEADER: &str = r#"{"format":"butler-memory","version":1,"created_at":"2026-01-01T00:00:00Z","program":"fuzz","butler":"fuzz","tenant":"default","embedding":{"model":"fake","version":"1","dimensions":384},"counts":{}}"#;

fuzz_target!(|text: &str| {
    let _ = detect_format(text);
    for beginning in [None, Some(HEADER)] {
        let mut lines = (1..).zip(beginning.into_iter().chain(text.lines()));
        let mut next = || Ok(lines.next().map(|(number, text)| Line { number, text: text.to_owned() }));
        if let Ok(report) = memory().check_export(&mut next) {
            holds(&report, text.lines().count() as u64 + 1);
        }
    }
    let options = ImportOptions { tenant: TenantId::default(), dry_run: true, partial: true, origin: Origin::default() };
    for format in [ForeignFormat::Mem0, ForeignFormat::McpMemory, ForeignFormat::ClaudeCode] {
        match wait(memory().import_foreign(format, text, "notes", &options, &|_, _| ())) {
            Ok(report) => holds(&report, text.lines().count().max(1) as u64),
            // only the database knows which memories exist already, and it is closed here
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
