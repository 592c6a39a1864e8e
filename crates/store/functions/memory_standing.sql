-- Which filters of a search one memory passes, to explain why a call did not return it. Each filter is the function that the
-- search itself uses; NULL: the filter does not apply. The search itself tells the ranks.
--
-- p_request: scope, at, asked, holding, model and model_version, as in memory_retrieve.
CREATE OR REPLACE FUNCTION memory_standing(p_tenant text, p_id uuid, p_request jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    at constant timestamptz := p_request ->> 'at';
    in_scope constant text := p_request ->> 'scope';
    time_filter constant jsonb := p_request -> 'asked';
    as_of constant timestamptz := time_filter ->> 'as_of';
    since constant timestamptz := coalesce((time_filter ->> 'since')::timestamptz, '-infinity');
    until constant timestamptz := coalesce((time_filter ->> 'until')::timestamptz, 'infinity');
    holding constant timestamptz := CASE WHEN time_filter IS NULL AND (p_request ->> 'holding')::boolean THEN at END;
    version constant uuid := (SELECT v.id FROM embedding_versions v
        WHERE v.tenant_id = p_tenant AND v.model = p_request ->> 'model' AND v.version = p_request ->> 'model_version');
    standing jsonb;
BEGIN
    SELECT jsonb_build_object(
               'memory_type', 'fact', 'scope', r.scope, 'state', r.validity,
               'label', concat_ws(' ', r.subject, replace(r.predicate, '_', ' ') || ':', left(r.content, 160)),
               'in_scope', in_scope IS NULL OR r.scope = ANY (ARRAY['global', in_scope]),
               'is_live', time_filter ?| '{first,as_of}' IS TRUE OR fact_is_active(r.validity),
               'holds', fact_holds(r.holds_from, r.holds_to, holding),
               'fits', CASE WHEN time_filter IS NOT NULL THEN fact_fits(
                           r.id, r.validity, r.holds_from, r.holds_to, r.placed_at, r.ended_at, r.created_at, r.observed_at, at,
                           time_filter) END,
               'holds_from', CASE WHEN isfinite(r.holds_from) THEN r.holds_from END,
               'holds_to', CASE WHEN isfinite(r.holds_to) THEN r.holds_to END,
               'effective_confidence', effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, at),
               'superseded_by', (SELECT n.id FROM facts n WHERE n.tenant_id = p_tenant AND n.supersedes_id = r.id
                                 ORDER BY n.created_at DESC, n.id LIMIT 1),
               'is_embedded', r.embedding IS NOT NULL, 'is_of_model', r.embedding_version_id = version)
        INTO standing FROM facts r WHERE r.tenant_id = p_tenant AND r.id = p_id;
    IF standing IS NOT NULL THEN
        RETURN standing;
    END IF;
    SELECT jsonb_build_object(
               'memory_type', 'rule', 'scope', r.scope, 'label', left(r.content, 200),
               'state', CASE WHEN rule_is_remembered(r.metadata) THEN 'active'
                             WHEN rule_has_decayed(p_tenant, r.id, r.metadata) THEN 'expired' ELSE 'forgotten' END,
               'in_scope', in_scope IS NULL OR r.scope = ANY (ARRAY['global', in_scope]),
               'is_live', rule_known(p_tenant, r.id, r.created_at, r.metadata, as_of),
               'fits', CASE WHEN time_filter IS NOT NULL THEN r.created_at >= since AND r.created_at < until END,
               -- A warning is found whatever its confidence.
               'effective_confidence', CASE WHEN r.maturity <> 'anti_pattern'
                   THEN effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, at) END,
               'is_embedded', r.embedding IS NOT NULL, 'is_of_model', r.embedding_version_id = version)
        INTO standing FROM rules r WHERE r.tenant_id = p_tenant AND r.id = p_id;
    IF standing IS NOT NULL THEN
        RETURN standing;
    END IF;
    SELECT jsonb_build_object(
               'memory_type', 'episode', 'scope', r.butler, 'label', left(r.content, 200),
               'state', CASE WHEN episode_is_alive(r.expires_at, at) THEN 'active'
                             WHEN episode_is_learnable(p_tenant, r.id, r.expires_at, at) THEN 'expired' ELSE 'forgotten' END,
               'in_scope', in_scope IS NULL OR r.butler = in_scope,
               'is_live', episode_is_alive(r.expires_at, coalesce(as_of, at)),
               'fits', CASE WHEN time_filter IS NOT NULL THEN r.occurred_at >= since AND r.occurred_at < until
                           AND r.occurred_at <= coalesce((time_filter ->> 'last')::timestamptz, 'infinity')
                           AND (as_of IS NULL OR r.created_at <= as_of) END,
               'is_held', r.held_for IS NOT NULL,
               'is_embedded', r.embedding IS NOT NULL, 'is_of_model', r.embedding_version_id = version)
        INTO standing FROM episodes r WHERE r.tenant_id = p_tenant AND r.id = p_id;
    IF standing IS NOT NULL THEN
        RETURN standing;
    END IF;
    -- An approved proposal is a memory of its own.
    SELECT jsonb_build_object(
               'memory_type', p.memory_type, 'scope', coalesce(p.memory ->> 'scope', 'global'),
               'label', concat_ws(' ', p.memory ->> 'subject', replace(p.memory ->> 'predicate', '_', ' ') || ':',
                                  left(p.memory ->> 'content', 160)),
               'state', CASE p.state WHEN 'open' THEN 'proposed' ELSE p.state END,
               'in_scope', in_scope IS NULL OR coalesce(p.memory ->> 'scope', 'global') = ANY (ARRAY['global', in_scope]),
               'is_live', false, 'is_embedded', false)
        INTO standing FROM proposals p WHERE p.tenant_id = p_tenant AND p.id = p_id AND p.state <> 'approved';
    RETURN standing;
END $$;
REVOKE EXECUTE ON FUNCTION memory_standing FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_standing TO butler_app;
COMMENT ON FUNCTION memory_standing IS 'Which filters of a search one memory passes. NULL: the tenant has no such memory.';
