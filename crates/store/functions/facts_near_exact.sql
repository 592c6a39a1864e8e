-- What consolidation compares with a part of a conversation: the nearest facts, by comparing all of the tenant's. OFFSET 0
-- keeps the planner from ordering by the approximate index. Two statements, because a condition "p_scope IS NULL OR …"
-- could not use an index. rules_near_exact.sql is the same for rules; a test keeps the two equal (tests/schema/families.rs).
CREATE OR REPLACE FUNCTION facts_near_exact(p_tenant text, p_scope text, p_query vector, p_take integer)
RETURNS TABLE (id uuid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $$
DECLARE
    active constant text := 'active';
BEGIN
    IF p_scope IS NULL THEN
        RETURN QUERY
            SELECT n.id, n.distance
            FROM (SELECT r.id, r.embedding <=> p_query AS distance
                  FROM facts r
                  WHERE r.tenant_id = p_tenant
                    AND r.validity = active
                    AND r.embedding IS NOT NULL OFFSET 0) n
            ORDER BY n.distance, n.id LIMIT p_take;
    ELSE
        RETURN QUERY
            SELECT n.id, n.distance
            FROM (SELECT r.id, r.embedding <=> p_query AS distance
                  FROM facts r
                  WHERE r.tenant_id = p_tenant
                    AND r.validity = active
                    AND r.scope = ANY (ARRAY['global', p_scope])
                    AND r.embedding IS NOT NULL OFFSET 0) n
            ORDER BY n.distance, n.id LIMIT p_take;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION facts_near_exact FROM PUBLIC;
COMMENT ON FUNCTION facts_near_exact IS 'The nearest facts by comparing all of the tenant''s.';
