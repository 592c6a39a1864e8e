-- References: the end of an id stands for the memory in a line of a context block. Both functions run as the owner, because
-- row-level security prevents the use of the indexes on id_ends, and refuse another tenant themselves.
--
-- IS TRUE around the tenant keeps the planner from reading all of its rows. Memories in every state count: a reference that
-- was shown once must not come to mean another memory because the first was forgotten.

CREATE OR REPLACE FUNCTION memory_references(p_tenant text, p_ids uuid[])
RETURNS TABLE (id uuid, reference text) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    ends constant text[] := ARRAY(SELECT DISTINCT right(g.id::text, 4) FROM unnest(p_ids) AS g (id));
    -- the memories that have one of these ends
    alike uuid[];
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'references of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    alike := ARRAY(
        SELECT x.id FROM facts x WHERE id_ends(x.id) && ends AND (x.tenant_id = p_tenant) IS TRUE
        UNION ALL
        SELECT x.id FROM rules x WHERE id_ends(x.id) && ends AND (x.tenant_id = p_tenant) IS TRUE
        UNION ALL
        SELECT x.id FROM episodes x WHERE id_ends(x.id) && ends AND (x.tenant_id = p_tenant) IS TRUE);
    -- one character more than the longest end that another memory has, too
    RETURN QUERY
        SELECT g.id, CASE WHEN max(n) = 8 THEN g.id::text ELSE right(g.id::text, coalesce(max(n) + 1, 4)) END
        FROM unnest(p_ids) AS g (id)
        LEFT JOIN unnest(alike) AS x (id) ON right(x.id::text, 4) = right(g.id::text, 4) AND x.id <> g.id
        LEFT JOIN generate_series(4, 8) AS n ON right(x.id::text, n) = right(g.id::text, n)
        GROUP BY g.id;
END $$;
REVOKE EXECUTE ON FUNCTION memory_references FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_references TO butler_app;
COMMENT ON FUNCTION memory_references IS
    'For each of these memories the shortest end of its id, of at least four characters, that no other memory of the tenant has.';

-- p_end: hexadecimal digits without hyphens, at least four.
CREATE OR REPLACE FUNCTION memories_referred(p_tenant text, p_type text, p_end text) RETURNS uuid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off AS $$
DECLARE
    ends constant text[] := ARRAY[right(p_end, 4)];
    -- enough to name in an error
    most constant integer := 5;
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'references of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN CASE p_type
        WHEN 'fact' THEN ARRAY(
            SELECT x.id FROM facts x WHERE id_ends(x.id) && ends
              AND (x.tenant_id = p_tenant) IS TRUE AND right(replace(x.id::text, '-', ''), length(p_end)) = p_end LIMIT most)
        WHEN 'rule' THEN ARRAY(
            SELECT x.id FROM rules x WHERE id_ends(x.id) && ends
              AND (x.tenant_id = p_tenant) IS TRUE AND right(replace(x.id::text, '-', ''), length(p_end)) = p_end LIMIT most)
        ELSE ARRAY(
            SELECT x.id FROM episodes x WHERE id_ends(x.id) && ends
              AND (x.tenant_id = p_tenant) IS TRUE AND right(replace(x.id::text, '-', ''), length(p_end)) = p_end LIMIT most)
    END;
END $$;
REVOKE EXECUTE ON FUNCTION memories_referred FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memories_referred TO butler_app;
COMMENT ON FUNCTION memories_referred IS 'The memories of this type whose id has this end, at most five.';
