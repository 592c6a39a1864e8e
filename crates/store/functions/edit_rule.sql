-- Overwrites a rule that the caller has locked (rules_feedback::lock). The event keeps all that was there before, so that
-- the edit can be undone.
CREATE OR REPLACE FUNCTION edit_rule(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_rule jsonb, p_embedding real[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    rule record;
BEGIN
    SELECT * INTO rule FROM jsonb_to_record(p_rule) AS given (
        id uuid, content text, search_text text, scope text, maturity text, permanence text, decay_rate double precision,
        effectiveness_score double precision, applied_count integer, success_count integer, harmful_count integer,
        last_confirmed_at timestamptz, tags jsonb, metadata jsonb, model text, model_version text, dimensions integer,
        event_id uuid, event_type text, event jsonb);

    UPDATE rules r SET
        content = rule.content, scope = rule.scope, maturity = rule.maturity, permanence = rule.permanence,
        decay_rate = rule.decay_rate, effectiveness_score = rule.effectiveness_score, applied_count = rule.applied_count,
        success_count = rule.success_count, harmful_count = rule.harmful_count, last_confirmed_at = rule.last_confirmed_at,
        last_evaluated_at = p_at, tags = rule.tags, metadata = rule.metadata, embedding = p_embedding::vector,
        embedding_version_id = embedding_version(p_tenant, rule.model, rule.model_version, rule.dimensions, p_at),
        search_vector = memory_search_vector(rule.search_text)
        WHERE r.tenant_id = p_tenant AND r.id = rule.id;
    IF FOUND THEN
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, rule.event_id, rule.event_type, 'rule', rule.id, rule.event);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION edit_rule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION edit_rule TO butler_app;
COMMENT ON FUNCTION edit_rule IS 'Overwrites a rule, with its words, vectors and counts.';
