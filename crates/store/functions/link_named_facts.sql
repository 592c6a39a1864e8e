-- When an entity takes a name (it is created, renamed, gets an alias, or becomes the owner), the facts that have this name as
-- their subject or object and belong to no entity are linked to it, unless another entity has the name, too. Where two facts
-- meet on one key, the rule of a merge decides: the more confident one stays, the entity's own if both are equal.
--
-- The caller holds the entity's row, and this function the names, so nobody stores a fact under either key meanwhile. Locks of
-- the keys themselves would fill the lock table: an owner may take over thousands of facts.

-- Runs as the owner for the reason that entity_candidates gives.
CREATE OR REPLACE FUNCTION unlinked_facts(p_tenant text, p_names text[]) RETURNS uuid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'facts of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- in the order in which consolidation takes its locks
    RETURN ARRAY(
        SELECT f.id FROM facts f
        WHERE f.tenant_id = p_tenant AND folded_name(f.subject) = ANY (p_names) AND f.entity_id IS NULL AND f.validity = 'active'
        ORDER BY f.subject COLLATE "C", f.predicate COLLATE "C", f.id);
END $$;
REVOKE EXECUTE ON FUNCTION unlinked_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION unlinked_facts TO butler_app;
COMMENT ON FUNCTION unlinked_facts IS 'The active facts without an entity whose subject is one of these folded names.';

CREATE OR REPLACE FUNCTION link_named_facts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_entity uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    names text[];
    name text;
    matches uuid[];
    own_names text[] := '{}';
    fact record;
    own record;
    linked bigint := 0;
BEGIN
    SELECT ARRAY(SELECT DISTINCT folded_name(n) FROM unnest(string_to_array(e.lower_names, E'\n')) AS n)
           || CASE WHEN e.metadata -> 'owner' = 'true' THEN '{user,me,i}'::text[] ELSE '{}' END
        INTO names FROM entities e WHERE e.tenant_id = p_tenant AND e.id = p_entity;
    -- A fact that looks for its entity holds the lock of its subject's name, shared, until it is stored.
    PERFORM pg_advisory_xact_lock(l.number)
        FROM (SELECT name_lock(p_tenant, n) AS number FROM unnest(names) AS n ORDER BY 1) l;
    FOREACH name IN ARRAY names LOOP
        matches := ARRAY(SELECT n.id FROM entities_named(p_tenant, name) n);
        IF matches = ARRAY[p_entity] THEN
            own_names := own_names || name;
        END IF;
    END LOOP;
    FOR fact IN
        SELECT f.id
        FROM unnest(unlinked_facts(p_tenant, own_names)) WITH ORDINALITY AS u (id, place)
        JOIN facts f ON f.tenant_id = p_tenant AND f.id = u.id ORDER BY u.place
    LOOP
        SELECT h.id, effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at)
                     > effective_confidence(h.confidence, h.decay_rate, h.last_confirmed_at, p_at) AS is_weaker
            INTO own
            FROM facts f
            LEFT JOIN facts h ON h.tenant_id = p_tenant AND h.scope = f.scope AND h.holder = p_entity::text
                 AND h.predicate_key = f.predicate_key AND h.slot = f.slot AND h.validity = 'active'
            WHERE f.tenant_id = p_tenant AND f.id = fact.id AND f.entity_id IS NULL AND f.validity = 'active'
            FOR NO KEY UPDATE OF f;
        CONTINUE WHEN NOT FOUND;
        IF own.id IS NOT NULL THEN
            PERFORM end_weaker_fact(p_tenant, p_actor, p_request_id, p_at, fact.id, own.id, own.is_weaker);
        END IF;
        UPDATE facts f SET entity_id = p_entity WHERE f.tenant_id = p_tenant AND f.id = fact.id;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'fact_repointed', 'fact', fact.id,
            jsonb_build_object('before', jsonb_build_object('entity_id', NULL), 'after', jsonb_build_object('entity_id', p_entity)));
        linked := linked + 1;
    END LOOP;
    IF linked > 0 THEN
        PERFORM place_joined(p_tenant, p_actor, p_request_id, p_at, p_entity::text);
    END IF;
    RETURN linked + link_named_objects(p_tenant, p_actor, p_request_id, p_at, p_entity, own_names);
END $$;
REVOKE EXECUTE ON FUNCTION link_named_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION link_named_facts TO butler_app;
COMMENT ON FUNCTION link_named_facts IS 'Links the facts that name an entity and belong to none, and returns how many.';

-- Part of store_fact. The same statement was stored without an entity, because several entities have the name; now the caller
-- names one of them.
CREATE OR REPLACE FUNCTION lock_stated_fact(p_tenant text, p_scope text, p_subject text, p_predicate_key text, p_content text)
RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT f.id FROM facts f
    WHERE f.tenant_id = p_tenant AND f.scope = p_scope AND f.holder = fact_holder(NULL, p_subject)
      AND f.predicate_key = p_predicate_key AND f.validity = 'active' AND f.entity_id IS NULL
      AND content_key(f.content) = content_key(p_content)
    ORDER BY f.created_at DESC, f.id LIMIT 1
    FOR NO KEY UPDATE
$$;
REVOKE EXECUTE ON FUNCTION lock_stated_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lock_stated_fact TO butler_app;
COMMENT ON FUNCTION lock_stated_fact IS 'Locks the active fact without an entity that says the same, and returns its id.';

-- If the entity has a value for the key, its value stays active until the new statement is stored.
CREATE OR REPLACE FUNCTION link_stated_fact(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_entity uuid, p_fact uuid)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own uuid;
BEGIN
    SELECT o.id INTO own
        FROM facts f
        JOIN facts o ON o.tenant_id = p_tenant AND o.scope = f.scope AND o.holder = p_entity::text
             AND o.predicate_key = f.predicate_key AND o.slot = f.slot AND o.validity = 'active'
        WHERE f.tenant_id = p_tenant AND f.id = p_fact;
    IF FOUND THEN
        PERFORM end_weaker_fact(p_tenant, p_actor, p_request_id, p_at, own, p_fact, true);
    END IF;
    UPDATE facts f SET entity_id = p_entity WHERE f.tenant_id = p_tenant AND f.id = p_fact;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'fact_repointed', 'fact', p_fact,
        jsonb_build_object('before', jsonb_build_object('entity_id', NULL), 'after', jsonb_build_object('entity_id', p_entity)));
    IF own IS NULL THEN
        PERFORM place_joined(p_tenant, p_actor, p_request_id, p_at, p_entity::text);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION link_stated_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION link_stated_fact TO butler_app;
COMMENT ON FUNCTION link_stated_fact IS 'Links the fact that says the same about a name that several entities have.';

-- An entity that gave up a name (it was renamed, forgotten or erased) may leave it to one other entity, which takes over the
-- facts that were ambiguous until now.
CREATE OR REPLACE FUNCTION link_freed_names(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_names text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    heir uuid;
    linked bigint := 0;
BEGIN
    FOR heir IN
        SELECT DISTINCT (array_agg(n.id))[1]
        FROM unnest(p_names) AS name, LATERAL entities_named(p_tenant, name) n GROUP BY name HAVING count(*) = 1 ORDER BY 1
    LOOP
        PERFORM FROM entities e WHERE e.tenant_id = p_tenant AND e.id = heir AND entity_is_live(e.metadata) FOR UPDATE;
        IF FOUND THEN
            linked := linked + link_named_facts(p_tenant, p_actor, p_request_id, p_at, heir);
        END IF;
    END LOOP;
    RETURN linked;
END $$;
REVOKE EXECUTE ON FUNCTION link_freed_names FROM PUBLIC;
GRANT EXECUTE ON FUNCTION link_freed_names TO butler_app;
COMMENT ON FUNCTION link_freed_names IS 'Links the facts that name the only entity left with one of these names, and returns how many.';
