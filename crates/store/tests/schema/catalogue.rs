//! The whole schema as the catalogue tells it: a snapshot, so that nothing is missing or changed by oversight, and the
//! specification's scenarios one by one.

use crate::describe::{Catalogue, Column};
use butler_testkit::TestDb;
use tokio::sync::OnceCell;

/// Read once: no test here changes anything.
async fn catalogue() -> &'static Catalogue {
    static READ: OnceCell<Catalogue> = OnceCell::const_new();
    READ.get_or_init(|| async { Catalogue::read(&mut TestDb::new().await.connect().await).await }).await
}

/// name, type, nullable, default
type Expected = (&'static str, &'static str, bool, Option<&'static str>);

fn assert_columns(catalogue: &Catalogue, table: &str, expected: &[Expected]) {
    for (name, data_type, nullable, default) in expected {
        let found = catalogue.column(table, name);
        let wanted =
            Column { data_type: (*data_type).to_owned(), nullable: *nullable, default: default.map(str::to_owned) };
        assert_eq!(found, wanted, "{table}.{name}");
    }
}

#[tokio::test]
async fn the_whole_schema() {
    let catalogue = catalogue().await;
    insta::assert_snapshot!(catalogue.to_string());
}

#[tokio::test]
async fn episode_schema_and_defaults() {
    let catalogue = catalogue().await;
    assert_columns(
        catalogue,
        "episodes",
        &[
            ("id", "uuid", false, Some("gen_random_uuid()")),
            ("tenant_id", "text", false, Some("'default'::text")),
            ("butler", "text", false, None),
            ("session_id", "uuid", true, None),
            ("content", "text", false, None),
            ("embedding", "vector(384)", true, None),
            ("search_vector", "tsvector", true, None),
            ("importance", "double precision", false, Some("5.0")),
            ("reference_count", "integer", false, Some("0")),
            ("consolidated", "boolean", false, Some("false")),
            ("consolidation_status", "character varying(20)", false, Some("'pending'::character varying")),
            ("retry_count", "integer", false, Some("0")),
            ("last_error", "text", true, None),
            ("consolidation_attempts", "integer", true, Some("retry_count")),
            ("last_consolidation_error", "text", true, Some("last_error")),
            ("next_consolidation_retry_at", "timestamp with time zone", true, None),
            ("created_at", "timestamp with time zone", false, Some("now()")),
            ("last_referenced_at", "timestamp with time zone", true, None),
            ("expires_at", "timestamp with time zone", true, Some("(now() + '7 days'::interval)")),
            ("metadata", "jsonb", false, Some("'{}'::jsonb")),
        ],
    );
    catalogue.assert_constraint("episodes", "PRIMARY KEY (id)");
}

#[tokio::test]
async fn fact_schema_and_defaults() {
    let catalogue = catalogue().await;
    assert_columns(
        catalogue,
        "facts",
        &[
            ("id", "uuid", false, Some("gen_random_uuid()")),
            ("tenant_id", "text", false, Some("'default'::text")),
            ("subject", "text", false, None),
            ("predicate", "text", false, None),
            ("content", "text", false, None),
            ("embedding", "vector(384)", true, None),
            ("search_vector", "tsvector", true, None),
            ("importance", "double precision", false, Some("5.0")),
            ("confidence", "double precision", false, Some("1.0")),
            ("decay_rate", "double precision", false, Some("0.008")),
            ("permanence", "text", false, Some("'standard'::text")),
            ("source_butler", "text", true, None),
            ("source_episode_id", "uuid", true, None),
            ("supersedes_id", "uuid", true, None),
            ("entity_id", "uuid", true, None),
            ("validity", "text", false, Some("'active'::text")),
            ("scope", "text", false, Some("'global'::text")),
            ("reference_count", "integer", false, Some("0")),
            ("created_at", "timestamp with time zone", false, Some("now()")),
            ("last_referenced_at", "timestamp with time zone", true, None),
            ("last_confirmed_at", "timestamp with time zone", true, None),
            ("tags", "jsonb", false, Some("'[]'::jsonb")),
            ("metadata", "jsonb", false, Some("'{}'::jsonb")),
        ],
    );
    catalogue.assert_constraint("facts", "PRIMARY KEY (id)");
    catalogue.assert_constraint("facts", "FOREIGN KEY (source_episode_id) REFERENCES episodes(id) ON DELETE SET NULL");
    catalogue.assert_constraint("facts", "FOREIGN KEY (supersedes_id) REFERENCES facts(id) ON DELETE SET NULL");
    catalogue.assert_constraint("facts", "FOREIGN KEY (entity_id) REFERENCES entities(id) ON DELETE RESTRICT");
}

#[tokio::test]
async fn rule_schema_and_defaults() {
    let catalogue = catalogue().await;
    assert_columns(
        catalogue,
        "rules",
        &[
            ("id", "uuid", false, Some("gen_random_uuid()")),
            ("tenant_id", "text", false, Some("'default'::text")),
            ("content", "text", false, None),
            ("embedding", "vector(384)", true, None),
            ("search_vector", "tsvector", true, None),
            ("scope", "text", false, Some("'global'::text")),
            ("maturity", "text", false, Some("'candidate'::text")),
            ("confidence", "double precision", false, Some("0.5")),
            ("decay_rate", "double precision", false, Some("0.008")),
            ("permanence", "text", false, Some("'standard'::text")),
            ("effectiveness_score", "double precision", false, Some("0.0")),
            ("applied_count", "integer", false, Some("0")),
            ("success_count", "integer", false, Some("0")),
            ("harmful_count", "integer", false, Some("0")),
            ("source_episode_id", "uuid", true, None),
            ("source_butler", "text", true, None),
            ("created_at", "timestamp with time zone", false, Some("now()")),
            ("last_applied_at", "timestamp with time zone", true, None),
            ("last_evaluated_at", "timestamp with time zone", true, None),
            ("last_confirmed_at", "timestamp with time zone", true, None),
            ("reference_count", "integer", false, Some("0")),
            ("last_referenced_at", "timestamp with time zone", true, None),
            ("tags", "jsonb", false, Some("'[]'::jsonb")),
            ("metadata", "jsonb", false, Some("'{}'::jsonb")),
        ],
    );
    catalogue.assert_constraint("rules", "FOREIGN KEY (source_episode_id) REFERENCES episodes(id) ON DELETE SET NULL");
}

#[tokio::test]
async fn episodes_table_indexes() {
    let catalogue = catalogue().await;
    for definition in [
        "btree (butler, created_at DESC)",
        "btree (expires_at) WHERE (expires_at IS NOT NULL)",
        "btree (butler, created_at) WHERE ((consolidation_status)::text = 'pending'::text)",
        "gin (search_vector)",
        "ivfflat (embedding vector_cosine_ops) WITH (lists='20')",
    ] {
        catalogue.assert_index("episodes", definition);
    }
}

#[tokio::test]
async fn facts_table_indexes() {
    let catalogue = catalogue().await;
    for definition in [
        "btree (scope, validity) WHERE (validity = 'active'::text)",
        "btree (subject, predicate)",
        "gin (search_vector)",
        "gin (tags)",
        "ivfflat (embedding vector_cosine_ops) WITH (lists='20')",
    ] {
        catalogue.assert_index("facts", definition);
    }
    catalogue.assert_index("rules", "ivfflat (embedding vector_cosine_ops) WITH (lists='20')");
    catalogue.assert_index("rules", "gin (search_vector)");
}

/// The functions that the constraints of facts call.
#[tokio::test]
async fn facts_refuse_values_that_no_fact_can_have() {
    let db = TestDb::new().await;
    let mut conn = db.connect().await;
    let mut insert = async |column: &str, value: &str| {
        let insert = format!(
            "INSERT INTO facts (subject, predicate, content, {column}) VALUES ('a', gen_random_uuid(), 'b', {value})"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(insert)).execute(&mut conn).await
    };
    for (constraint, column, values) in [
        ("facts_kinds_known", "validity", &["'activ'", "''"][..]),
        ("facts_kinds_known", "permanence", &["'forever'"]),
        ("facts_kinds_known", "source", &["'rumour'"]),
        ("facts_numbers_in_range", "importance", &["-0.1", "10.1", "'nan'"]),
        ("facts_numbers_in_range", "confidence", &["-0.1", "1.1", "'nan'"]),
        ("facts_numbers_in_range", "decay_rate", &["-0.1", "'infinity'", "'nan'"]),
        ("facts_documents_shaped", "tags", &["'{}'", "'null'"]),
        ("facts_documents_shaped", "metadata", &["'[]'", "'1'"]),
        ("facts_documents_shaped", "dates", &["'[]'"]),
        ("facts_times_plausible", "ended_at", &["'infinity'", "'10000-01-01 00:00Z'", "'0001-12-31 00:00Z BC'"]),
        ("facts_holds_plausible", "holds_from", &["'10000-01-01 00:00Z'"]),
        ("facts_holds_plausible", "holds_to", &["'0001-12-31 00:00Z BC'"]),
    ] {
        for value in values {
            let error = insert(column, value).await.unwrap_err().to_string();
            assert!(error.contains(&format!("\"{constraint}\"")), "{column} = {value}: {error}");
        }
    }
    for (column, value) in
        [("importance", "10"), ("dates", "NULL"), ("ended_at", "'9999-12-31'"), ("holds_to", "'-infinity'")]
    {
        insert(column, value).await.unwrap_or_else(|error| panic!("{column} = {value}: {error}"));
    }
}

#[tokio::test]
async fn entity_keyed_fact_uniqueness_as_partial_unique_indexes_that_coexist() {
    let catalogue = catalogue().await;
    catalogue.assert_index(
        "facts",
        "UNIQUE btree (tenant_id, entity_id, scope, predicate) WHERE ((entity_id IS NOT NULL) AND (validity = 'active'::text) AND (slot = ''::text))",
    );
    catalogue.assert_index(
        "facts",
        "UNIQUE btree (tenant_id, scope, subject, predicate) WHERE ((entity_id IS NULL) AND (validity = 'active'::text) AND (slot = ''::text))",
    );
}

#[tokio::test]
async fn memory_links_table() {
    let catalogue = catalogue().await;
    catalogue.assert_constraint("memory_links", "PRIMARY KEY (source_type, source_id, target_type, target_id)");
    let relations = "CHECK ((relation = ANY (ARRAY['derived_from'::text, 'supports'::text, 'contradicts'::text, \
                     'supersedes'::text, 'related_to'::text])))";
    catalogue.assert_constraint("memory_links", relations);
    catalogue.assert_index("memory_links", "btree (target_type, target_id)");
}

#[tokio::test]
async fn entities_table_indexes_and_constraints() {
    let catalogue = catalogue().await;
    assert_columns(
        catalogue,
        "entities",
        &[
            ("id", "uuid", false, Some("gen_random_uuid()")),
            ("tenant_id", "text", false, Some("'default'::text")),
            ("canonical_name", "character varying", false, None),
            ("entity_type", "character varying", false, None),
            ("aliases", "text[]", false, Some("'{}'::text[]")),
            ("metadata", "jsonb", false, Some("'{}'::jsonb")),
            ("created_at", "timestamp with time zone", false, Some("now()")),
            ("updated_at", "timestamp with time zone", false, Some("now()")),
        ],
    );
    catalogue.assert_constraint("entities", "UNIQUE (tenant_id, canonical_name, entity_type)");
    let types = "CHECK (((entity_type)::text = ANY ((ARRAY['person'::character varying, 'organization'::character varying, \
                 'place'::character varying, 'other'::character varying])::text[])))";
    catalogue.assert_constraint("entities", types);
    for definition in ["btree (tenant_id, canonical_name)", "gin (aliases)", "gin (metadata)"] {
        catalogue.assert_index("entities", definition);
    }
}

#[tokio::test]
async fn memory_events_table() {
    let catalogue = catalogue().await;
    assert_columns(
        catalogue,
        "memory_events",
        &[
            ("id", "uuid", false, Some("gen_random_uuid()")),
            ("event_type", "text", false, None),
            ("actor", "text", true, None),
            ("tenant_id", "text", false, Some("'default'::text")),
            ("payload", "jsonb", false, Some("'{}'::jsonb")),
            ("created_at", "timestamp with time zone", false, Some("now()")),
        ],
    );
    catalogue.assert_index("memory_events", "btree (event_type, created_at DESC)");
    catalogue.assert_index("memory_events", "btree (tenant_id, created_at DESC)");
}

#[tokio::test]
async fn every_table_has_a_tenant_and_the_wall_in_front_of_it() {
    let catalogue = catalogue().await;
    // no tenant's data, and nothing is granted
    let records = ["butler_clock", "butler_functions", "butler_migrations", "oauth_clients", "vector_indexes"];
    for table in records {
        assert!(!catalogue.has(table, "butler_app:"), "{table}");
    }
    for table in catalogue.tables().filter(|table| !records.contains(table)) {
        assert_eq!(catalogue.column(table, "tenant_id").data_type, "text", "{table}");
        assert!(!catalogue.column(table, "tenant_id").nullable, "{table}");
        assert!(catalogue.has(table, "row security: enabled, forced"), "{table}");
        assert!(catalogue.has(table, "policy tenant_isolation for ALL to butler_app"), "{table}");
    }
    for table in ["episodes", "facts", "rules"] {
        assert!(catalogue.has(table, "embedding: storage plain"), "{table}");
        assert!(catalogue.has(table, "fillfactor=75"), "{table}");
    }
    assert!(catalogue.has("memory_events", "butler_app: INSERT, SELECT"));
    assert!(catalogue.has("memory_events", "butler_retention: DELETE, SELECT"));
}

#[tokio::test]
async fn required_postgresql_extensions() {
    let db = TestDb::new().await;
    let health = db.database().health().await.unwrap();
    assert!(health.vector_version.is_some());
    let mut conn = db.connect().await;
    let in_public: bool = sqlx::query_scalar(
        "SELECT bool_and(extnamespace = 'public'::regnamespace) FROM pg_extension WHERE extname IN ('vector', 'uuid-ossp', 'pg_trgm')",
    )
    .fetch_one(&mut conn)
    .await
    .unwrap();
    assert!(in_public);
}
