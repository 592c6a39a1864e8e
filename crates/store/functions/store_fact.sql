-- Stores a fact and supersedes the active one with the same key.
--
-- Each statement of a volatile function sees what was committed before that statement started. The UPDATE therefore sees
-- what other writers of the key committed while this one waited for lock_fact_key, and a single call outside a
-- transaction is enough (ADR 20).
CREATE OR REPLACE FUNCTION store_fact(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_fact jsonb, p_embedding real[], p_request jsonb)
RETURNS TABLE (outcome text, superseded_id uuid, merged_into uuid) LANGUAGE plpgsql AS $$
DECLARE
    fact record;
    entity_metadata jsonb;
    links jsonb := '[]';
BEGIN
    SELECT * INTO fact FROM jsonb_to_record(p_fact) AS given (
        id uuid, subject text, predicate text, content text, search_text text, scope text, importance double precision,
        confidence double precision, decay_rate double precision, permanence text, entity_id uuid, source_episode_id uuid,
        derived_from uuid[], source_butler text, tags jsonb, metadata jsonb, model text, model_version text, dimensions integer,
        created_event_id uuid, superseded_event_id uuid, event jsonb);

    IF fact.entity_id IS NOT NULL THEN
        -- The lock waits for a merge of the entity; then the row shows its outcome.
        SELECT e.metadata INTO entity_metadata
            FROM entities e WHERE e.tenant_id = p_tenant AND e.id = fact.entity_id FOR KEY SHARE;
        IF NOT FOUND THEN
            outcome := 'no_entity';
            RETURN NEXT;
            RETURN;
        END IF;
        IF NOT entity_is_live(entity_metadata) THEN
            outcome := 'entity_merged';
            merged_into := entity_survivor(p_tenant, fact.entity_id);
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    IF fact.source_episode_id IS NOT NULL THEN
        PERFORM FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = fact.source_episode_id;
        IF NOT FOUND THEN
            outcome := 'no_episode';
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;

    PERFORM lock_fact_key(p_tenant, fact.entity_id, fact.scope, fact.subject, fact.predicate);
    IF fact.entity_id IS NULL THEN
        UPDATE facts f SET validity = 'superseded'
            WHERE f.tenant_id = p_tenant AND f.scope = fact.scope AND f.subject = fact.subject
              AND f.predicate = fact.predicate AND f.entity_id IS NULL AND f.validity = 'active'
            RETURNING f.id INTO superseded_id;
    ELSE
        UPDATE facts f SET validity = 'superseded'
            WHERE f.tenant_id = p_tenant AND f.entity_id = fact.entity_id AND f.scope = fact.scope
              AND f.predicate = fact.predicate AND f.validity = 'active'
            RETURNING f.id INTO superseded_id;
    END IF;

    INSERT INTO facts (tenant_id, id, subject, predicate, content, embedding, search_vector, scope, importance, confidence,
                       decay_rate, permanence, entity_id, source_episode_id, source_butler, created_at, last_confirmed_at,
                       tags, metadata, embedding_version_id, supersedes_id)
        VALUES (p_tenant, fact.id, fact.subject, fact.predicate, fact.content, p_embedding::vector,
                memory_search_vector(fact.search_text), fact.scope, fact.importance, fact.confidence, fact.decay_rate,
                fact.permanence, fact.entity_id, fact.source_episode_id, fact.source_butler, p_at, p_at, fact.tags,
                fact.metadata, embedding_version(p_tenant, fact.model, fact.model_version, fact.dimensions, p_at),
                superseded_id);
    links := link_episodes(p_tenant, p_at, 'derived_from', 'fact', fact.id, fact.derived_from || fact.source_episode_id);
    IF superseded_id IS NOT NULL THEN
        INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
            VALUES (p_tenant, 'fact', fact.id, 'fact', superseded_id, 'supersedes', p_at);
        links := links || jsonb_build_object('relation', 'supersedes', 'target_type', 'fact', 'target_id', superseded_id);
    END IF;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, fact.created_event_id, 'fact_created', 'fact', fact.id,
        with_links(fact.event || jsonb_build_object('supersedes_id', superseded_id), links));
    IF superseded_id IS NOT NULL THEN
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, fact.superseded_event_id, 'fact_superseded', 'fact',
            superseded_id,
            jsonb_build_object('before', jsonb_build_object('validity', 'active'),
                               'after', jsonb_build_object('validity', 'superseded'),
                               'superseded_by', fact.id));
    END IF;
    PERFORM keep_response(p_tenant, p_at, p_request, jsonb_build_object('id', fact.id, 'superseded_id', superseded_id));
    outcome := 'stored';
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION store_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION store_fact TO butler_app;
COMMENT ON FUNCTION store_fact IS
    'Stores a fact. outcome: stored, no_entity, entity_merged or no_episode; all but stored change nothing.';
