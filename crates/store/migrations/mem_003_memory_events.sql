-- mem_003: the audit stream. Append-only: nobody updates or deletes a row, except the retention role, on purpose.

CREATE TABLE memory_events (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    event_type  text NOT NULL,
    actor       text,
    tenant_id   text NOT NULL DEFAULT 'default',
    -- what the event is about, so that the history of one memory is an index scan
    memory_type text,
    memory_id   uuid,
    request_id  text,
    payload     jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT memory_events_memory_type_known CHECK (memory_type IN ('episode', 'fact', 'rule', 'entity')),
    CONSTRAINT memory_events_payload_object CHECK (jsonb_typeof(payload) = 'object')
);
CREATE INDEX memory_events_type_created ON memory_events (event_type, created_at DESC);
CREATE INDEX memory_events_tenant_created ON memory_events (tenant_id, created_at DESC);
CREATE INDEX memory_events_memory ON memory_events (tenant_id, memory_id, created_at DESC) WHERE memory_id IS NOT NULL;

CREATE FUNCTION memory_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_user <> 'butler_retention' THEN
        RAISE EXCEPTION 'memory_events is append-only'
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'Only the role butler_retention may remove old events: SET ROLE butler_retention first.';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memory_events
    FOR EACH STATEMENT EXECUTE FUNCTION memory_events_append_only();
