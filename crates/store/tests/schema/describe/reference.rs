//! `docs/schema.md`, made from the catalogue.

use std::fmt::Write as _;
use std::path::Path;

use sqlx::{PgConnection, Row};

const INTRODUCTION: &str = "# Schema

Made from the database itself by `cargo xtask prepare`; a test fails when it drifts. The tables are defined in
`crates/store/schema`, the functions in `crates/store/functions`. ARCHITECTURE.md says how to change them.

The owner may do everything. `butler_app` serves requests: row-level security shows it the rows of one tenant.
`butler_retention` may delete old events. A function that runs as its owner checks the tenant itself.
";

const RELATIONS: &str = "
    SELECT c.relname::text, c.oid::regclass::oid::bigint, obj_description(c.oid, 'pg_class'), c.relkind = 'c',
           array_to_string(c.reloptions, ', '), c.relrowsecurity, obj_description(c.reltype, 'pg_type')
    FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'c') ORDER BY c.relkind DESC, c.relname";
const COLUMNS: &str = "
    SELECT a.attname::text, format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN '' ELSE ', nullable' END,
           CASE WHEN a.attgenerated <> '' THEN 'generated: ' ELSE '' END || pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum)
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid::bigint = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";
/// Under which heading, and the text.
const PARTS: &str = r"
    SELECT heading, line FROM (
        SELECT 1 AS part, 'Constraints' AS heading, conname || ': ' || pg_get_constraintdef(oid) AS line
            FROM pg_constraint WHERE conrelid::bigint = $1 AND contype <> 'n'
        UNION ALL
        SELECT 2, 'Indexes', i.relname || ': ' || regexp_replace(pg_get_indexdef(i.oid), '^CREATE (UNIQUE )?INDEX .* USING ', '\1')
            FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid::bigint = $1 AND NOT x.indisprimary
        UNION ALL
        SELECT 3, 'Policies', polname || ' for ' || array_to_string(ARRAY(SELECT CASE pg_get_userbyid(role) WHEN current_user THEN 'the owner'
                       ELSE pg_get_userbyid(role)::text END FROM unnest(polroles) role), ', ') || coalesce(': ' || pg_get_expr(polqual, polrelid), '')
            FROM pg_policy WHERE polrelid::bigint = $1
        UNION ALL
        SELECT 4, 'Grants', pg_get_userbyid(grantee) || ': ' || string_agg(privilege_type, ', ' ORDER BY privilege_type)
            FROM pg_class, aclexplode(relacl) WHERE oid::bigint = $1 AND grantee <> relowner GROUP BY grantee
        UNION ALL
        SELECT 5, 'Triggers', regexp_replace(pg_get_triggerdef(oid), '^CREATE TRIGGER ', '') FROM pg_trigger
            WHERE tgrelid::bigint = $1 AND NOT tgisinternal
    ) parts ORDER BY part, line";
const FUNCTIONS: &str = "
    SELECT p.proname::text, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid), obj_description(p.oid, 'pg_proc'),
           CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END || CASE WHEN prosecdef THEN ', runs as its owner' ELSE '' END,
           CASE WHEN proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0) THEN 'everybody'
                ELSE coalesce((SELECT string_agg(pg_get_userbyid(grantee), ', ') FROM aclexplode(proacl) WHERE grantee <> proowner), 'the owner') END
    FROM pg_proc p WHERE pronamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e') ORDER BY 1";

pub async fn reference(conn: &mut PgConnection) -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut last_kind = None;
    for relation in sqlx::query(RELATIONS).fetch_all(&mut *conn).await.unwrap() {
        let (name, oid, is_type): (String, i64, bool) = (relation.get(0), relation.get(1), relation.get(3));
        if last_kind != Some(is_type) {
            page.push_str(if is_type { "\n## Types\n" } else { "\n## Tables\n" });
            last_kind = Some(is_type);
        }
        let comment: Option<String> = relation.get(if is_type { 6 } else { 2 });
        let comment = comment.unwrap_or_else(|| panic!("{name} has no comment"));
        let _ = write!(page, "\n### {name}\n{comment}\n\n| column | type | default | meaning |\n|---|---|---|---|\n");
        for column in sqlx::query(COLUMNS).bind(oid).fetch_all(&mut *conn).await.unwrap() {
            let cell = |at: usize| column.get::<Option<String>, _>(at).unwrap_or_default().replace('|', "\\|");
            let default = if cell(2).is_empty() { String::new() } else { format!("`{}`", cell(2)) };
            let _ = writeln!(page, "| {} | {} | {default} | {} |", cell(0), cell(1), cell(3));
        }
        let mut heading = String::new();
        for part in sqlx::query(PARTS).bind(oid).fetch_all(&mut *conn).await.unwrap() {
            let (next, line): (String, String) = (part.get(0), part.get(1));
            if next != heading {
                let _ = write!(page, "\n{next}\n");
                heading = next;
            }
            let _ = writeln!(page, "- `{}`", line.replace('\n', " "));
        }
        if let Some(options) = relation.get::<Option<String>, _>(4) {
            let _ = write!(page, "\nStorage: `{options}`\n");
        }
    }
    page.push_str(
        "\n## Functions\n\n| function | result | kind | may be called by | meaning |\n|---|---|---|---|---|\n",
    );
    for function in sqlx::query(FUNCTIONS).fetch_all(conn).await.unwrap() {
        let cell = |at: usize| function.get::<Option<String>, _>(at).unwrap_or_default().replace('|', "\\|");
        assert!(!cell(3).is_empty(), "{} has no comment", cell(0));
        let file = defined_in(&cell(0));
        let _ = writeln!(
            page,
            "| [`{}`](../crates/store/{file})`({})` | `{}` | {} | {} | {} |",
            cell(0),
            cell(1),
            cell(2),
            cell(4),
            cell(5),
            cell(3)
        );
    }
    page
}

/// The file with the function's definition.
fn defined_in(name: &str) -> String {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let definition = format!("FUNCTION {name}(");
    for folder in ["functions", "schema"] {
        for entry in std::fs::read_dir(home.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            if text.lines().any(|line| line.starts_with("CREATE ") && line.contains(&definition)) {
                return format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
            }
        }
    }
    panic!("no file defines {name}");
}
