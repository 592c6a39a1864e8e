CREATE OR REPLACE FUNCTION store_rule(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_rule jsonb, p_embedding real[], p_request jsonb)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    rule record;
BEGIN
    SELECT * INTO rule FROM jsonb_to_record(p_rule) AS given (
        id uuid, content text, search_text text, scope text, maturity text, confidence double precision,
        decay_rate double precision, permanence text, source_episode_id uuid, derived_from uuid[], source_butler text, tags jsonb, metadata jsonb,
        model text, model_version text, dimensions integer, event_id uuid, event jsonb);

    IF rule.source_episode_id IS NOT NULL THEN
        PERFORM FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = rule.source_episode_id;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
    END IF;

    INSERT INTO rules (tenant_id, id, content, embedding, search_vector, scope, maturity, confidence, decay_rate, permanence,
                       source_episode_id, source_butler, created_at, last_confirmed_at, tags, metadata, embedding_version_id)
        VALUES (p_tenant, rule.id, rule.content, p_embedding::vector, memory_search_vector(rule.search_text), rule.scope,
                rule.maturity, rule.confidence, rule.decay_rate, rule.permanence, rule.source_episode_id, rule.source_butler,
                p_at, p_at, rule.tags, rule.metadata,
                embedding_version(p_tenant, rule.model, rule.model_version, rule.dimensions, p_at));
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, rule.event_id, 'rule_created', 'rule', rule.id,
        with_links(rule.event, link_episodes(
            p_tenant, p_at, 'derived_from', 'rule', rule.id, rule.derived_from || rule.source_episode_id)));
    PERFORM keep_response(p_tenant, p_at, p_request, jsonb_build_object('id', rule.id));
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION store_rule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION store_rule TO butler_app;
COMMENT ON FUNCTION store_rule IS 'Stores a rule; false, and nothing changed, if its source episode does not exist.';
