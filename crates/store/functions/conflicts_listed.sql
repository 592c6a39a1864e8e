CREATE OR REPLACE FUNCTION conflict_side(p_tenant text, p_at timestamptz, p_fact uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'id', f.id, 'subject', f.subject, 'predicate', f.predicate, 'content', f.content, 'scope', f.scope,
        'validity', f.validity, 'source', f.source, 'source_butler', f.source_butler, 'source_episode_id', f.source_episode_id,
        'created_at', f.created_at, 'last_confirmed_at', f.last_confirmed_at,
        'effective_confidence', effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at))
    FROM facts f WHERE f.tenant_id = p_tenant AND f.id = p_fact
$$;
COMMENT ON FUNCTION conflict_side IS 'What a person or agent needs to judge one fact of a conflict.';

CREATE OR REPLACE FUNCTION conflicts_listed(
    p_tenant text, p_at timestamptz, p_open boolean, p_id uuid, p_limit bigint, p_offset bigint)
RETURNS TABLE (conflict jsonb, total bigint) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
        SELECT jsonb_build_object(
                   'id', c.id, 'kind', c.kind, 'why', c.why, 'score', c.score, 'detected_at', c.found_at, 'found_by', c.found_by,
                   'resolution', c.resolution, 'resolved_at', c.resolved_at, 'resolved_by', c.resolved_by,
                   'verdict', c.verdict, 'reason', c.reason, 'judged_at', c.judged_at,
                   'a', conflict_side(p_tenant, p_at, c.fact_a), 'b', conflict_side(p_tenant, p_at, c.fact_b)),
               c.total
        FROM (SELECT k.*, count(*) OVER () AS total
              FROM conflicts k
              JOIN facts a ON a.tenant_id = p_tenant AND a.id = k.fact_a
              JOIN facts b ON b.tenant_id = p_tenant AND b.id = k.fact_b
              WHERE k.tenant_id = p_tenant
                AND CASE WHEN p_id IS NOT NULL THEN k.id = p_id
                         WHEN p_open THEN k.state = 'open' AND fact_is_active(a.validity) AND fact_is_active(b.validity)
                         ELSE k.state = 'resolved' END
              ORDER BY k.found_at DESC, k.id LIMIT p_limit OFFSET p_offset) c
        ORDER BY c.found_at DESC, c.id;
END $$;
REVOKE EXECUTE ON FUNCTION conflicts_listed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION conflicts_listed TO butler_app;
COMMENT ON FUNCTION conflicts_listed IS
    'A page of the open conflicts whose facts are both active, or of the resolved ones; with p_id, that one whatever its state.';
