-- The entities a name may mean, each once, at its best tier: 1 the canonical name, 2 an alias, 3 part of either, 4 similar
-- to either. At most p_limit: first those the caller knows about (p_known, which must match like all others), then by tier
-- and name. With p_facts each comes with that many of its facts, cut to p_fact_chars.
--
-- Why a function: as butler_app, row-level security holds back operators that are not leakproof (@>, %>, ~>=~) until the
-- policy has passed a row, so no index could find a name. It runs as the owner, filters by the tenant it is given and
-- refuses one that is not the connection's. What the hash of a part finds is compared with the names themselves by strpos,
-- which has no wildcards.
CREATE OR REPLACE FUNCTION entity_candidates(
    p_tenant text, p_name text, p_type text, p_fuzzy boolean, p_threshold real, p_known uuid[], p_limit integer,
    p_facts integer, p_fact_chars integer)
RETURNS TABLE (id uuid, canonical_name text, entity_type text, aliases text[], tier integer, facts text[])
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20
SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    -- The maximum number of matches of a part that are read, in a few milliseconds. A part with more matches is hardly a name.
    read_at_most constant integer := 1000;
    -- The maximum number of similar names returned. A misspelled name is among the nearest.
    nearest constant integer := 20;
    wanted constant text := lower(p_name);
    -- Every text with this prefix sorts before the prefix followed by the last character there is.
    prefix_end constant text := wanted || chr(1114111);
    whole_key constant bigint[] := entity_name_keys(p_tenant, wanted, 4, 0, true);
    part_keys constant bigint[] := entity_name_keys(p_tenant, wanted, least(3, length(wanted)), least(3, length(wanted)), false);
    found uuid[];
    similar_ids uuid[];
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'names of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- Keys already contain the tenant. Written as an expression (tenant_id || ''), the tenant gives the planner no reason to
    -- read all of the tenant's rows. OFFSET 0 makes it look up ids alone, for the same reason.
    SELECT array_agg(m.id) INTO found FROM (
        (SELECT e.id FROM entities e
         WHERE e.tenant_id = p_tenant AND lower(e.canonical_name) = wanted AND entity_is_live(e.metadata)
           AND (p_type IS NULL OR e.entity_type = p_type) LIMIT p_limit)
        UNION
        (SELECT e.id FROM entities e
         WHERE entity_name_keys(e.tenant_id, e.lower_names, 1, 3, true) @> whole_key AND entity_is_live(e.metadata)
           AND e.tenant_id || '' = p_tenant AND strpos(e.lower_names, wanted) > 0
           AND (p_type IS NULL OR e.entity_type = p_type) LIMIT p_limit)
        UNION
        (SELECT e.id FROM entities e
         WHERE e.tenant_id = p_tenant AND entity_is_live(e.metadata)
           AND lower(e.canonical_name) ~>=~ wanted AND lower(e.canonical_name) ~<~ prefix_end
           AND (p_type IS NULL OR e.entity_type = p_type)
         ORDER BY lower(e.canonical_name) USING ~<~ LIMIT p_limit)
        UNION
        (SELECT s.id FROM (
             SELECT e.id, e.canonical_name FROM entities e
             WHERE entity_name_keys(e.tenant_id, e.lower_names, 1, 3, true) @> part_keys AND entity_is_live(e.metadata)
               AND e.tenant_id || '' = p_tenant AND strpos(e.lower_names, wanted) > 0
               AND (p_type IS NULL OR e.entity_type = p_type) LIMIT read_at_most) s
         ORDER BY s.canonical_name COLLATE "C", s.id LIMIT p_limit)
        UNION
        (SELECT e.id FROM (SELECT * FROM entities WHERE id = ANY (p_known) OFFSET 0) e
         WHERE e.tenant_id = p_tenant AND entity_is_live(e.metadata)
           AND strpos(e.lower_names, wanted) > 0 AND (p_type IS NULL OR e.entity_type = p_type))) m;
    -- Tier 4 needs pg_trgm.
    IF p_fuzzy AND to_regprocedure('word_similarity(text, text)') IS NOT NULL THEN
        similar_ids := similar_entities(p_tenant, wanted, p_type, p_threshold, p_known, coalesce(found, '{}'), least(p_limit, nearest));
    END IF;
    RETURN QUERY
        SELECT c.id, c.canonical_name, c.entity_type, c.aliases, c.tier,
               CASE WHEN p_facts > 0 THEN ARRAY(
                   SELECT f.predicate || ' ' || left(f.content, p_fact_chars) FROM facts f
                   WHERE f.entity_id = c.id AND f.tenant_id || '' = p_tenant AND f.validity = 'active'
                   ORDER BY f.created_at DESC, f.id LIMIT p_facts) END
        FROM (SELECT e.id, e.canonical_name::text AS canonical_name, e.entity_type::text AS entity_type, e.aliases,
                     CASE WHEN lower(e.canonical_name) = wanted THEN 1
                          WHEN wanted = ANY (string_to_array(e.lower_names, E'\n')) THEN 2
                          WHEN e.id = ANY (found) THEN 3
                          ELSE 4 END AS tier
              FROM entities e WHERE e.id = ANY (found || similar_ids) OFFSET 0) c
        ORDER BY c.id = ANY (p_known) DESC, c.tier, c.canonical_name COLLATE "C", c.id LIMIT p_limit;
END $$;
REVOKE EXECUTE ON FUNCTION entity_candidates FROM PUBLIC;
GRANT EXECUTE ON FUNCTION entity_candidates TO butler_app;
COMMENT ON FUNCTION entity_candidates IS 'The entities a name may mean, best tier first.';
