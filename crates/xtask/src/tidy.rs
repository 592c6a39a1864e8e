//! House rules that no compiler checks, each with the reason it gives when it fails.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::run::root;

/// A file beyond this is two ideas. Generated files and test tables are exempt by their folder.
const MAX_LINES: usize = 500;

struct Rule {
    applies: fn(&str) -> bool,
    forbidden: &'static [&'static str],
    reason: &'static str,
}

fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

fn is_tidy(path: &str) -> bool {
    path.ends_with("xtask/src/tidy.rs")
}

const RULES: &[Rule] = &[
    Rule {
        // the measurements and the tests' own tools look behind the curtain
        applies: |path| {
            is_rust(path)
                && path.contains("/src/")
                && !["crates/store/", "crates/bench/", "crates/testkit/", "crates/torture/"]
                    .iter()
                    .any(|home| path.starts_with(home))
        },
        forbidden: &["sqlx::query", "QueryBuilder"],
        reason: "SQL lives in crates/store alone",
    },
    Rule {
        applies: |path| is_rust(path) && path.starts_with("crates/store/src/"),
        forbidden: &["sqlx::query(&format!", "AssertSqlSafe(format!"],
        reason: "no text is formatted into SQL; it is a parameter",
    },
    Rule {
        applies: |path| is_rust(path) && path.starts_with("crates/domain/src/"),
        forbidden: &["async fn", "std::fs", "std::net", "tokio::"],
        reason: "domain is pure: no IO, no async",
    },
    Rule {
        applies: is_rust,
        forbidden: &["#[allow(", "todo!(", "unimplemented!("],
        reason: "#[expect(…, reason = …)] instead of #[allow]; no stub is called done",
    },
    Rule {
        applies: |_| true,
        forbidden: &["/work/main", "/work/shared", "/tmp/w/", "pypi.org", "files.pythonhosted", "registry.npmjs.org"],
        reason: "no path of one machine and no registry's host name in the repository",
    },
];

pub fn run() -> anyhow::Result<()> {
    let listed = Command::new("git").args(["ls-files"]).current_dir(root()).output().context("cannot run git")?;
    let mut problems = Vec::new();
    for path in String::from_utf8(listed.stdout)?.lines() {
        if let Ok(text) = fs::read_to_string(Path::new(&root()).join(path)) {
            check(path, &text, &mut problems);
        }
    }
    if !problems.is_empty() {
        bail!("house rules:\n  {}", problems.join("\n  "));
    }
    Ok(())
}

fn check(path: &str, text: &str, problems: &mut Vec<String>) {
    // this file names what is forbidden
    if is_tidy(path) {
        return;
    }
    if is_rust(path) && path.contains("/src/") && text.lines().count() > MAX_LINES {
        problems.push(format!("{path}: more than {MAX_LINES} lines; it is probably two ideas"));
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
    fn sql_outside_store_is_found() {
        assert_eq!(problems("crates/memory/src/a.rs", "sqlx::query(\"SELECT 1\")"), 1);
        assert_eq!(problems("crates/store/src/a.rs", "sqlx::query(\"SELECT 1\")"), 0);
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(problems("crates/memory/src/a.rs", &"\n".repeat(501)), 1);
    }
}
