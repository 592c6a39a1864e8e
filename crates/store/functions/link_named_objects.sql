-- Facts whose object was stored as text, because no single entity had the name, become relations to the entity that has it
-- now. The text is in metadata.unlinked_object, which only store_fact writes; all other metadata belongs to the caller. The
-- object is part of the key of most relations, so two facts can meet on one key; then the rule of a merge decides. The caller
-- has locked the entity's row and its names.

-- Runs as the owner for the reason that entity_candidates gives.
CREATE OR REPLACE FUNCTION unlinked_objects(p_tenant text, p_names text[]) RETURNS uuid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'facts of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN ARRAY(
        SELECT f.id FROM facts f
        WHERE f.tenant_id = p_tenant
          AND hashtextextended(folded_name(f.metadata ->> 'unlinked_object'), 41) = ANY (ARRAY(SELECT hashtextextended(n, 41) FROM unnest(p_names) AS n))
          AND f.object_entity_id IS NULL AND f.validity = 'active' AND f.metadata ? 'unlinked_object'
          AND folded_name(f.metadata ->> 'unlinked_object') = ANY (p_names)
        ORDER BY f.subject COLLATE "C", f.predicate COLLATE "C", f.id);
END $$;
REVOKE EXECUTE ON FUNCTION unlinked_objects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION unlinked_objects TO butler_app;
COMMENT ON FUNCTION unlinked_objects IS 'The active facts whose object is kept as text and is one of these folded names.';

CREATE OR REPLACE FUNCTION link_named_objects(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_entity uuid, p_names text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    fact record;
    rule record;
    other record;
    base text;
    new_slot text;
    linked bigint := 0;
BEGIN
    FOR fact IN
        SELECT f.id, f.scope, f.holder, f.entity_id, f.predicate_key, f.slot,
               effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at) AS effective
        FROM unnest(unlinked_objects(p_tenant, p_names)) WITH ORDINALITY AS u (id, place)
        JOIN facts f ON f.tenant_id = p_tenant AND f.id = u.id AND f.validity = 'active' ORDER BY u.place
        FOR NO KEY UPDATE OF f
    LOOP
        SELECT * INTO rule FROM predicate_rule(p_tenant, fact.predicate_key);
        CONTINUE WHEN fact.entity_id = p_entity AND NOT rule.is_symmetric;
        -- An earlier fact of this list may have superseded this one.
        PERFORM FROM facts f WHERE f.tenant_id = p_tenant AND f.id = fact.id AND f.validity = 'active';
        CONTINUE WHEN NOT FOUND;
        base := CASE WHEN rule.cardinality = 'many' OR NOT rule.registered THEN p_entity::text ELSE slot_base(fact.slot) END;
        new_slot := base || substr(fact.slot, length(slot_base(fact.slot)) + 1);
        SELECT o.id, effective_confidence(o.confidence, o.decay_rate, o.last_confirmed_at, p_at) AS effective INTO other
            FROM facts o
            WHERE o.tenant_id = p_tenant AND o.scope = fact.scope AND o.holder = fact.holder
              AND o.predicate_key = fact.predicate_key AND o.slot = new_slot AND o.validity = 'active' AND o.id <> fact.id;
        IF FOUND THEN
            PERFORM end_weaker_fact(p_tenant, p_actor, p_request_id, p_at, fact.id, other.id, fact.effective > other.effective);
        END IF;
        UPDATE facts f SET object_entity_id = p_entity, slot = new_slot, metadata = f.metadata - 'unlinked_object'
            WHERE f.tenant_id = p_tenant AND f.id = fact.id;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'fact_repointed', 'fact', fact.id,
            jsonb_build_object('before', jsonb_build_object('object_entity_id', NULL),
                               'after', jsonb_build_object('object_entity_id', p_entity)));
        IF NOT rule.is_temporal AND EXISTS (
            SELECT FROM facts o
            WHERE o.tenant_id = p_tenant AND o.scope = fact.scope AND o.holder = fact.holder
              AND o.predicate_key = fact.predicate_key AND slot_base(o.slot) = base AND o.validity = 'active' AND o.id <> fact.id) THEN
            PERFORM place_facts(p_tenant, p_actor, p_request_id, p_at, fact.scope, fact.holder, fact.predicate_key, base, NULL);
        END IF;
        linked := linked + 1;
    END LOOP;
    RETURN linked;
END $$;
REVOKE EXECUTE ON FUNCTION link_named_objects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION link_named_objects TO butler_app;
COMMENT ON FUNCTION link_named_objects IS 'Makes facts relations to the entity that their object names, and returns how many.';
