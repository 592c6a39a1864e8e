//! Every kind of damage is injected into a sound database, and found.

use butler_testkit::TestDb;
use sqlx::{AssertSqlSafe, PgConnection};

use super::{DAMAGES, check};

/// Two facts of which one superseded the other, a fact that is believed again after its successor was forgotten, and one
/// that was superseded once more after that, a fact of an entity, an approved fact, a rule with one helpful mark, a
/// forgotten rule, a rejected proposal, a consolidated and a removed episode, a merged entity and one whose merge was
/// undone, a resolved conflict, a stored answer: with all their links and events. `N::uuid` abbreviates an id.
const SOUND: &str = "
    INSERT INTO embedding_versions (model, version, dimensions) VALUES ('m', '1', 384);
    INSERT INTO entities (id, canonical_name, entity_type, metadata) VALUES
        (41::uuid, 'survivor', 'person', '{}'),
        (42::uuid, 'merged', 'person', jsonb_build_object('merged_into', 41::uuid)),
        (43::uuid, 'unmerged', 'person', '{}');
    INSERT INTO episodes (id, butler, content, consolidated, consolidation_status) VALUES
        (11::uuid, 'general', 'c', true, 'consolidated');
    INSERT INTO facts (id, subject, predicate, content, validity, supersedes_id, source_episode_id, entity_id) VALUES
        (21::uuid, 's', 'p', 'old', 'superseded', NULL, NULL, NULL),
        (22::uuid, 's', 'p', 'new', 'active', 21::uuid, 11::uuid, NULL),
        (23::uuid, 's', 'q', 'of an entity', 'active', NULL, NULL, 41::uuid),
        (24::uuid, 's', 'r', 'forgotten', 'retracted', NULL, NULL, NULL),
        (25::uuid, 's', 't', 'believed again', 'active', NULL, NULL, NULL),
        (26::uuid, 's', 't', 'forgotten', 'retracted', 25::uuid, NULL, NULL),
        (28::uuid, 's', 'u', 'approved', 'active', NULL, NULL, NULL),
        (71::uuid, 's', 'v', 'superseded again', 'superseded', NULL, NULL, NULL),
        (72::uuid, 's', 'v', 'forgotten', 'retracted', 71::uuid, NULL, NULL),
        (73::uuid, 's', 'v', 'latest', 'active', 71::uuid, NULL, NULL);
    UPDATE facts SET source = 'untrusted' WHERE id = 28::uuid;
    INSERT INTO rules (id, content, applied_count, success_count, metadata) VALUES
        (31::uuid, 'c', 1, 1, '{}'), (32::uuid, 'forgotten', 0, 0, '{\"forgotten\": true}');
    INSERT INTO proposals (id, memory_type, memory, statement_key, source, created_at, state, decided_at) VALUES
        (28::uuid, 'fact', '{}', 'approved', 'untrusted', '2026-01-01', 'approved', '2026-01-02'),
        (38::uuid, 'rule', '{}', 'rejected', 'untrusted', '2026-01-01', 'rejected', '2026-01-02');
    INSERT INTO conflicts (id, fact_a, fact_b, kind, why, found_at, found_by, state, resolution, resolved_at) VALUES
        (62::uuid, 24::uuid, 25::uuid, 'contradiction', 'scopes', '2026-01-01', 'store', 'resolved', 'keep_b', '2026-01-02');
    INSERT INTO rule_applications (rule_id, outcome, effectiveness_score, maturity) VALUES (31::uuid, 'helpful', 1, 'candidate');
    INSERT INTO memory_links (source_type, source_id, target_type, target_id, relation) VALUES
        ('fact', 22::uuid, 'fact', 21::uuid, 'supersedes'),
        ('fact', 26::uuid, 'fact', 25::uuid, 'supersedes'),
        ('fact', 72::uuid, 'fact', 71::uuid, 'supersedes'),
        ('fact', 73::uuid, 'fact', 71::uuid, 'supersedes'),
        ('fact', 22::uuid, 'episode', 11::uuid, 'derived_from'),
        ('fact', 23::uuid, 'episode', 12::uuid, 'derived_from');
    INSERT INTO memory_events (event_type, memory_type, memory_id) VALUES
        ('episode_created', 'episode', 11::uuid), ('episode_consolidated', 'episode', 11::uuid),
        ('episode_created', 'episode', 12::uuid), ('episode_expired', 'episode', 12::uuid),
        ('fact_created', 'fact', 21::uuid), ('fact_superseded', 'fact', 21::uuid), ('fact_created', 'fact', 22::uuid),
        ('fact_created', 'fact', 23::uuid), ('fact_created', 'fact', 24::uuid), ('fact_forgotten', 'fact', 24::uuid),
        ('fact_created', 'fact', 25::uuid), ('fact_superseded', 'fact', 25::uuid),
        ('fact_created', 'fact', 26::uuid), ('fact_forgotten', 'fact', 26::uuid),
        ('fact_created', 'fact', 71::uuid), ('fact_superseded', 'fact', 71::uuid), ('fact_superseded', 'fact', 71::uuid),
        ('fact_created', 'fact', 72::uuid), ('fact_forgotten', 'fact', 72::uuid), ('fact_created', 'fact', 73::uuid),
        ('rule_created', 'rule', 31::uuid), ('rule_marked_helpful', 'rule', 31::uuid),
        ('rule_created', 'rule', 32::uuid), ('rule_forgotten', 'rule', 32::uuid),
        ('proposal_made', 'fact', 28::uuid), ('proposal_approved', 'fact', 28::uuid), ('fact_created', 'fact', 28::uuid),
        ('proposal_made', 'rule', 38::uuid), ('proposal_rejected', 'rule', 38::uuid),
        ('entity_created', 'entity', 41::uuid), ('entity_created', 'entity', 42::uuid), ('entity_created', 'entity', 43::uuid),
        ('entity_merge', 'entity', 42::uuid), ('entity_merge', 'entity', 43::uuid), ('entity_unmerged', 'entity', 43::uuid);
    INSERT INTO memory_events (event_type, memory_type, memory_id, payload) VALUES
        ('conflict_found', 'fact', 25::uuid, jsonb_build_object('conflict_id', 62::uuid)),
        ('conflict_resolved', 'fact', 24::uuid, jsonb_build_object('conflict_id', 62::uuid)),
        ('fact_restored', 'fact', 25::uuid, '{\"before\": {\"validity\": \"superseded\"}}'),
        ('fact_restored', 'fact', 71::uuid, '{\"before\": {\"validity\": \"superseded\"}}');
    INSERT INTO idempotency_keys (key, tool, request, response) VALUES
        ('k', 'memory_store_fact', 'r', jsonb_build_object('id', 22::uuid));
    INSERT INTO injections (id, kind, memory_types, memory_ids, scores) VALUES
        (51::uuid, 'recall', '{fact,fact}', ARRAY[22::uuid, NULL], '{0.5,NULL}');
    UPDATE episodes SET embedding = array_fill(0.1, ARRAY[384])::vector, search_vector = 'c',
        embedding_version_id = (SELECT id FROM embedding_versions);
    UPDATE facts SET embedding = array_fill(0.1, ARRAY[384])::vector, search_vector = 'c',
        embedding_version_id = (SELECT id FROM embedding_versions);
    UPDATE rules SET embedding = array_fill(0.1, ARRAY[384])::vector, search_vector = 'c',
        embedding_version_id = (SELECT id FROM embedding_versions);";

/// The kind of damage, and what a crash, a bug or an operator might have done to the sound database.
const INJECTIONS: &[(&str, &str)] = &[
    (
        "two active facts with one subject key",
        "DROP INDEX facts_one_active_per_subject_key, facts_one_active_per_key; UPDATE facts SET validity = 'active' WHERE id = 21::uuid",
    ),
    (
        "two active facts with one entity key",
        "DROP INDEX facts_one_active_per_entity_key, facts_one_active_per_key;
         UPDATE facts SET entity_id = 41::uuid, predicate = 'q' WHERE id = 22::uuid",
    ),
    (
        "two active facts whose keys differ only in spelling",
        "DROP INDEX facts_one_active_per_key; UPDATE facts SET validity = 'active', subject = 'S' WHERE id = 21::uuid",
    ),
    ("a superseded fact without a successor", "DELETE FROM memory_links WHERE relation = 'supersedes'"),
    (
        "a fact superseded twice",
        "INSERT INTO memory_links (source_type, source_id, target_type, target_id, relation)
         VALUES ('fact', 23::uuid, 'fact', 21::uuid, 'supersedes')",
    ),
    ("a successor without its link", "UPDATE facts SET supersedes_id = 24::uuid WHERE id = 22::uuid"),
    ("a superseded fact that is still valid", "UPDATE facts SET validity = 'expired' WHERE id = 21::uuid"),
    ("a supersession across keys or tenants", "UPDATE facts SET scope = 'general' WHERE id = 21::uuid"),
    (
        "a cycle of supersessions",
        "INSERT INTO memory_links (source_type, source_id, target_type, target_id, relation)
         VALUES ('fact', 21::uuid, 'fact', 22::uuid, 'supersedes')",
    ),
    ("a memory without exactly one creation event", "DELETE FROM memory_events WHERE event_type = 'rule_created'"),
    ("a supersession whose events disagree", "DELETE FROM memory_events WHERE event_type = 'fact_superseded'"),
    ("a fact whose retraction and events disagree", "UPDATE facts SET validity = 'expired' WHERE id = 24::uuid"),
    ("a rule whose retraction and events disagree", "UPDATE rules SET metadata = '{\"forgotten\": true}'"),
    ("a rule whose counts differ from its applications", "DELETE FROM rule_applications"),
    (
        "a rule whose counts differ from its events",
        "DELETE FROM memory_events WHERE event_type = 'rule_marked_helpful'",
    ),
    ("a creation event without its memory", "DELETE FROM facts WHERE id = 24::uuid"),
    (
        "a removed episode that still exists",
        "INSERT INTO memory_events (event_type, memory_type, memory_id) VALUES ('episode_evicted', 'episode', 11::uuid)",
    ),
    (
        "an episode removed twice",
        "INSERT INTO memory_events (event_type, memory_type, memory_id) VALUES ('episode_evicted', 'episode', 12::uuid)",
    ),
    ("an event in another tenant than its memory", "UPDATE facts SET tenant_id = 'other' WHERE id = 24::uuid"),
    (
        "an episode in an illegal state",
        "UPDATE episodes SET consolidated = false, consolidation_status = 'failed', retry_count = 0",
    ),
    (
        "an episode whose consolidation and events disagree",
        "DELETE FROM memory_events WHERE event_type = 'episode_consolidated'",
    ),
    ("an episode whose attempts differ from its failure events", "UPDATE episodes SET retry_count = 1"),
    (
        "a link without its source",
        "INSERT INTO memory_links (source_type, source_id, target_type, target_id, relation)
         VALUES ('rule', 99::uuid, 'episode', 11::uuid, 'derived_from')",
    ),
    ("a link without its target", "DELETE FROM memory_events WHERE event_type = 'episode_expired'"),
    (
        "a fact with a foreign source, a foreign entity or a merged entity",
        "UPDATE facts SET entity_id = 42::uuid WHERE id = 23::uuid",
    ),
    ("an edge to a foreign or merged entity", "UPDATE facts SET object_entity_id = 42::uuid WHERE id = 23::uuid"),
    (
        "a merged entity without a survivor in its tenant",
        "UPDATE entities SET metadata = '{\"merged_into\": \"nobody\"}' WHERE id = 42::uuid",
    ),
    (
        "an entity whose merges and events disagree",
        "DELETE FROM memory_events WHERE event_type = 'entity_unmerged'",
    ),
    (
        "a stored answer without the memory it names",
        "UPDATE idempotency_keys SET response = jsonb_build_object('id', 99::uuid)",
    ),
    ("a memory served to another tenant", "UPDATE injections SET tenant_id = 'other'"),
    ("an untrusted memory without an approval", "UPDATE facts SET source = 'untrusted' WHERE id = 22::uuid"),
    (
        "an open proposal that was stored",
        "INSERT INTO proposals (id, memory_type, memory, statement_key, source, created_at)
         VALUES (31::uuid, 'rule', '{}', 'k', 'untrusted', '2026-01-01')",
    ),
    ("a rejected proposal that was stored", "UPDATE proposals SET state = 'rejected' WHERE id = 28::uuid"),
    (
        "a proposal whose decision and events disagree",
        "DELETE FROM memory_events WHERE event_type = 'proposal_rejected'",
    ),
    (
        "a conflict of two tenants",
        "INSERT INTO conflicts (id, tenant_id, fact_a, fact_b, kind, why, found_at, found_by)
         VALUES (61::uuid, 'other', 22::uuid, 23::uuid, 'duplicate', 'near_identical', '2026-01-01', 'job')",
    ),
    (
        "a conflict without its event",
        "INSERT INTO conflicts (id, fact_a, fact_b, kind, why, found_at, found_by)
         VALUES (61::uuid, 22::uuid, 23::uuid, 'duplicate', 'near_identical', '2026-01-01', 'job')",
    ),
    (
        "a conflict whose resolution and events disagree",
        "DELETE FROM memory_events WHERE event_type = 'conflict_resolved'",
    ),
    ("a resolved conflict whose discarded fact is not retracted", "UPDATE conflicts SET resolution = 'keep_a'"),
    (
        "a forgotten statement that is active again",
        "UPDATE facts SET ended_at = created_at WHERE id = 24::uuid;
         INSERT INTO facts (id, subject, predicate, content, created_at) VALUES (27::uuid, 'S', 'r', 'Forgotten.', now() + interval '1 day')",
    ),
    (
        "a forgotten rule that is remembered again",
        "INSERT INTO rules (id, content, created_at) VALUES (33::uuid, 'Forgotten.', now() + interval '1 day')",
    ),
    ("a memory that search cannot find", "UPDATE facts SET embedding = NULL WHERE id = 22::uuid"),
];

/// Replaces each `N::uuid` by an id that ends in N.
fn with_ids(statements: &str) -> String {
    let Some((before, last)) = statements.rsplit_once("::uuid") else { return statements.to_owned() };
    let id = |part: &str| {
        let number = part.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        format!("{}'00000000-0000-0000-0000-{:0>12}'::uuid", &part[..number], &part[number..])
    };
    before.split("::uuid").map(id).collect::<String>() + last
}

async fn execute(db: &mut PgConnection, statements: &str) {
    sqlx::raw_sql(AssertSqlSafe(with_ids(statements))).execute(db).await.expect(statements);
}

#[tokio::test]
async fn a_sound_database_has_no_damage() {
    let db = TestDb::new().await;
    let mut connection = db.connect().await;
    assert_eq!(check(&mut connection).await.unwrap(), Vec::<String>::new(), "an empty database");
    execute(&mut connection, SOUND).await;
    assert_eq!(check(&mut connection).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn every_kind_of_damage_is_found() {
    let kinds: Vec<&str> = DAMAGES.iter().map(|(kind, _)| *kind).collect();
    let injected: Vec<&str> = INJECTIONS.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(injected, kinds, "each kind of damage has an injection, in the same order");
    let db = TestDb::new().await;
    let mut connection = db.connect().await;
    execute(&mut connection, SOUND).await;
    for (kind, injection) in INJECTIONS {
        // without foreign keys and triggers, which would refuse most of this
        execute(&mut connection, "BEGIN; SET LOCAL session_replication_role = replica").await;
        execute(&mut connection, injection).await;
        let found = check(&mut connection).await.unwrap();
        assert!(found.iter().any(|violation| violation.starts_with(kind)), "{kind} is not in {found:#?}");
        execute(&mut connection, "ROLLBACK").await;
    }
}
