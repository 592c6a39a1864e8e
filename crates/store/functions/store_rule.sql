CREATE OR REPLACE FUNCTION store_rule(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_rule jsonb, p_embedding real[], p_request jsonb)
RETURNS TABLE (outcome text, answer jsonb) LANGUAGE plpgsql AS $$
DECLARE
    rule record;
    said_key text;
    version uuid;
BEGIN
    SELECT * INTO rule FROM jsonb_to_record(p_rule) AS given (
        id uuid, content text, search_text text, scope text, maturity text, confidence double precision,
        decay_rate double precision, permanence text, source_episode_id uuid, derived_from uuid[], source_butler text, tags jsonb, metadata jsonb,
        model text, model_version text, dimensions integer, source text, approval text[], approved boolean, forgotten text,
        near double precision, event_id uuid, event jsonb);

    IF rule.source_episode_id IS NOT NULL THEN
        PERFORM FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = rule.source_episode_id;
        IF NOT FOUND THEN
            outcome := 'no_episode';
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    rule.source := least_trusted(p_tenant, rule.source, rule.derived_from || rule.source_episode_id);
    version := embedding_version(p_tenant, rule.model, rule.model_version, rule.dimensions, p_at);
    IF rule.forgotten <> 'checked' THEN
        SELECT jsonb_agg(to_jsonb(f)) INTO answer FROM forgotten_rules(p_tenant, rule.content, p_embedding, version, rule.near) f;
        IF answer IS NOT NULL AND rule.forgotten = 'heed' THEN
            outcome := 'forgotten';
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    said_key := md5(concat_ws(E'\x1f', 'rule', content_key(rule.content)))
        || md5(concat_ws(E'\x1f', 'rule', rule.scope, content_key(rule.content)));
    -- unless a person states or approves it, or it is stored already, in whatever scope
    IF rule.source <> 'person' AND rule.approved IS NOT TRUE AND was_rejected(p_tenant, said_key, ARRAY[left(said_key, 32)])
       AND NOT EXISTS (SELECT FROM rules r
                       WHERE r.tenant_id = p_tenant AND content_key(r.content) = content_key(rule.content)
                         AND rule_is_remembered(r.metadata)) THEN
        outcome := 'rejected';
        RETURN NEXT;
        RETURN;
    END IF;
    IF rule.source = ANY (rule.approval) THEN
        SELECT 'known', jsonb_build_object('id', r.id) INTO outcome, answer
            FROM rules r
            WHERE r.tenant_id = p_tenant AND r.scope = rule.scope AND r.content = rule.content AND rule_is_remembered(r.metadata)
            ORDER BY r.created_at, r.id LIMIT 1;
        IF FOUND THEN
            RETURN NEXT;
            RETURN;
        END IF;
        SELECT p.outcome, jsonb_build_object('id', p.proposal_id, 'proposed', true) INTO outcome, answer
            FROM propose(p_tenant, p_actor, p_request_id, p_at, 'rule', rule.id, p_rule, said_key, rule.source) p;
        PERFORM keep_response(p_tenant, p_at, p_request, answer) WHERE outcome = 'proposed';
        RETURN NEXT;
        RETURN;
    END IF;

    PERFORM lift_tombstone(p_tenant, p_actor, p_request_id, p_at, 'rule', (f ->> 'id')::uuid)
        FROM jsonb_array_elements(answer) f WHERE (f ->> 'is_same')::boolean;
    INSERT INTO rules (tenant_id, id, content, embedding, search_vector, scope, maturity, confidence, decay_rate, permanence,
                       source_episode_id, source_butler, created_at, last_confirmed_at, tags, metadata, embedding_version_id, source)
        VALUES (p_tenant, rule.id, rule.content, p_embedding::vector, memory_search_vector(rule.search_text), rule.scope,
                rule.maturity, rule.confidence, rule.decay_rate, rule.permanence, rule.source_episode_id, rule.source_butler,
                p_at, p_at, rule.tags, rule.metadata, version, rule.source);
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, rule.event_id, 'rule_created', 'rule', rule.id,
        with_links(jsonb_set(rule.event, '{after,source}', to_jsonb(rule.source)), link_episodes(
            p_tenant, p_at, 'derived_from', 'rule', rule.id, rule.derived_from || rule.source_episode_id)));
    outcome := 'stored';
    answer := jsonb_build_object('id', rule.id);
    PERFORM keep_response(p_tenant, p_at, p_request, answer);
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION store_rule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION store_rule TO butler_app;
COMMENT ON FUNCTION store_rule IS
    'Stores a rule. outcome: stored, proposed (it waits for approval), or why nothing was stored: no_episode, known,  forgotten (answer: the '
    'candidates), rejected (the proposal was).';
