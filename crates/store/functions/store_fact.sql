-- Stores a fact: links it to the entity that its subject names, and supersedes the active fact with the same key. The very
-- same statement again confirms the known fact.
--
-- Each statement of a volatile function sees what was committed before that statement started. The SELECT of the known
-- facts therefore sees what other writers of the key committed while this one waited for lock_fact_key, and a single call
-- outside a transaction is enough (ADR 20).
CREATE OR REPLACE FUNCTION store_fact(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_fact jsonb, p_embedding real[], p_request jsonb)
RETURNS TABLE (outcome text, merged_into uuid, answer jsonb) LANGUAGE plpgsql AS $$
DECLARE
    fact record;
    about record;
    object record;
    rule record;
    known record;
    fact_slot text := '';
    said_by_many boolean;
    ended uuid[] := '{}';
    links jsonb;
BEGIN
    SELECT * INTO fact FROM jsonb_to_record(p_fact) AS given (
        id uuid, subject text, predicate text, content text, search_text text, scope text, importance double precision,
        confidence double precision, decay_rate double precision, permanence text, entity_id uuid, object_entity_id uuid,
        object text, source_episode_id uuid, derived_from uuid[], source_butler text, tags jsonb, metadata jsonb, model text,
        model_version text, dimensions integer, replaces uuid, regrades boolean, created_event_id uuid, superseded_event_ids uuid[], event jsonb);

    IF fact.replaces IS NOT NULL AND fact.object_entity_id IS NULL AND fact.object IS NULL THEN
        -- A new version is a relation to the same entity.
        SELECT f.object_entity_id INTO fact.object_entity_id FROM facts f WHERE f.tenant_id = p_tenant AND f.id = fact.replaces;
    END IF;
    SELECT * INTO about FROM lock_entity(p_tenant, fact.entity_id, fact.subject);
    SELECT * INTO object FROM lock_entity(p_tenant, fact.object_entity_id, fact.object);
    outcome := CASE about.outcome WHEN 'missing' THEN 'no_entity' WHEN 'merged' THEN 'entity_merged' ELSE
               CASE object.outcome WHEN 'missing' THEN 'no_object' WHEN 'merged' THEN 'object_merged' END END;
    merged_into := CASE WHEN about.outcome = 'merged' THEN about.merged_into ELSE object.merged_into END;
    IF outcome IS NULL AND fact.source_episode_id IS NOT NULL THEN
        PERFORM FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = fact.source_episode_id;
        IF NOT FOUND THEN
            outcome := 'no_episode';
        END IF;
    END IF;
    IF fact.object IS NOT NULL AND object.id IS NULL THEN
        -- It may name an entity later.
        fact.metadata := fact.metadata || jsonb_build_object('object', fact.object);
    END IF;
    PERFORM pg_advisory_xact_lock_shared(predicates_lock(p_tenant));
    SELECT * INTO rule FROM predicate_rule(p_tenant, predicate_key(fact.predicate));
    IF outcome IS NULL AND about.id = object.id AND NOT rule.is_symmetric THEN
        outcome := 'edge_to_itself';
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;
    said_by_many := rule.cardinality = 'many' OR (object.id IS NOT NULL AND NOT rule.registered);
    IF said_by_many THEN
        fact_slot := coalesce(object.id::text, content_key(fact.content));
    END IF;

    PERFORM lock_fact_key(p_tenant, fact.scope, fact_holder(about.id, fact.subject), predicate_key(fact.predicate));
    -- What it replaces first, then what holds its slot. Of a predicate of several values, the same statement may be in
    -- another slot: it was stored with another object or none, or when the predicate still held one value.
    FOR known IN
        SELECT f.id, f.content, f.importance, f.permanence, f.decay_rate, f.tags, f.metadata, f.object_entity_id
        FROM facts f
        WHERE f.tenant_id = p_tenant AND f.validity = 'active'
          AND (f.id = fact.replaces
               OR f.scope = fact.scope AND f.holder = fact_holder(about.id, fact.subject)
                  AND f.predicate_key = predicate_key(fact.predicate)
                  AND (f.slot = fact_slot
                       OR said_by_many AND content_key(f.content) = content_key(fact.content)
                          AND coalesce(f.object_entity_id = object.id, true)))
        ORDER BY f.id IS NOT DISTINCT FROM fact.replaces DESC, f.slot = fact_slot DESC
        -- Forgetting and the sweep end a fact without the lock of its key.
        FOR NO KEY UPDATE
    LOOP
        IF cardinality(ended) = 0 THEN
            EXIT WHEN known.id <> fact.replaces;
            IF (known.content = fact.content
                    OR said_by_many AND content_key(known.content) = content_key(fact.content))
               AND (object.id IS NULL OR object.id IS NOT DISTINCT FROM known.object_entity_id)
               AND (NOT fact.regrades
                    OR coalesce(fact.importance = known.importance, true)
                       AND coalesce(fact.permanence = known.permanence, true)
                       AND coalesce(fact.tags = known.tags, true)
                       AND fact.metadata <@ fading_unmarked(known.metadata)) THEN
                PERFORM confirm_fact(p_tenant, p_actor, p_request_id, p_at, fact.created_event_id, known.id,
                                     fact.derived_from || fact.source_episode_id);
                UPDATE facts f SET reference_count = f.reference_count + 1, last_referenced_at = p_at
                    WHERE f.tenant_id = p_tenant AND f.id = known.id;
                fact.id := known.id;
                outcome := 'confirmed';
                EXIT;
            END IF;
            fact.importance := coalesce(fact.importance, known.importance);
            fact.decay_rate := CASE WHEN fact.permanence IS NULL THEN known.decay_rate ELSE fact.decay_rate END;
            fact.permanence := coalesce(fact.permanence, known.permanence);
            fact.tags := coalesce(fact.tags, known.tags);
        END IF;
        UPDATE facts f SET validity = 'superseded' WHERE f.tenant_id = p_tenant AND f.id = known.id;
        ended := ended || known.id;
    END LOOP;
    IF fact.replaces IS NOT NULL AND outcome IS NULL AND cardinality(ended) = 0 THEN
        outcome := 'not_active';
        RETURN NEXT;
        RETURN;
    END IF;

    IF outcome IS NULL THEN
        outcome := 'stored';
        INSERT INTO facts (tenant_id, id, subject, predicate, content, embedding, search_vector, scope, importance, confidence,
                           decay_rate, permanence, entity_id, object_entity_id, slot, source_episode_id, source_butler,
                           created_at, last_confirmed_at, tags, metadata, embedding_version_id, supersedes_id)
            VALUES (p_tenant, fact.id, fact.subject, fact.predicate, fact.content, p_embedding::vector,
                    memory_search_vector(fact.search_text), fact.scope, coalesce(fact.importance, 5), fact.confidence,
                    coalesce(fact.decay_rate, 0.008), coalesce(fact.permanence, 'standard'), about.id, object.id, fact_slot,
                    fact.source_episode_id, fact.source_butler, p_at, p_at, coalesce(fact.tags, '[]'), fact.metadata,
                    embedding_version(p_tenant, fact.model, fact.model_version, fact.dimensions, p_at), ended[1]);
        links := link_episodes(p_tenant, p_at, 'derived_from', 'fact', fact.id, fact.derived_from || fact.source_episode_id);
        FOR place IN 1 .. cardinality(ended) LOOP
            links := links || supersede_fact(p_tenant, p_actor, p_request_id, p_at,
                coalesce(fact.superseded_event_ids[place], gen_random_uuid()), fact.id, ended[place]);
        END LOOP;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, fact.created_event_id, 'fact_created', 'fact', fact.id,
            with_links(
                jsonb_build_object(
                    'after', fact.event || jsonb_build_object(
                        'importance', coalesce(fact.importance, 5), 'permanence', coalesce(fact.permanence, 'standard'),
                        'tags', coalesce(fact.tags, '[]'), 'entity_id', about.id, 'object_entity_id', object.id),
                    'supersedes_id', ended[1]),
                links));
    END IF;
    answer := jsonb_strip_nulls(jsonb_build_object(
        'candidates', about.candidates, 'object_entity_id', object.id, 'object_candidates', object.candidates,
        'confirmed', CASE WHEN outcome = 'confirmed' THEN true END))
        || jsonb_build_object('id', fact.id, 'superseded_id', ended[1], 'entity_id', about.id, 'linked_by', about.linked_by);
    PERFORM keep_response(p_tenant, p_at, p_request, answer);
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION store_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION store_fact TO butler_app;
COMMENT ON FUNCTION store_fact IS
    'Stores a fact. outcome: stored, confirmed (it was known), or why nothing was stored: no_entity, entity_merged, no_object, object_merged, '
    'edge_to_itself, no_episode, not_active (what it replaces).';
