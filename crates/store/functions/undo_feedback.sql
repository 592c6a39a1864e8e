-- Undoes the last confirmation or mark of a memory, as long as nothing else happened to it. The event of the confirmation
-- or mark says what was there before. The actor undoes only its own. p_made_at: the time of the
-- event to undo; NULL: the last one.
CREATE OR REPLACE FUNCTION undo_feedback(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_type text, p_id uuid,
    p_made_at timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    last record;
    before jsonb;
BEGIN
    IF p_type = 'fact' THEN
        PERFORM FROM facts f WHERE f.tenant_id = p_tenant AND f.id = p_id FOR NO KEY UPDATE;
    ELSE
        PERFORM FROM rules r WHERE r.tenant_id = p_tenant AND r.id = p_id FOR NO KEY UPDATE;
    END IF;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    -- Only a mark promotes or demotes, and its own event says the maturity before it.
    SELECT e.event_type, e.payload, e.actor, e.created_at INTO last
        FROM memory_events e
        WHERE e.tenant_id = p_tenant AND e.memory_id = p_id
          AND e.event_type <> ALL ('{link_created,rule_promoted,rule_demoted}')
        ORDER BY e.created_at DESC, e.id DESC LIMIT 1;
    -- Somebody else may have confirmed it since.
    IF last.actor IS DISTINCT FROM p_actor OR last.created_at <> p_made_at THEN
        RETURN false;
    END IF;
    before := last.payload -> 'before';
    IF last.event_type IN ('fact_confirmed', 'rule_confirmed') AND NOT last.payload ? 'links' THEN
        IF p_type = 'fact' THEN
            UPDATE facts f SET
                last_confirmed_at = (before ->> 'last_confirmed_at')::timestamptz,
                metadata = CASE WHEN (before ->> 'fading')::boolean THEN fading_marked(f.metadata) ELSE f.metadata END
                WHERE f.tenant_id = p_tenant AND f.id = p_id;
        ELSE
            UPDATE rules r SET
                last_confirmed_at = (before ->> 'last_confirmed_at')::timestamptz,
                metadata = CASE WHEN (before ->> 'fading')::boolean THEN fading_marked(r.metadata) ELSE r.metadata END
                WHERE r.tenant_id = p_tenant AND r.id = p_id;
        END IF;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'confirmation_undone', p_type, p_id,
            jsonb_build_object('before', last.payload -> 'after', 'after', before));
        RETURN true;
    END IF;
    -- Events of older versions do not have the metadata.
    IF last.event_type IN ('rule_marked_helpful', 'rule_marked_harmful') AND before ? 'metadata' THEN
        UPDATE rules r SET
            applied_count = (before ->> 'applied_count')::integer, success_count = (before ->> 'success_count')::integer,
            harmful_count = (before ->> 'harmful_count')::integer,
            effectiveness_score = (before ->> 'effectiveness_score')::double precision, maturity = before ->> 'maturity',
            last_applied_at = (before ->> 'last_applied_at')::timestamptz, last_evaluated_at = p_at,
            last_confirmed_at = (before ->> 'last_confirmed_at')::timestamptz, metadata = before -> 'metadata'
            WHERE r.tenant_id = p_tenant AND r.id = p_id;
        DELETE FROM rule_applications a
            WHERE a.tenant_id = p_tenant AND a.id = (
                SELECT n.id FROM rule_applications n WHERE n.tenant_id = p_tenant AND n.rule_id = p_id
                ORDER BY n.applied_at DESC, n.id DESC LIMIT 1);
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'mark_undone', 'rule', p_id,
            jsonb_build_object('mark', CASE last.event_type WHEN 'rule_marked_helpful' THEN 'helpful' ELSE 'harmful' END,
                               'before', last.payload -> 'after', 'after', before - 'metadata'));
        RETURN true;
    END IF;
    RETURN false;
END $$;
REVOKE EXECUTE ON FUNCTION undo_feedback FROM PUBLIC;
GRANT EXECUTE ON FUNCTION undo_feedback TO butler_app;
COMMENT ON FUNCTION undo_feedback IS
    'Undoes the actor''s last confirmation or mark, if it was made at the time given; false if something else happened since, NULL if the tenant has no such memory.';
