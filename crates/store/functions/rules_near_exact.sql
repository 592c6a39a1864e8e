-- facts_near_exact for rules. facts_near_exact.sql explains how it works; a test keeps the files equal (tests/schema/families.rs).

CREATE OR REPLACE FUNCTION rules_near_exact(p_tenant text, p_scope text, p_query vector, p_take integer)
RETURNS TABLE (id uuid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $$
BEGIN
    IF p_scope IS NULL THEN
        RETURN QUERY
            SELECT n.id, n.distance
            FROM (SELECT r.id, r.embedding <=> p_query AS distance
                  FROM rules r
                  WHERE r.tenant_id = p_tenant
                    AND r.embedding IS NOT NULL OFFSET 0) n
            ORDER BY n.distance, n.id LIMIT p_take;
    ELSE
        RETURN QUERY
            SELECT n.id, n.distance
            FROM (SELECT r.id, r.embedding <=> p_query AS distance
                  FROM rules r
                  WHERE r.tenant_id = p_tenant
                    AND r.scope = ANY (ARRAY['global', p_scope])
                    AND r.embedding IS NOT NULL OFFSET 0) n
            ORDER BY n.distance, n.id LIMIT p_take;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION rules_near_exact FROM PUBLIC;
COMMENT ON FUNCTION rules_near_exact IS 'The nearest rules by comparing all of the tenant''s.';
