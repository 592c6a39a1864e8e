-- A person decides about a proposal. The embedding is made when it is approved: the model may have changed since.
CREATE OR REPLACE FUNCTION approve_proposal(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_id uuid, p_model jsonb, p_embedding real[])
RETURNS TABLE (outcome text, memory_id uuid) LANGUAGE plpgsql AS $$
DECLARE
    proposal record;
    memory jsonb;
BEGIN
    SELECT * INTO proposal FROM proposals p WHERE p.tenant_id = p_tenant AND p.id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF proposal.state <> 'open' THEN
        outcome := proposal.state;
        RETURN NEXT;
        RETURN;
    END IF;
    memory := proposal.memory || p_model || jsonb_build_object(
        'id', p_id, 'source', proposal.source, 'approval', '[]'::jsonb, 'approved', true, 'forgotten', 'lift',
        'created_event_id', gen_random_uuid(), 'superseded_event_ids', jsonb_build_array(), 'event_id', gen_random_uuid());
    -- Its episode or what it replaces may be gone by now.
    IF NOT EXISTS (SELECT FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = (memory ->> 'source_episode_id')::uuid) THEN
        memory := memory || '{"source_episode_id": null}';
    END IF;
    IF NOT EXISTS (SELECT FROM facts f WHERE f.tenant_id = p_tenant AND f.id = (memory ->> 'replaces')::uuid AND fact_is_active(f.validity)) THEN
        memory := memory || '{"replaces": null}';
    END IF;
    IF proposal.memory_type = 'fact' THEN
        SELECT s.outcome, (s.answer ->> 'id')::uuid INTO outcome, memory_id
            FROM store_fact(p_tenant, p_actor, p_request_id, p_at, memory, p_embedding, NULL) s;
    ELSE
        SELECT s.outcome, (s.answer ->> 'id')::uuid INTO outcome, memory_id
            FROM store_rule(p_tenant, p_actor, p_request_id, p_at, memory, p_embedding, NULL) s;
    END IF;
    IF outcome IN ('stored', 'confirmed') THEN
        UPDATE proposals p SET state = 'approved', decided_at = p_at, decided_by = p_actor WHERE p.tenant_id = p_tenant AND p.id = p_id;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'proposal_approved', proposal.memory_type,
            memory_id, jsonb_build_object('source', proposal.source, 'proposed_by', proposal.proposed_by));
        outcome := 'stored';
    END IF;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION approve_proposal FROM PUBLIC;
GRANT EXECUTE ON FUNCTION approve_proposal TO butler_app;
COMMENT ON FUNCTION approve_proposal IS
    'Stores a proposed memory. outcome: stored, approved or rejected (decided before), or why it cannot be stored; no row if there is no such proposal.';

CREATE OR REPLACE FUNCTION reject_proposal(p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_id uuid)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    proposal record;
BEGIN
    SELECT p.state, p.memory_type INTO proposal FROM proposals p WHERE p.tenant_id = p_tenant AND p.id = p_id FOR UPDATE;
    IF proposal.state = 'open' THEN
        UPDATE proposals p SET state = 'rejected', decided_at = p_at, decided_by = p_actor WHERE p.tenant_id = p_tenant AND p.id = p_id;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'proposal_rejected', proposal.memory_type, p_id, '{}');
    END IF;
    RETURN proposal.state;
END $$;
REVOKE EXECUTE ON FUNCTION reject_proposal FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reject_proposal TO butler_app;
COMMENT ON FUNCTION reject_proposal IS 'Rejects a proposal for good. Returns the state it was in, NULL if there is no such proposal.';

CREATE OR REPLACE FUNCTION release_episode(p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_id uuid)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    reasons jsonb;
BEGIN
    SELECT e.held_for INTO reasons FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = p_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF reasons IS NULL THEN
        RETURN false;
    END IF;
    UPDATE episodes e SET held_for = NULL WHERE e.tenant_id = p_tenant AND e.id = p_id;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'episode_released', 'episode', p_id,
        jsonb_build_object('reasons', jsonb_array_length(reasons)));
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION release_episode FROM PUBLIC;
GRANT EXECUTE ON FUNCTION release_episode TO butler_app;
COMMENT ON FUNCTION release_episode IS 'Lets consolidation read an episode that was held; false if it was not held, NULL if there is no such episode.';

-- What was approved keeps the id of its proposal, so the proposal gets a new one.
CREATE OR REPLACE FUNCTION reopen_proposal(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_id uuid, p_new_id uuid)
RETURNS TABLE (was text, kind text, reopened_id uuid) LANGUAGE plpgsql AS $$
BEGIN
    SELECT p.state, p.memory_type, CASE p.state WHEN 'approved' THEN p_new_id ELSE p.id END INTO was, kind, reopened_id
        FROM proposals p WHERE p.tenant_id = p_tenant AND p.id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF was <> 'open' THEN
        UPDATE proposals p SET id = reopened_id, state = 'open', decided_at = NULL, decided_by = NULL
            WHERE p.tenant_id = p_tenant AND p.id = p_id;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'proposal_reopened', kind, reopened_id,
            jsonb_build_object('was', was));
    END IF;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION reopen_proposal FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reopen_proposal TO butler_app;
COMMENT ON FUNCTION reopen_proposal IS
    'Opens a proposal again that was decided on. was: the state it was in; no row if there is no such proposal.';

CREATE OR REPLACE FUNCTION hold_episode(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_id uuid, p_reasons jsonb)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    episode record;
    forgotten jsonb;
BEGIN
    SELECT e.held_for, e.expires_at INTO episode FROM episodes e
        WHERE e.tenant_id = p_tenant AND e.id = p_id AND e.consolidation_status = 'pending' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF NOT episode_is_alive(episode.expires_at, p_at) THEN
        SELECT v.payload -> 'before' INTO forgotten FROM memory_events v
            WHERE v.tenant_id = p_tenant AND v.memory_id = p_id AND v.event_type = 'episode_forgotten'
            ORDER BY v.created_at DESC LIMIT 1;
        IF forgotten IS NULL THEN
            RETURN false;
        END IF;
        UPDATE episodes e SET expires_at = (forgotten ->> 'expires_at')::timestamptz WHERE e.tenant_id = p_tenant AND e.id = p_id;
    ELSIF episode.held_for IS NOT NULL THEN
        RETURN true;
    END IF;
    UPDATE episodes e SET held_for = coalesce(e.held_for, p_reasons) WHERE e.tenant_id = p_tenant AND e.id = p_id;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'proposal_reopened', 'episode', p_id,
        jsonb_build_object('was', CASE WHEN forgotten IS NULL THEN 'approved' ELSE 'rejected' END));
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION hold_episode FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hold_episode TO butler_app;
COMMENT ON FUNCTION hold_episode IS
    'Undoes the release or the rejection of an episode; false if there is no such episode or it is consolidated.';
