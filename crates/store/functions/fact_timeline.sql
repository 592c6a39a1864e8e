-- The facts of a key in the order of time, earliest first; of many, the latest p_limit.
CREATE OR REPLACE FUNCTION fact_timeline(
    p_tenant text, p_scope text, p_holder text, p_predicate_key text, p_at timestamptz, p_limit integer)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_agg(jsonb_build_object(
               'id', t.id, 'content', t.content, 'validity', t.validity, 'created_at', t.created_at, 'ended_at', t.ended_at,
               'when', CASE WHEN t.holds_from >= t.holds_to THEN 'never' WHEN t.holds_to <= p_at THEN 'past'
                            WHEN t.holds_from > p_at THEN 'future' ELSE 'present' END,
               'dates', fact_dates(t.valid_from, t.valid_to, t.observed_at, t.dates, t.holds_from, t.holds_to))
           ORDER BY t.holds_from, t.created_at, t.id)
    FROM (SELECT f.* FROM facts f
          WHERE f.tenant_id = p_tenant AND f.holder = p_holder AND f.predicate_key = p_predicate_key AND f.scope = p_scope
          ORDER BY f.holds_from DESC, f.created_at DESC, f.id LIMIT p_limit) t
$$;
COMMENT ON FUNCTION fact_timeline IS 'The facts of a key and when each holds.';
