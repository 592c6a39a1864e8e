-- Counts one reference of each row that a recall returned, and records what was served to whom: one row a call. Both are one
-- statement, after the answer.
--
-- Rows are locked in the order of their ids, so two calls that count the same rows never wait for each other.
--
-- A generic plan assumes that each tenant has the average number of rows. Where that is a few hundred, it would look for
-- ten ids among all rows of the tenant: 40 ms for a tenant with 200k facts instead of 1 ms. IS TRUE around
-- the tenant keeps the planner from doing so. The policy of row-level security would bring that plan back, so this function
-- runs as the owner and refuses another tenant itself.
--
-- p_served: id, kind, actor, session_id, request_id, query_hash (hex), memory_types, memory_ids and scores, as injections has
-- them. NULL: nothing is recorded.
CREATE OR REPLACE FUNCTION memory_bump(
    p_tenant text, p_at timestamptz, p_facts uuid[], p_rules uuid[], p_episodes uuid[], p_served jsonb DEFAULT NULL)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_bitmapscan = off SET client_min_messages = warning
AS $$
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'references of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF cardinality(p_facts) > 0 THEN
        PERFORM FROM facts WHERE id = ANY (p_facts) AND (tenant_id = p_tenant) IS TRUE ORDER BY id FOR NO KEY UPDATE;
        UPDATE facts SET reference_count = reference_count + 1, last_referenced_at = p_at
            WHERE id = ANY (p_facts) AND (tenant_id = p_tenant) IS TRUE;
    END IF;
    IF cardinality(p_rules) > 0 THEN
        PERFORM FROM rules WHERE id = ANY (p_rules) AND (tenant_id = p_tenant) IS TRUE ORDER BY id FOR NO KEY UPDATE;
        UPDATE rules SET reference_count = reference_count + 1, last_referenced_at = p_at
            WHERE id = ANY (p_rules) AND (tenant_id = p_tenant) IS TRUE;
    END IF;
    IF cardinality(p_episodes) > 0 THEN
        PERFORM FROM episodes WHERE id = ANY (p_episodes) AND (tenant_id = p_tenant) IS TRUE ORDER BY id FOR NO KEY UPDATE;
        UPDATE episodes SET reference_count = reference_count + 1, last_referenced_at = p_at
            WHERE id = ANY (p_episodes) AND (tenant_id = p_tenant) IS TRUE;
    END IF;
    IF p_served IS NOT NULL THEN
        INSERT INTO injections (id, tenant_id, kind, actor, session_id, request_id, query_hash, memory_types, memory_ids, scores,
                                served_at)
            SELECT s.id, p_tenant, s.kind, s.actor, s.session_id, s.request_id, decode(s.query_hash, 'hex'), s.memory_types,
                   s.memory_ids, s.scores, p_at
            FROM jsonb_to_record(p_served) AS s (
                id uuid, kind text, actor text, session_id text, request_id text, query_hash text, memory_types text[],
                memory_ids uuid[], scores real[]);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION memory_bump FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_bump TO butler_app;
COMMENT ON FUNCTION memory_bump IS 'Counts one reference of each of these memories, and records what was served.';
