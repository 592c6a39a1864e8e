-- The entities that a subject or object names: by their whole canonical name or an alias, whatever the case, accents and
-- surrounding space. "user", "me" and "I" name the tenant's owner.
--
-- Runs as the owner, for the reason that entity_candidates gives, and refuses a tenant that is not the connection's.
CREATE OR REPLACE FUNCTION entities_named(p_tenant text, p_name text)
RETURNS TABLE (id uuid, canonical_name text, entity_type text, found_by text)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
    -- A name is ambiguous from two entities on; this many are listed.
    most constant integer := 10;
    wanted constant text := folded_name(p_name);
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'names of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN QUERY
        SELECT e.id, e.canonical_name::text, e.entity_type::text, 'name'
        FROM entities e
        WHERE entity_link_keys(e.tenant_id, e.lower_names) && ARRAY[hashtextextended(p_tenant || E'\x1f' || wanted, 41)]
          AND entity_is_live(e.metadata) AND e.tenant_id || '' = p_tenant
          AND wanted = ANY (SELECT folded_name(n) FROM unnest(string_to_array(e.lower_names, E'\n')) AS n)
        ORDER BY e.canonical_name COLLATE "C", e.id LIMIT most;
    IF NOT FOUND AND wanted IN ('user', 'me', 'i') THEN
        RETURN QUERY
            SELECT e.id, e.canonical_name::text, e.entity_type::text, 'owner'
            FROM entities e
            WHERE e.tenant_id = p_tenant AND e.metadata -> 'owner' = 'true' AND entity_is_live(e.metadata)
            ORDER BY e.id LIMIT most;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION entities_named FROM PUBLIC;
GRANT EXECUTE ON FUNCTION entities_named TO butler_app;
COMMENT ON FUNCTION entities_named IS 'The live entities that have exactly this name or alias; found_by: name or owner.';

CREATE OR REPLACE FUNCTION name_lock(p_tenant text, p_folded text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT hashtextextended(concat_ws(E'\x1f', current_schema(), p_tenant, p_folded), 21)
$$;
COMMENT ON FUNCTION name_lock IS 'The number under which a name is locked: shared while a fact looks for its entity, exclusively while an entity takes the name.';

-- p_given is the id that the caller gave, p_name the name to look for if it gave none. Waits for a merge of the entity;
-- then the row shows its outcome.
CREATE OR REPLACE FUNCTION lock_entity(p_tenant text, p_given uuid, p_name text)
RETURNS TABLE (outcome text, id uuid, linked_by text, candidates jsonb, merged_into uuid) LANGUAGE plpgsql AS $$
DECLARE
    named record;
    metadata jsonb;
BEGIN
    outcome := 'none';
    id := p_given;
    IF id IS NULL AND p_name IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock_shared(name_lock(p_tenant, folded_name(p_name)));
        -- Looking for the name takes ten times as long as finding out that there are no entities at all.
        IF EXISTS (SELECT FROM entities e WHERE e.tenant_id = p_tenant) THEN
            SELECT count(*) AS matches, (array_agg(n.id))[1] AS id, min(n.found_by) AS found_by,
                   jsonb_agg(jsonb_build_object('entity_id', n.id, 'canonical_name', n.canonical_name, 'entity_type', n.entity_type)) AS found
                INTO named FROM entities_named(p_tenant, p_name) n;
            IF named.matches = 1 THEN
                id := named.id;
                linked_by := named.found_by;
            ELSIF named.matches > 1 THEN
                candidates := named.found;
            END IF;
        END IF;
    END IF;
    IF id IS NOT NULL THEN
        SELECT e.metadata INTO metadata FROM entities e WHERE e.tenant_id = p_tenant AND e.id = lock_entity.id FOR KEY SHARE;
        IF NOT FOUND OR metadata ? 'forgotten_at' THEN
            IF p_given IS NULL THEN
                -- It was forgotten a moment ago, so the name now finds no entity.
                id := NULL;
                linked_by := NULL;
            ELSE
                outcome := 'missing';
            END IF;
        ELSIF entity_is_live(metadata) THEN
            outcome := 'locked';
        ELSE
            merged_into := entity_survivor(p_tenant, id);
            IF p_given IS NULL AND merged_into IS NOT NULL THEN
                -- It was merged a moment ago; its name is the survivor's now.
                RETURN QUERY SELECT l.outcome, l.id, lock_entity.linked_by, NULL::jsonb, l.merged_into
                    FROM lock_entity(p_tenant, merged_into, NULL) l;
                RETURN;
            END IF;
            outcome := 'merged';
        END IF;
    END IF;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION lock_entity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lock_entity TO butler_app;
COMMENT ON FUNCTION lock_entity IS
    'Locks the entity that a fact names against a merge. outcome: locked, missing, merged (merged_into), or none: no or several names match (candidates).';
