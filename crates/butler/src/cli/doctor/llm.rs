//! Checks that the LLM for consolidation is configured and installed.

use std::path::Path;

use butler_host::butler::Butler;
use butler_host::config::{RuntimeSection, RuntimeType};
use butler_host::{env, runtime};

use super::check::Check;

const NAME: &str = "llm";

pub fn check(butler: &Butler) -> Check {
    let name = &butler.name;
    let Some(section) = &butler.config.file.butler.runtime else {
        return Check::skipped(
            NAME,
            format!("{name}: not configured, so consolidation only counts episodes; configure it in [butler.runtime]"),
        );
    };
    match runtime::from_config(section) {
        Err(error) => {
            let remedy = error.hint().unwrap_or_else(|| "fix or remove [butler.runtime]".to_owned());
            Check::failed(NAME, format!("{name}: {error}"), remedy)
        }
        Ok(runtime) => match missing_program(section) {
            Some(program) => Check::failed(
                NAME,
                format!("{name}: the program {program} was not found"),
                format!("install {program}, or set another command in [butler.runtime]"),
            ),
            None => Check::passed(NAME, format!("{name}: {}", runtime.describe())),
        },
    }
}

/// Returns the configured program if it is not installed. It does not call the model, because that may cost money.
fn missing_program(section: &RuntimeSection) -> Option<&str> {
    let program = section.command.first().filter(|_| section.kind == RuntimeType::Command)?;
    let found = if program.contains('/') {
        Path::new(program).is_file()
    } else {
        let path = env::var("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    (!found).then_some(program)
}
