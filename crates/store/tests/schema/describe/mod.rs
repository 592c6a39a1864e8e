//! The system catalogue as lines of text, one block a table.

mod reference;

use std::collections::BTreeMap;
use std::fmt;

use sqlx::{PgConnection, Row};

pub use reference::reference;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub data_type: String,
    pub nullable: bool,
    pub default: Option<String>,
}

#[derive(Default)]
struct Table {
    columns: Vec<(String, Column)>,
    lines: Vec<String>,
}

pub struct Catalogue {
    tables: BTreeMap<String, Table>,
    functions: Vec<String>,
}

const COLUMNS: &str = "
    SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname, a.attnum";

/// Everything else about a table, in the order in which a reader looks for it.
const LINES: &str = r#"
    WITH t AS (SELECT * FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace)
    SELECT relname::text, line FROM (
        SELECT relname, 1 AS part, conname || ': ' || pg_get_constraintdef(k.oid) AS line
            FROM pg_constraint k JOIN t ON t.oid = k.conrelid WHERE contype <> 'n'
        UNION ALL
        SELECT t.relname, 2, i.relname || ': ' || regexp_replace(pg_get_indexdef(i.oid), '^CREATE (UNIQUE )?INDEX .* USING ', '\1')
            FROM pg_index x JOIN t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
        UNION ALL
        SELECT relname, 3, array_to_string(reloptions, ', ') FROM t WHERE reloptions IS NOT NULL
        UNION ALL
        SELECT relname, 4, attname || ': storage ' || CASE attstorage WHEN 'p' THEN 'plain' ELSE attstorage::text END
            FROM t JOIN pg_attribute a ON a.attrelid = t.oid WHERE atttypid = 'vector'::regtype
        UNION ALL
        SELECT relname, 5, 'row security: ' || CASE WHEN relrowsecurity THEN 'enabled' ELSE 'off' END
                           || CASE WHEN relforcerowsecurity THEN ', forced' ELSE '' END FROM t
        UNION ALL
        SELECT tablename, 6, 'policy ' || policyname || ' for ' || cmd || ' to '
                             || (SELECT string_agg(CASE role WHEN current_user THEN '(owner)' ELSE role END, ', ') FROM unnest(roles) role)
                             || coalesce(' using ' || qual, '') || coalesce(' check ' || with_check, '')
            FROM pg_policies WHERE schemaname = current_schema()
        UNION ALL
        SELECT relname, 7, pg_get_userbyid(grantee) || ': ' || string_agg(privilege_type, ', ' ORDER BY privilege_type)
            FROM t, aclexplode(relacl) WHERE grantee <> relowner GROUP BY relname, grantee
        UNION ALL
        SELECT relname, 8, regexp_replace(pg_get_triggerdef(g.oid), '^CREATE ', '') FROM pg_trigger g JOIN t ON t.oid = g.tgrelid
            WHERE NOT tgisinternal
    ) lines ORDER BY relname, part, line"#;

const FUNCTIONS: &str = "
    SELECT proname || '(' || pg_get_function_arguments(oid) || ') ' || CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END
           || CASE WHEN prosecdef THEN ', as its owner' ELSE '' END
    FROM pg_proc p WHERE pronamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e') ORDER BY 1";

/// Every property of every object of the schema that two databases can differ in, one line each. Objects of extensions are
/// left out, and so is what depends on the order of creation.
const EVERYTHING: &str = r#"
    WITH r AS (SELECT * FROM pg_class WHERE relnamespace = current_schema()::regnamespace),
         f AS (SELECT * FROM pg_proc p WHERE pronamespace = current_schema()::regnamespace
               AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'))
    SELECT concat_ws(' | ', 'column', r.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                     a.attstorage, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)) AS line
        FROM r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum WHERE r.relkind IN ('r', 'c')
    UNION ALL
    SELECT concat_ws(' | ', 'constraint', r.relname, k.conname, pg_get_constraintdef(k.oid), k.convalidated)
        FROM pg_constraint k JOIN r ON r.oid = k.conrelid
    UNION ALL
    SELECT concat_ws(' | ', 'index', pg_get_indexdef(i.indexrelid), i.indisvalid) FROM pg_index i JOIN r ON r.oid = i.indexrelid
    UNION ALL
    SELECT concat_ws(' | ', 'relation', relname, relkind, reloptions, relrowsecurity, relforcerowsecurity,
                     ARRAY(SELECT g::text FROM unnest(relacl) g ORDER BY 1)) FROM r WHERE relkind <> 't'
    UNION ALL
    SELECT concat_ws(' | ', 'policy', tablename, policyname, permissive, roles, cmd, qual, with_check)
        FROM pg_policies WHERE schemaname = current_schema()
    UNION ALL
    SELECT concat_ws(' | ', 'trigger', pg_get_triggerdef(g.oid)) FROM pg_trigger g JOIN r ON r.oid = g.tgrelid WHERE NOT tgisinternal
    UNION ALL
    SELECT concat_ws(' | ', 'function', pg_get_functiondef(f.oid), proacl) FROM f
    UNION ALL
    SELECT concat_ws(' | ', 'comment', pg_describe_object(classoid, objoid, objsubid), description) FROM pg_description
        WHERE objoid IN (SELECT oid FROM r UNION ALL SELECT oid FROM f UNION ALL SELECT reltype FROM r)
    UNION ALL
    SELECT concat_ws(' | ', 'schema', ARRAY(SELECT g::text FROM unnest(nspacl) g ORDER BY 1))
        FROM pg_namespace WHERE nspname = current_schema()
    UNION ALL
    SELECT concat_ws(' | ', 'migration', version, checksum) FROM butler_migrations
    UNION ALL
    SELECT concat_ws(' | ', 'functions', revision, hash, signatures) FROM butler_functions
    ORDER BY line"#;

/// The whole schema, for two databases that must be the same.
pub async fn everything(conn: &mut PgConnection) -> Vec<String> {
    let lines: Vec<String> = sqlx::query_scalar(EVERYTHING).fetch_all(conn).await.unwrap();
    lines.into_iter().map(normal).collect()
}

/// After a dump and its restore, PostgreSQL writes a list of varchars with other casts and parentheses.
fn normal(line: String) -> String {
    if !line.contains("::character varying") {
        return line;
    }
    ["::character varying", "::text[]", "::text", "(", ")"].iter().fold(line, |line, noise| line.replace(noise, ""))
}

impl Catalogue {
    pub async fn read(conn: &mut PgConnection) -> Self {
        let mut tables: BTreeMap<String, Table> = BTreeMap::new();
        for row in sqlx::query(COLUMNS).fetch_all(&mut *conn).await.unwrap() {
            let column = Column { data_type: row.get(2), nullable: row.get(3), default: row.get(4) };
            tables.entry(row.get(0)).or_default().columns.push((row.get(1), column));
        }
        for row in sqlx::query(LINES).fetch_all(&mut *conn).await.unwrap() {
            tables.entry(row.get(0)).or_default().lines.push(row.get(1));
        }
        let functions = sqlx::query_scalar(FUNCTIONS).fetch_all(conn).await.unwrap();
        Self { tables, functions }
    }

    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    pub fn column(&self, table: &str, name: &str) -> Column {
        let found = self.tables[table].columns.iter().find(|(column, _)| column == name);
        found.unwrap_or_else(|| panic!("there is no column {table}.{name}")).1.clone()
    }

    /// Whether a line about the table contains this text.
    pub fn has(&self, table: &str, text: &str) -> bool {
        self.tables[table].lines.iter().any(|line| line.contains(text))
    }

    pub fn assert_constraint(&self, table: &str, definition: &str) {
        self.assert_line(table, definition);
    }

    pub fn assert_index(&self, table: &str, definition: &str) {
        self.assert_line(table, definition);
    }

    /// A line is `name: definition`.
    fn assert_line(&self, table: &str, definition: &str) {
        let lines = &self.tables[table].lines;
        let found = lines.iter().any(|line| line.split_once(": ").is_some_and(|(_, rest)| rest == definition));
        assert!(found, "{table} lacks {definition}; it has\n{}", lines.join("\n"));
    }
}

impl fmt::Display for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, table) in &self.tables {
            writeln!(f, "{name}")?;
            for (column, Column { data_type, nullable, default }) in &table.columns {
                write!(f, "  {column} {data_type}{}", if *nullable { "" } else { " NOT NULL" })?;
                writeln!(f, "{}", default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default())?;
            }
            for line in &table.lines {
                writeln!(f, "    {line}")?;
            }
            writeln!(f)?;
        }
        writeln!(f, "functions")?;
        self.functions.iter().try_for_each(|function| writeln!(f, "  {function}"))
    }
}
