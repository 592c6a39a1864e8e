//! `cargo xtask tidy`: house rules that the compiler does not check, each with the reason it gives when it fails.

mod docs;
mod rust;
mod sql;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::metadata::Metadata;
use crate::run::root;

/// A longer source file usually holds two ideas. Generated files and test tables are exempt by their folder.
const MAX_LINES: usize = 500;

/// A longer function usually does two things. Lines inside a string literal do not count. Neither do files of tests, which
/// may list many cases.
const MAX_FUNCTION_LINES: usize = 70;

struct Rule {
    applies: fn(&str) -> bool,
    forbidden: &'static [&'static str],
    reason: &'static str,
}

fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

/// The files that list what is forbidden.
fn is_tidy(path: &str) -> bool {
    path.starts_with("crates/xtask/src/tidy/")
}

const RULES: &[Rule] = &[
    Rule {
        applies: |path| is_rust(path) && path.starts_with("crates/store/src/"),
        forbidden: &["sqlx::query(&format!", "AssertSqlSafe(format!"],
        reason: "values are bound as parameters, never formatted into SQL",
    },
    Rule {
        applies: |path| is_rust(path) && path.starts_with("crates/domain/src/"),
        forbidden: &["async fn", "std::fs", "std::net", "tokio::"],
        reason: "butler-domain is pure: no IO, no async",
    },
    Rule {
        applies: is_rust,
        forbidden: &["#[allow(", "todo!(", "unimplemented!("],
        reason: "use #[expect(…, reason = …)] instead of #[allow], and leave no stubs",
    },
    Rule {
        applies: |_| true,
        forbidden: &[
            "/work/main",
            "/work/shared",
            "/tmp/w/",
            "/tmp/wt",
            "pypi.org",
            "files.pythonhosted",
            "registry.npmjs.org",
        ],
        reason: "the repository names no path of one machine and no host of a package registry",
    },
];

pub fn run() -> anyhow::Result<()> {
    let listed = Command::new("git").args(["ls-files"]).current_dir(root()).output().context("cannot run git")?;
    ensure!(listed.status.success(), "git ls-files failed: {}", String::from_utf8_lossy(&listed.stderr).trim());
    let mut problems = sql::check_dependencies(&Metadata::of_workspace()?);
    for path in String::from_utf8(listed.stdout)?.lines() {
        if let Ok(text) = fs::read_to_string(Path::new(&root()).join(path)) {
            check(path, &text, &mut problems);
        }
    }
    if !problems.is_empty() {
        bail!("house rules that are broken:\n  {}", problems.join("\n  "));
    }
    Ok(())
}

fn check(path: &str, text: &str, problems: &mut Vec<String>) {
    if is_tidy(path) {
        return;
    }
    if is_rust(path) && path.contains("/src/") && text.lines().count() > MAX_LINES {
        problems.push(format!("{path}: more than {MAX_LINES} lines: split it"));
    }
    if is_rust(path) && path.starts_with("crates/") && path.contains("/src/") && !path.ends_with("/tests.rs") {
        for (line, name, lines) in rust::functions(text) {
            if lines > MAX_FUNCTION_LINES {
                problems.push(format!("{path}:{line}: `{name}` has more than {MAX_FUNCTION_LINES} lines: split it"));
            }
        }
    }
    if is_rust(path) && sql::applies(path) {
        problems.extend(sql::find(text).iter().map(|(line, sql)| format!("{path}:{line}: `{sql}`: {}", sql::REASON)));
    }
    if is_rust(path) && docs::applies(path) {
        let undocumented = docs::find(text);
        problems.extend(undocumented.iter().map(|(line, name)| format!("{path}:{line}: `{name}`: {}", docs::REASON)));
    }
    for rule in RULES.iter().filter(|rule| (rule.applies)(path)) {
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = rule.forbidden.iter().find(|word| line.contains(**word)) {
                problems.push(format!("{path}:{}: `{word}`: {}", number + 1, rule.reason));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    fn problems(path: &str, text: &str) -> usize {
        let mut found = Vec::new();
        check(path, text, &mut found);
        found.len()
    }

    #[test]
    fn sql_outside_the_store_is_found() {
        assert_eq!(problems("crates/memory/src/a.rs", "ask(\"SELECT 1\")"), 1);
        assert_eq!(problems("crates/store/src/a.rs", "sqlx::query(\"SELECT 1\")"), 0);
    }

    #[test]
    fn text_formatted_into_sql_is_found() {
        assert_eq!(problems("crates/store/src/a.rs", "sqlx::query(AssertSqlSafe(format!(\"DROP TABLE {x}\")))"), 1);
    }

    #[test]
    fn paths_of_one_machine_are_found_in_every_kind_of_file() {
        for path in ["docs/a.md", "crates/memory/src/a.rs", "Cargo.toml"] {
            assert_eq!(problems(path, "see /tmp/wt/checks"), 1, "{path}");
            assert_eq!(problems(path, "see docs/a.md"), 0, "{path}");
        }
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(problems("crates/memory/src/a.rs", &"\n".repeat(501)), 1);
        assert_eq!(problems("crates/memory/tests/a.rs", &"\n".repeat(501)), 0);
    }

    #[test]
    fn a_long_function_is_found() {
        let function = |body: &str| format!("fn f() {{\n{body}}}\n");
        assert_eq!(problems("crates/memory/src/a.rs", &function(&"g();\n".repeat(69))), 1);
        assert_eq!(problems("crates/memory/src/a.rs", &function(&"g();\n".repeat(68))), 0);
        assert_eq!(problems("crates/memory/tests/a.rs", &function(&"g();\n".repeat(69))), 0);
        assert_eq!(problems("crates/memory/src/a.rs", &function(&format!("g(\"{}\");\n", "\n".repeat(69)))), 0);
    }
}
