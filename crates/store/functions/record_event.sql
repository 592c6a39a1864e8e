-- The audit stream. Each write calls one of these in its own transaction, so a change and its event are kept or lost
-- together. Nothing else inserts events, except an import, which copies them as they were.
--
-- Every write starts with the same four parameters: whose memory changes, who changes it, in which request, and when.

CREATE OR REPLACE FUNCTION record_event(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz,
    p_event_id uuid, p_event_type text, p_memory_type text, p_memory_id uuid, p_payload jsonb)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memory_events (tenant_id, actor, request_id, created_at, id, event_type, memory_type, memory_id, payload)
        VALUES (p_tenant, p_actor, p_request_id, p_at, p_event_id, p_event_type, p_memory_type, p_memory_id, p_payload);
END $$;
REVOKE EXECUTE ON FUNCTION record_event FROM PUBLIC;
GRANT EXECUTE ON FUNCTION record_event TO butler_app;
COMMENT ON FUNCTION record_event IS 'Records a change of one memory or entity.';

CREATE OR REPLACE FUNCTION record_events(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz,
    p_event_type text, p_memory_type text, p_memory_ids uuid[], p_payloads jsonb[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memory_events (tenant_id, actor, request_id, created_at, event_type, memory_type, memory_id, payload)
        SELECT p_tenant, p_actor, p_request_id, p_at, p_event_type, p_memory_type, changed.memory_id, changed.payload
        FROM unnest(p_memory_ids, p_payloads) AS changed (memory_id, payload);
END $$;
REVOKE EXECUTE ON FUNCTION record_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION record_events TO butler_app;
COMMENT ON FUNCTION record_events IS 'Records the same kind of change of many memories, each with its own payload.';
