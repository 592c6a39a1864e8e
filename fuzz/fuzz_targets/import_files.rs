//! Whatever is given to `butler import`: no panic, and every problem has its line. All four formats; the first byte says
//! which, or leaves it to be recognised.
#![no_main]

use domain::TenantId;
use fuzz::{MEMORY, wait};
use libfuzzer_sys::fuzz_target;
use memory::transfer::{Foreign, ImportOptions, Line, ModelName, Source, readable, recognise};

fuzz_target!(|input: &str| {
    let mut rest = input.chars();
    let which = rest.next();
    let text = rest.as_str();
    match which {
        Some('b') => own(text),
        Some('m') => foreign(Foreign::Mem0, text),
        Some('k') => foreign(Foreign::McpMemory, text),
        Some('c') => foreign(Foreign::ClaudeCode, text),
        _ => match recognise(text) {
            Source::Butler => own(text),
            Source::Foreign(format) => foreign(format, text),
        },
    }
});

fn options() -> ImportOptions {
    ImportOptions { tenant: TenantId::new("fuzz").expect("a name"), dry_run: true, partial: true }
}

fn own(text: &str) {
    let model = ModelName { model: "fake".to_owned(), version: "1".to_owned(), dimensions: 4 };
    let mut lines = text.lines().zip(1..).map(|(text, number)| Line { number, text: text.to_owned() });
    for line in lines.clone().skip(1) {
        if let Err(problem) = readable(&line, &model) {
            assert!(!problem.is_empty());
        }
    }
    // the header, and then the database that is away
    let mut next = move || Ok(lines.next());
    assert!(wait(MEMORY.import(&mut next, &options(), &|_| {})).is_err());
}

fn foreign(format: Foreign, text: &str) {
    let report = wait(MEMORY.import_foreign(format, text, "file", &options(), &|_, _| {})).expect("a dry run");
    assert!(!report.committed);
    for problem in &report.problems {
        assert!(problem.line.is_none_or(|line| line <= text.lines().count() as u64 + 1), "{problem:?}");
    }
}
