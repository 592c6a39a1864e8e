-- mem_200 adopts a database that an earlier program migrated to mem_160: afterwards it is as if schema/ had created it.
-- From here on schema/ holds the current tables, functions/ the current functions, and a migration only what takes an
-- existing database there (docs/adr/0200-schema-and-functions-as-files.md).

-- 1. The ids of embedding_versions become uuids. They were the only integer identities, which a database cannot generate
-- on several nodes. Changing a column's type rewrites the three tables and rebuilds their indexes. A trained vector index
-- needs more memory for that than the default: 50 vectors a list, and the distance of each to each centre.
SELECT set_config('maintenance_work_mem', greatest(
    pg_size_bytes(current_setting('maintenance_work_mem')) / 1024,
    (50 * lists * (4 * lists + 4 * 384 + 100)) / 1024 + 32 * 1024) || 'kB', true)
FROM (SELECT coalesce(max((obj_description(to_regclass(relation || '_embedding'), 'pg_class')::jsonb ->> 'lists')::bigint), 20) AS lists
      FROM unnest(ARRAY['episodes', 'facts', 'rules']) AS relation) trained;

ALTER TABLE episodes DROP CONSTRAINT episodes_embedding_version_id_fkey;
ALTER TABLE facts DROP CONSTRAINT facts_embedding_version_id_fkey;
ALTER TABLE rules DROP CONSTRAINT rules_embedding_version_id_fkey;
ALTER TABLE embedding_versions ALTER COLUMN id DROP IDENTITY;
ALTER TABLE embedding_versions ALTER COLUMN id TYPE uuid USING lpad(to_hex(id), 32, '0')::uuid;
ALTER TABLE embedding_versions ALTER COLUMN id SET DEFAULT gen_random_uuid();
ALTER TABLE episodes ALTER COLUMN embedding_version_id TYPE uuid USING lpad(to_hex(embedding_version_id), 32, '0')::uuid;
ALTER TABLE facts ALTER COLUMN embedding_version_id TYPE uuid USING lpad(to_hex(embedding_version_id), 32, '0')::uuid;
ALTER TABLE rules ALTER COLUMN embedding_version_id TYPE uuid USING lpad(to_hex(embedding_version_id), 32, '0')::uuid;
ALTER TABLE episodes ADD CONSTRAINT episodes_embedding_version_id_fkey FOREIGN KEY (embedding_version_id) REFERENCES embedding_versions (id);
ALTER TABLE facts ADD CONSTRAINT facts_embedding_version_id_fkey FOREIGN KEY (embedding_version_id) REFERENCES embedding_versions (id);
ALTER TABLE rules ADD CONSTRAINT rules_embedding_version_id_fkey FOREIGN KEY (embedding_version_id) REFERENCES embedding_versions (id);

-- 2. What a vector index was trained on moves from the index's comment to a table.
CREATE TABLE vector_indexes (
    relation   text PRIMARY KEY,
    lists      integer NOT NULL,
    row_count  bigint NOT NULL,
    CONSTRAINT vector_indexes_relation_known CHECK (relation IN ('episodes', 'facts', 'rules'))
);
COMMENT ON TABLE vector_indexes IS
    'What the vector index of a table was last trained on. A table without a row has an untrained index.';
COMMENT ON COLUMN vector_indexes.relation IS 'The table; its index is relation_embedding.';
COMMENT ON COLUMN vector_indexes.lists IS 'IVFFlat lists the index was built with.';
COMMENT ON COLUMN vector_indexes.row_count IS 'Vectors in the table when the index was built.';

INSERT INTO vector_indexes (relation, lists, row_count)
    SELECT relation, (state ->> 'lists')::integer, (state ->> 'rows')::bigint
    FROM (SELECT relation, obj_description(to_regclass(relation || '_embedding'), 'pg_class')::jsonb AS state
          FROM unnest(ARRAY['episodes', 'facts', 'rules']) AS relation) trained
    WHERE state IS NOT NULL;
COMMENT ON INDEX episodes_embedding IS NULL;
COMMENT ON INDEX facts_embedding IS NULL;
COMMENT ON INDEX rules_embedding IS NULL;

-- 3. Policies without sub-selects.
ALTER POLICY tenant_isolation ON episodes
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON facts
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON rules
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON memory_links
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON entities
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON rule_applications
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON embedding_versions
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON idempotency_keys
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON memory_events
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON tokens
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON schedules
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
ALTER POLICY tenant_isolation ON job_runs
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));

-- 4. The functions of the old migrations. The program creates those of functions/ next.
DO $$
DECLARE
    old regprocedure;
BEGIN
    FOR old IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname IN (
            'any_of', 'browse_confidence', 'browse_facts', 'browse_palette', 'candidate_standing', 'candidate_terms',
            'cosine_similarity', 'create_entity_trigrams', 'days_between', 'decay_elapsed', 'decay_rates',
            'drop_invalid_vector_indexes', 'effective_confidence', 'embedding_version', 'entity_candidates',
            'entity_survivor', 'episode_is_alive', 'episode_is_learnable', 'episodes_background', 'episodes_count',
            'episodes_deep', 'episodes_found', 'episodes_match_all', 'episodes_match_index', 'episodes_match_newest',
            'episodes_match_scan', 'episodes_near_all', 'episodes_near_exact', 'episodes_near_probed', 'episodes_sample',
            'fact_is_active', 'fact_named', 'facts_background', 'facts_count', 'facts_found', 'facts_match_all',
            'facts_match_index', 'facts_match_newest', 'facts_match_scan', 'facts_near_all', 'facts_near_exact',
            'facts_near_probed', 'facts_sample', 'facts_with_words', 'fading_marked', 'fading_unmarked', 'job_lock',
            'lock_fact_key', 'match_standing', 'memory_bump', 'memory_exists', 'memory_pool', 'memory_retrieve',
            'memory_search_vector', 'name_similarity', 'pool_row', 'query_terms', 'rule_is_remembered',
            'rules_background', 'rules_count', 'rules_found', 'rules_match_all', 'rules_match_index',
            'rules_match_newest', 'rules_match_scan', 'rules_near_all', 'rules_near_exact', 'rules_near_probed',
            'rules_sample', 'set_vector_index_lists', 'set_vector_index_state', 'similar_entities', 'spaced_words',
            'supersede_active_fact', 'tenant_is_small', 'term_lexeme', 'terms_in', 'typed_query', 'vector_index_state',
            'vector_probes') LOOP
        EXECUTE format('DROP FUNCTION %s', old);
    END LOOP;
END $$;

-- 5. The record is that of a new database: the specification's three versions and this one.
CREATE TABLE butler_functions (
    only_row   boolean PRIMARY KEY DEFAULT true,
    revision   integer NOT NULL,
    hash       text NOT NULL,
    signatures text[] NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT butler_functions_one_row CHECK (only_row)
);
COMMENT ON TABLE butler_functions IS 'Which version of the SQL functions (functions/*.sql) this schema has. One row.';
COMMENT ON COLUMN butler_functions.only_row IS 'Always true, so the primary key allows one row.';
COMMENT ON COLUMN butler_functions.revision IS 'The number in functions/REVISION. A program with a smaller one leaves the functions alone.';
COMMENT ON COLUMN butler_functions.hash IS 'SHA-256 of the function files.';
COMMENT ON COLUMN butler_functions.signatures IS
    'name(argument types) of each function the files created, so that a removed function can be dropped and a user''s own cannot.';

DELETE FROM butler_migrations WHERE version NOT IN ('mem_001_baseline', 'mem_002_entities', 'mem_003_memory_events');
UPDATE butler_migrations SET checksum = 'schema';

-- 6. Comments.
COMMENT ON TABLE butler_migrations IS 'The migrations this schema contains, whether it was created with them or migrated.';
COMMENT ON COLUMN butler_migrations.checksum IS
    'SHA-256 of the migration''s text; ''schema'' for the versions that schema/ replaces.';
COMMENT ON TABLE embedding_versions IS
    'The embedding models a tenant''s memories were embedded with. Vectors of two versions are never compared.';
COMMENT ON FUNCTION entity_is_live IS 'Whether an entity exists in its own right; a merged entity remains as a tombstone.';
COMMENT ON FUNCTION entity_names IS 'All names of an entity in lower case, one a line, the canonical name first.';
COMMENT ON FUNCTION entity_name_keys IS
    'Hashes of the parts of each lower-case name, shortest to longest (1 to 3) characters, and with wholes of each whole name.';
COMMENT ON TABLE entities IS 'People, organizations, places and other things that facts are about.';
COMMENT ON COLUMN entities.canonical_name IS 'Composed Unicode (NFC).';
COMMENT ON COLUMN entities.metadata IS 'The caller''s; merged_into names the survivor of a merge.';
COMMENT ON COLUMN entities.lower_names IS 'Canonical name and aliases in lower case, one a line, for name search.';
COMMENT ON FUNCTION memory_is_fading IS 'Whether the decay sweep marked a memory as fading.';
COMMENT ON FUNCTION decay_rank IS
    'A constant that orders facts of one decay rate by effective confidence: effective_confidence = exp(decay_rank − decay_elapsed).';
COMMENT ON TABLE episodes IS 'What happened in a conversation. Consolidation turns episodes into facts and rules; then they expire.';
COMMENT ON COLUMN episodes.butler IS 'The butler the episode belongs to; the scope of an episode.';
COMMENT ON COLUMN episodes.session_id IS 'The conversation the episode is a turn of.';
COMMENT ON COLUMN episodes.search_vector IS 'The words of content (memory_search_vector).';
COMMENT ON COLUMN episodes.reference_count IS 'How often a recall returned this row.';
COMMENT ON COLUMN episodes.retry_count IS 'Failed consolidation attempts.';
COMMENT ON COLUMN episodes.consolidation_attempts IS 'The specification''s name for retry_count.';
COMMENT ON COLUMN episodes.last_consolidation_error IS 'The specification''s name for last_error.';
COMMENT ON COLUMN episodes.lease_token IS 'A worker''s claim: it writes its result only while the row still carries its token.';
COMMENT ON COLUMN episodes.expires_at IS 'NULL: never.';
COMMENT ON COLUMN episodes.embedding_version_id IS 'The model that made embedding.';
COMMENT ON TABLE facts IS
    'What is known: subject, predicate, content. At most one fact per key is active; a newer one supersedes it.';
COMMENT ON COLUMN facts.search_vector IS 'The words of subject, predicate and content (memory_search_vector).';
COMMENT ON COLUMN facts.confidence IS 'Confidence when last confirmed; effective_confidence applies the decay since.';
COMMENT ON COLUMN facts.decay_rate IS 'Per day; 0 never decays. Follows from permanence.';
COMMENT ON COLUMN facts.supersedes_id IS 'The fact this one replaced.';
COMMENT ON COLUMN facts.scope IS 'A butler''s name, or global.';
COMMENT ON COLUMN facts.reference_count IS 'How often a recall returned this row.';
COMMENT ON COLUMN facts.metadata IS 'The caller''s; status fading is the decay sweep''s mark.';
COMMENT ON COLUMN facts.entity_id IS 'What the fact is about. With an entity the key is (entity, scope, predicate), else (scope, subject, predicate).';
COMMENT ON COLUMN facts.embedding_version_id IS 'The model that made embedding.';
COMMENT ON TABLE rules IS 'How to behave. Feedback about each application decides whether a rule matures or becomes an anti-pattern.';
COMMENT ON COLUMN rules.search_vector IS 'The words of content (memory_search_vector).';
COMMENT ON COLUMN rules.scope IS 'A butler''s name, or global.';
COMMENT ON COLUMN rules.confidence IS 'Confidence when last confirmed; effective_confidence applies the decay since.';
COMMENT ON COLUMN rules.decay_rate IS 'Per day; 0 never decays. Follows from permanence.';
COMMENT ON COLUMN rules.effectiveness_score IS 'The share of helpful applications, from rule_applications.';
COMMENT ON COLUMN rules.applied_count IS 'Applications reported: helpful, harmful, or without an outcome.';
COMMENT ON COLUMN rules.reference_count IS 'How often a recall returned this row.';
COMMENT ON COLUMN rules.metadata IS
    'The caller''s; forgotten hides a rule, needs_inversion queues it for inversion, status fading is the decay sweep''s mark.';
COMMENT ON COLUMN rules.embedding_version_id IS 'The model that made embedding.';
COMMENT ON TABLE rule_applications IS 'Each reported outcome of applying a rule.';
COMMENT ON COLUMN rule_applications.effectiveness_score IS 'The rule''s score after this outcome, so that its history is a list of rows.';
COMMENT ON COLUMN rule_applications.maturity IS 'The rule''s maturity after this outcome.';
COMMENT ON TABLE memory_links IS
    'How one memory relates to another. A link outlives an expired episode on purpose, so there is no foreign key.';
COMMENT ON TABLE memory_events IS 'Each change of memory, written in the transaction of the change. Append-only.';
COMMENT ON COLUMN memory_events.actor IS 'Who made the change: a token, a client or a job.';
COMMENT ON COLUMN memory_events.memory_id IS 'What the event is about; NULL for an event about many rows.';
COMMENT ON FUNCTION memory_events_append_only IS 'Trigger: refuses a change of an event by anybody but butler_retention.';
COMMENT ON TABLE tokens IS 'Bearer tokens for the HTTP endpoints.';
COMMENT ON COLUMN tokens.butler IS 'NULL: any butler of the host.';
COMMENT ON COLUMN tokens.token_hash IS 'SHA-256 of the token. The token itself is shown once and never stored.';
COMMENT ON FUNCTION tell_of_tokens IS 'Trigger: notifies the servers that a token was created, changed or removed.';
COMMENT ON TABLE idempotency_keys IS 'The answer to each call that carried an idempotency key, so that a retry gets the same answer.';
COMMENT ON COLUMN idempotency_keys.request IS
    'A digest of the arguments: the same key with other arguments is the caller''s mistake, not a retry.';
COMMENT ON TABLE schedules IS 'When each job runs, and when it ran last.';
COMMENT ON TABLE job_runs IS 'Each run of a job.';
COMMENT ON COLUMN job_runs.trigger IS 'schedule, manual, wake or catch_up.';
COMMENT ON COLUMN job_runs.worker IS 'The process that runs it.';
COMMENT ON COLUMN job_runs.all_tenants IS
    'A scheduled run works for all tenants; each tenant sees only what it did for that tenant. Otherwise the run belongs to tenant_id.';
COMMENT ON TYPE retrieved IS 'A memory that memory_retrieve found, or what it learned about a store (kind pool).';
COMMENT ON COLUMN retrieved.kind IS 'fact, rule, episode, recent (one of the latest episodes) or pool.';
COMMENT ON COLUMN retrieved.semantic_rank IS 'Place in the semantic leg; NULL: that leg did not find it.';
COMMENT ON COLUMN retrieved.rank IS 'ts_rank of the keyword leg.';
COMMENT ON COLUMN retrieved.strict IS 'Whether the memory contains all terms of the query. Of a pool: whether it was learned in this call.';
COMMENT ON COLUMN retrieved.keyword_rank IS 'Place in the keyword leg; NULL: that leg did not find it.';
COMMENT ON COLUMN retrieved.scope IS 'Of an episode: its butler.';
COMMENT ON COLUMN retrieved.info IS 'Which paths were taken, which terms matched; of a pool: its size.';
