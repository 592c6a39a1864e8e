//! SQL lives in crates/store only, whichever way it is spelled.

use super::rust::{Token, tokens};
use crate::metadata::Metadata;

/// Crates that may contain SQL: the store, and the tools of tests and measurements, which read the database directly.
const SPEAKERS: [&str; 4] = ["butler-store", "butler-bench", "butler-testkit", "butler-torture"];
/// The paths of these crates, and the task that creates the scratch database of `cargo xtask prepare`.
const FOLDERS: [&str; 5] =
    ["crates/store/", "crates/bench/", "crates/testkit/", "crates/torture/", "crates/xtask/src/prepare.rs"];

/// Database libraries. No other crate may link one; tests may, to look at the database.
const DRIVERS: [&str; 8] =
    ["sqlx", "sqlx-core", "sqlx-postgres", "tokio-postgres", "postgres", "diesel", "sea-orm", "rusqlite"];

/// Names that build or run a statement, whichever crate they come from.
const BUILDERS: [&str; 3] = ["QueryBuilder", "AssertSqlSafe", "raw_sql"];

pub const REASON: &str = "SQL lives in crates/store only";

/// Crates of the workspace that link a database library although they may not.
pub fn check_dependencies(workspace: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for package in workspace.packages.iter().filter(|package| !SPEAKERS.contains(&package.name.as_str())) {
        for dependency in &package.dependencies {
            if dependency.kind.as_deref() != Some("dev") && DRIVERS.contains(&dependency.name.as_str()) {
                problems.push(format!("{}: depends on `{}`: {REASON}", package.name, dependency.name));
            }
        }
    }
    problems
}

pub fn applies(path: &str) -> bool {
    let in_tests = path.contains("/tests/");
    !in_tests && path.starts_with("crates/") && !FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// The SQL in a Rust file: its line and what gave it away.
pub fn find(source: &str) -> Vec<(usize, String)> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    for (index, (line, token)) in tokens.iter().enumerate() {
        let rest: Vec<Token<'_>> = tokens[index + 1..].iter().take(LONGEST_USE).map(|(_, token)| *token).collect();
        let sql = match token {
            Token::Text(text) => is_statement(text).then(|| text.chars().take(40).collect()),
            Token::Word("sqlx") => of_sqlx(&rest).map(|name| format!("sqlx {name}")),
            Token::Word(name) if BUILDERS.contains(name) => Some((*name).to_owned()),
            // a macro, unlike the `!` of `query != other`
            Token::Word(name) if name.starts_with("query") => match rest[..] {
                [Token::Punctuation("!"), Token::Punctuation("(" | "[" | "{"), ..] => Some(format!("{name}!")),
                _ => None,
            },
            _ => None,
        };
        found.extend(sql.map(|sql| (*line, sql)));
    }
    found
}

/// More tokens than any `use` has in this project.
const LONGEST_USE: usize = 60;

/// What a path or a `use` takes from sqlx to run statements with: one of its query functions, all of it, or a new name
/// for it.
fn of_sqlx(rest: &[Token<'_>]) -> Option<String> {
    let runs = |word: &str| word.starts_with("query") || BUILDERS.contains(&word);
    match rest {
        [Token::Word("as"), Token::Word(name), ..] => Some(format!("as {name}")),
        [Token::Punctuation("::"), Token::Word(name), ..] => runs(name).then(|| format!(":: {name}")),
        [Token::Punctuation("::"), Token::Punctuation("*"), ..] => Some(":: *".to_owned()),
        [Token::Punctuation("::"), Token::Punctuation("{"), list @ ..] => {
            let end = list.iter().position(|token| *token == Token::Punctuation(";")).unwrap_or(list.len());
            list[..end].iter().enumerate().find_map(|(at, token)| match token {
                Token::Word(name) if runs(name) => Some(format!(":: {{{name}}}")),
                Token::Word("self") if list.get(at + 1) == Some(&Token::Word("as")) => {
                    Some(":: {self as …}".to_owned())
                }
                _ => None,
            })
        }
        _ => None,
    }
}

/// Verbs of statements that define or maintain objects. Prose does not put these words in capitals before another one.
const DEFINITIONS: [&str; 14] = [
    "ALTER", "ANALYZE", "CALL", "COPY", "CREATE", "DROP", "EXPLAIN", "GRANT", "LOCK", "MERGE", "REINDEX", "REVOKE",
    "TRUNCATE", "VACUUM",
];

/// Whether a text is an SQL statement: it begins with a verb in capitals, or in any case with the form of a statement.
fn is_statement(text: &str) -> bool {
    let text = text.replace("\\n", " ").replace("\\t", " ");
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\\' || c == '(');
    let mut words = text.split_whitespace();
    let (Some(verb), Some(second)) = (words.next(), words.next()) else { return false };
    if ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(&verb) {
        return true;
    }
    if DEFINITIONS.contains(&verb) && second.starts_with(|c: char| c.is_ascii_uppercase()) {
        return true;
    }
    let has = |word: &str| text.split_whitespace().any(|other| other.eq_ignore_ascii_case(word));
    match verb.to_ascii_lowercase().as_str() {
        "select" => has("from"),
        "insert" => second.eq_ignore_ascii_case("into"),
        "delete" => second.eq_ignore_ascii_case("from"),
        "update" => has("set"),
        "with" => has("as") && has("select"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn is_found(source: &str) {
        assert!(!find(source).is_empty(), "not found: {source}");
    }

    #[test]
    fn a_query_is_found_whichever_way_it_is_spelled() {
        is_found("sqlx::query(sql).execute(db)");
        is_found("sqlx :: query(sql)");
        is_found("sqlx::\n    query_as::<_, Row>(sql)");
        is_found("butler_store::sqlx::query_scalar(sql)");
        is_found("sqlx::query!(sql)");
        is_found("query_as!(Row, sql)");
        is_found("query_file!{\"a.sql\"}");
        is_found("sqlx::raw_sql(sql)");
        is_found("raw_sql(sql)");
        is_found("QueryBuilder::new(start)");
        is_found("use sqlx::query;");
        is_found("use sqlx::query as ask;");
        is_found("use sqlx::{Connection, query_as};");
        is_found("use sqlx::{\n    Connection,\n    postgres::{PgConnection},\n    query as ask,\n};");
        is_found("use sqlx::*;");
        is_found("use sqlx as database;");
        is_found("use sqlx::{self as database};");
        is_found("extern crate sqlx as database;");
    }

    #[test]
    fn a_statement_in_a_string_is_found() {
        is_found(r#"db.execute("SELECT 1")"#);
        is_found(r##"db.execute(r#"INSERT INTO "facts" DEFAULT VALUES"#)"##);
        is_found("db.execute(\"\n    UPDATE facts SET validity = 'active'\")");
        is_found(r#"db.execute("\n DELETE FROM facts")"#);
        is_found(r#"db.execute("WITH a AS (SELECT 1) SELECT * FROM a")"#);
        is_found(r#"db.execute("select id from facts")"#);
        is_found(r#"db.execute("delete from facts")"#);
        is_found(r#"db.execute("(SELECT 1)")"#);
        is_found(r#"db.execute("DROP TABLE facts")"#);
        is_found(r#"db.execute("CREATE INDEX ON facts (id)")"#);
    }

    #[test]
    fn prose_comments_and_connection_options_are_not_sql() {
        for source in [
            "// sqlx::query(\"SELECT 1\")",
            r#"error("Select a butler first")"#,
            r#"error("with a token of the tenant")"#,
            r#"error("update the program")"#,
            r#"error("DROP is not a tool")"#,
            r#"filter("sqlx=error")"#,
            "use sqlx::postgres::PgConnectOptions;",
            "let query = input.query; query(&input)",
            "if query != other {}",
        ] {
            assert_eq!(find(source), [], "{source}");
        }
    }

    #[test]
    fn the_line_of_the_statement_is_given() {
        assert_eq!(find("\n\nsqlx::query(sql)"), [(3, "sqlx :: query".to_owned())]);
    }

    #[test]
    fn a_database_library_is_found_under_any_name_but_tests_may_have_it() {
        let depends = |package: &str, kind: Option<&str>| {
            let dependency = json!({"name": "sqlx", "rename": "database", "req": "^0.9", "kind": kind, "path": null});
            let package = json!({"id": "1", "name": package, "version": "0.1.0", "license": null, "source": null,
                "dependencies": [dependency]});
            let metadata = json!({"packages": [package], "workspace_members": ["1"]});
            check_dependencies(&Metadata::parse(metadata.to_string().as_bytes()).unwrap()).len()
        };
        assert_eq!(depends("butler-memory", None), 1);
        assert_eq!(depends("butler-memory", Some("build")), 1);
        assert_eq!(depends("butler-memory", Some("dev")), 0);
        assert_eq!(depends("butler-store", None), 0);
        assert_eq!(depends("butler-torture", None), 0);
    }

    #[test]
    fn the_store_the_measurements_and_tests_may_contain_sql() {
        assert!(applies("crates/memory/src/a.rs") && applies("crates/server/src/a.rs"));
        assert!(!applies("crates/store/src/a.rs") && !applies("crates/bench/src/a.rs"));
        assert!(!applies("crates/memory/tests/a.rs"));
    }
}
