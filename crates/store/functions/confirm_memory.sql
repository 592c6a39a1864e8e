-- Confirming a memory restarts its decay and links the episodes that confirm it with the relation `supports`. A superseded,
-- expired, retracted or forgotten memory is not changed.

CREATE OR REPLACE FUNCTION confirm_fact(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_id uuid, p_episodes uuid[])
RETURNS TABLE (confirmed boolean, state text, confidence double precision, was_fading boolean) LANGUAGE plpgsql AS $$
DECLARE
    fact record;
BEGIN
    SELECT f.validity, f.confidence, f.last_confirmed_at, memory_is_fading(f.metadata) AS fading INTO fact
        FROM facts f WHERE f.tenant_id = p_tenant AND f.id = p_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    confirmed := fact_is_active(fact.validity);
    state := fact.validity;
    confidence := fact.confidence;
    was_fading := fact.fading;
    IF confirmed THEN
        UPDATE facts f SET last_confirmed_at = p_at, metadata = fading_unmarked(f.metadata)
            WHERE f.tenant_id = p_tenant AND f.id = p_id;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'fact_confirmed', 'fact', p_id,
            with_links(
                jsonb_build_object('before', jsonb_build_object('last_confirmed_at', fact.last_confirmed_at, 'fading', fact.fading),
                                   'after', jsonb_build_object('last_confirmed_at', p_at, 'fading', false)),
                link_episodes(p_tenant, p_at, 'supports', 'fact', p_id, p_episodes)));
    END IF;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION confirm_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION confirm_fact TO butler_app;
COMMENT ON FUNCTION confirm_fact IS 'Confirms an active fact; no row if the tenant has no such fact.';

CREATE OR REPLACE FUNCTION confirm_rule(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_id uuid, p_episodes uuid[])
RETURNS TABLE (confirmed boolean, state text, confidence double precision, was_fading boolean) LANGUAGE plpgsql AS $$
DECLARE
    rule record;
BEGIN
    SELECT r.confidence, r.last_confirmed_at, memory_is_fading(r.metadata) AS fading,
           rule_is_remembered(r.metadata) AS remembered INTO rule
        FROM rules r WHERE r.tenant_id = p_tenant AND r.id = p_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    confirmed := rule.remembered;
    state := CASE WHEN rule.remembered THEN 'active' ELSE 'forgotten' END;
    confidence := rule.confidence;
    was_fading := rule.fading;
    IF confirmed THEN
        UPDATE rules r SET last_confirmed_at = p_at, metadata = fading_unmarked(r.metadata)
            WHERE r.tenant_id = p_tenant AND r.id = p_id;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'rule_confirmed', 'rule', p_id,
            with_links(
                jsonb_build_object('before', jsonb_build_object('last_confirmed_at', rule.last_confirmed_at, 'fading', rule.fading),
                                   'after', jsonb_build_object('last_confirmed_at', p_at, 'fading', false)),
                link_episodes(p_tenant, p_at, 'supports', 'rule', p_id, p_episodes)));
    END IF;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION confirm_rule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION confirm_rule TO butler_app;
COMMENT ON FUNCTION confirm_rule IS 'Confirms a rule that is not forgotten; no row if the tenant has no such rule.';
