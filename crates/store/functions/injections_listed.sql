-- What agents were given, for people. The memories are joined when the list is read, so a row shows their present text. A
-- memory that no longer exists has none.
--
-- Why a function. Under row-level security the index on the ids of memories cannot be used, because the operator && is not
-- leakproof. This function runs as the owner and refuses another tenant itself, as memory_retrieve does.
--
-- p_session: only this session's calls; p_memory: only calls that served this memory, each with this memory alone. NULL: all.
-- p_after_at, p_after_id: the last row of the page before.
CREATE OR REPLACE FUNCTION injections_listed(
    p_tenant text, p_at timestamptz, p_session text, p_memory uuid, p_after_at timestamptz, p_after_id uuid, p_limit bigint,
    p_offset bigint)
RETURNS TABLE (id uuid, kind text, actor text, session_id text, request_id text, query_hash bytea, served_at timestamptz,
               memories jsonb, total bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    of_all bigint;
    places tid[];
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'injections of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF p_memory IS NULL THEN
        SELECT count(*) INTO of_all FROM injections i
            WHERE i.tenant_id = p_tenant AND (p_session IS NULL OR i.session_id = p_session);
        places := ARRAY(
            SELECT i.ctid FROM injections i
            WHERE i.tenant_id = p_tenant AND (p_session IS NULL OR i.session_id = p_session)
              AND (p_after_at IS NULL OR (i.served_at, i.id) < (p_after_at, p_after_id))
            ORDER BY i.served_at DESC, i.id DESC LIMIT p_limit OFFSET p_offset);
    ELSE
        -- IS TRUE keeps the planner from reading all rows of the tenant.
        SELECT count(*) INTO of_all FROM injections i
            WHERE i.memory_ids && ARRAY[p_memory] AND (i.tenant_id = p_tenant AND (p_session IS NULL OR i.session_id = p_session)) IS TRUE;
        places := ARRAY(
            SELECT i.ctid FROM injections i
            WHERE i.memory_ids && ARRAY[p_memory] AND (i.tenant_id = p_tenant AND (p_session IS NULL OR i.session_id = p_session)) IS TRUE
              AND (p_after_at IS NULL OR (i.served_at, i.id) < (p_after_at, p_after_id))
            ORDER BY i.served_at DESC, i.id DESC LIMIT p_limit OFFSET p_offset);
    END IF;
    RETURN QUERY
    SELECT s.id, s.kind, s.actor, s.session_id, s.request_id, s.query_hash, s.served_at,
           (SELECT coalesce(jsonb_agg(jsonb_build_object(
                       'memory_type', m.type, 'id', m.id, 'rank', m.rank, 'score', m.score, 'state', t.state, 'label', t.label)
                       ORDER BY m.rank), '[]')
            FROM unnest(s.memory_types, s.memory_ids, s.scores) WITH ORDINALITY AS m (type, id, score, rank)
            LEFT JOIN LATERAL (
                SELECT f.validity AS state, concat_ws(' ', f.subject, replace(f.predicate, '_', ' ') || ':', left(f.content, 160)) AS label
                FROM facts f WHERE m.type = 'fact' AND f.id = m.id AND f.tenant_id = p_tenant
                UNION ALL
                SELECT CASE WHEN rule_is_remembered(r.metadata) THEN 'active' ELSE 'forgotten' END, left(r.content, 200)
                FROM rules r WHERE m.type = 'rule' AND r.id = m.id AND r.tenant_id = p_tenant
                UNION ALL
                SELECT CASE WHEN episode_is_alive(e.expires_at, p_at) THEN 'active' ELSE 'expired' END, left(e.content, 200)
                FROM episodes e WHERE m.type = 'episode' AND e.id = m.id AND e.tenant_id = p_tenant) t ON true
            WHERE p_memory IS NULL OR m.id = p_memory),
           of_all
    FROM injections s WHERE s.ctid = ANY (places) ORDER BY s.served_at DESC, s.id DESC;
END $$;
REVOKE EXECUTE ON FUNCTION injections_listed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION injections_listed TO butler_app;
COMMENT ON FUNCTION injections_listed IS 'A page of the calls that gave memories to an agent, newest first, with the present text of the memories.';
