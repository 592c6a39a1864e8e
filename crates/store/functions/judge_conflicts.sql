-- Stores the language model's verdicts about open conflicts. A pair that it judges to be no conflict is closed as if a person
-- had kept both facts, and can be reopened. A pair is judged once.
CREATE OR REPLACE FUNCTION judge_conflicts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_verdicts jsonb)
RETURNS TABLE (judged integer, closed integer) LANGUAGE plpgsql AS $$
DECLARE
    said record;
    pair record;
BEGIN
    judged := 0;
    closed := 0;
    FOR said IN
        SELECT v.id, v.event_id, v.verdict, v.reason
        FROM jsonb_to_recordset(p_verdicts) AS v (id uuid, event_id uuid, verdict text, reason text)
        ORDER BY v.id
    LOOP
        -- Somebody may have resolved it meanwhile.
        UPDATE conflicts c SET verdict = said.verdict, reason = said.reason, judged_at = p_at
            WHERE c.tenant_id = p_tenant AND c.id = said.id AND c.state = 'open' AND c.judged_at IS NULL
            RETURNING c.fact_a, c.fact_b INTO pair;
        CONTINUE WHEN NOT FOUND;
        judged := judged + 1;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, said.event_id, 'conflict_judged', 'fact', pair.fact_a,
            jsonb_build_object('conflict_id', said.id, 'verdict', said.verdict, 'other_id', pair.fact_b));
        IF said.verdict IN ('both_true', 'unrelated') THEN
            closed := closed + 1;
            PERFORM close_conflict(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), said.id, 'keep_both', NULL);
        END IF;
    END LOOP;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION judge_conflicts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION judge_conflicts TO butler_app;
COMMENT ON FUNCTION judge_conflicts IS 'Keeps verdicts about open conflicts. Returns how many are new, and how many of them closed the conflict.';
