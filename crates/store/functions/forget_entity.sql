-- Forgets an entity: its facts and relations, and the memories that name it, as far as the caller chose them. They stay for
-- the record, as after forget_fact; nothing finds them any more, and no name leads to the entity. create_entity with its
-- name and type brings the entity back, without its facts.

-- A worker that consolidates has read the memories and would store what it learned from them. Without its lease it stores
-- nothing, and the remaining episodes are consolidated again.
CREATE OR REPLACE FUNCTION end_leases(p_tenant text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE episodes e SET lease_token = NULL, leased_until = NULL WHERE e.tenant_id = p_tenant AND e.lease_token IS NOT NULL;
END $$;
REVOKE EXECUTE ON FUNCTION end_leases FROM PUBLIC;
GRANT EXECUTE ON FUNCTION end_leases TO butler_app;
COMMENT ON FUNCTION end_leases IS 'Takes a tenant''s episodes from the workers that consolidate them.';

-- The caller holds the entity's row, so nobody stores a fact about it meanwhile, and gives the ids in order, which is the
-- order of memory_bump.
CREATE OR REPLACE FUNCTION forget_entity(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_entity uuid,
    p_facts uuid[], p_rules uuid[], p_episodes uuid[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    memory uuid;
    is_new boolean;
BEGIN
    PERFORM end_leases(p_tenant);
    FOREACH memory IN ARRAY p_facts LOOP
        PERFORM forget_fact(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), memory);
    END LOOP;
    FOREACH memory IN ARRAY p_rules LOOP
        PERFORM forget_rule(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), memory);
    END LOOP;
    FOREACH memory IN ARRAY p_episodes LOOP
        PERFORM forget_episode(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), memory);
    END LOOP;
    UPDATE entities e SET metadata = e.metadata || jsonb_build_object('forgotten_at', p_at), updated_at = p_at
        WHERE e.tenant_id = p_tenant AND e.id = p_entity AND entity_is_live(e.metadata);
    is_new := FOUND;
    IF is_new THEN
        PERFORM link_freed_names(p_tenant, p_actor, p_request_id, p_at, string_to_array(e.lower_names, E'\n'))
            FROM entities e WHERE e.tenant_id = p_tenant AND e.id = p_entity;
    END IF;
    IF is_new OR cardinality(p_facts || p_rules || p_episodes) > 0 THEN
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'entity_forgotten', 'entity', p_entity,
            jsonb_build_object('facts', cardinality(p_facts), 'rules', cardinality(p_rules), 'episodes', cardinality(p_episodes)));
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION forget_entity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_entity TO butler_app;
COMMENT ON FUNCTION forget_entity IS 'Retracts these memories and hides the entity. Forgetting it again changes nothing.';
