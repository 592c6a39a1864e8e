-- Part of the functions that store, link or merge facts: the loser stays in the history, and the winner names it. Returns
-- the link for the winner's event. A winner may supersede several: supersedes_id names the first.
CREATE OR REPLACE FUNCTION supersede_fact(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_winner uuid, p_loser uuid)
RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
        VALUES (p_tenant, 'fact', p_winner, 'fact', p_loser, 'supersedes', p_at)
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        -- Two memories have one link in each direction. The two may have contradicted each other before.
        UPDATE memory_links l SET relation = 'supersedes', created_at = p_at
            WHERE l.tenant_id = p_tenant AND l.source_type = 'fact' AND l.source_id = p_winner
              AND l.target_type = 'fact' AND l.target_id = p_loser AND l.relation <> 'supersedes';
    END IF;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'fact_superseded', 'fact', p_loser,
        jsonb_build_object('before', jsonb_build_object('validity', 'active'),
                           'after', jsonb_build_object('validity', 'superseded'),
                           'superseded_by', p_winner));
    RETURN jsonb_build_object('relation', 'supersedes', 'target_type', 'fact', 'target_id', p_loser);
END $$;
REVOKE EXECUTE ON FUNCTION supersede_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION supersede_fact TO butler_app;
COMMENT ON FUNCTION supersede_fact IS 'Records that one fact superseded another: the link and the event. The caller has set validity.';
