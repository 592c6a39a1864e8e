-- Writes the result of a mark to a rule that the caller has locked (rules_feedback::lock). What a mark does to the counts
-- and the maturity is decided by domain::maturity.
CREATE OR REPLACE FUNCTION mark_rule(p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_mark jsonb)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    mark record;
    event record;
BEGIN
    SELECT * INTO mark FROM jsonb_to_record(p_mark) AS given (
        rule_id uuid, application_id uuid, outcome text, reason text, context jsonb, applied_count integer, success_count integer,
        harmful_count integer, effectiveness_score double precision, maturity text, metadata jsonb, events jsonb);

    UPDATE rules r SET
        applied_count = mark.applied_count, success_count = mark.success_count, harmful_count = mark.harmful_count,
        effectiveness_score = mark.effectiveness_score, maturity = mark.maturity, last_applied_at = p_at,
        last_evaluated_at = p_at, metadata = mark.metadata,
        -- success confirms a rule
        last_confirmed_at = CASE WHEN mark.outcome = 'helpful' THEN p_at ELSE r.last_confirmed_at END
        WHERE r.tenant_id = p_tenant AND r.id = mark.rule_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO rule_applications (tenant_id, id, rule_id, outcome, reason, effectiveness_score, maturity, actor, request_id,
                                   context, applied_at)
        VALUES (p_tenant, mark.application_id, mark.rule_id, mark.outcome, mark.reason, mark.effectiveness_score,
                mark.maturity, p_actor, p_request_id, mark.context, p_at);
    FOR event IN SELECT * FROM jsonb_to_recordset(mark.events) AS given (id uuid, event_type text, payload jsonb) LOOP
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, event.id, event.event_type, 'rule', mark.rule_id,
            event.payload);
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION mark_rule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mark_rule TO butler_app;
COMMENT ON FUNCTION mark_rule IS 'Writes what a helpful or harmful application made of a rule.';
