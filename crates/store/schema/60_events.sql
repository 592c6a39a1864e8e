-- The audit stream. Nobody updates or deletes an event, except butler_retention, on purpose, and an erasure, which removes text.

CREATE TABLE memory_events (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    event_type  text NOT NULL,
    actor       text,
    tenant_id   text NOT NULL DEFAULT 'default',
    memory_type text,
    memory_id   uuid,
    request_id  text,
    payload     jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now(),
    -- one constant, because the text of a constraint is read before each insert
    CONSTRAINT memory_events_memory_type_known CHECK (memory_type = ANY ('{episode,fact,rule,entity}')),
    CONSTRAINT memory_events_payload_object CHECK (jsonb_typeof(payload) = 'object'),
    CONSTRAINT memory_events_times_plausible CHECK (time_is_plausible(created_at))
);
COMMENT ON TABLE memory_events IS 'Each change of memory, written in the transaction of the change. Append-only, but an erasure removes the text.';
COMMENT ON COLUMN memory_events.actor IS 'Who made the change: a token, a client or a job.';
COMMENT ON COLUMN memory_events.memory_id IS 'What the event is about; NULL for an event about many rows.';
COMMENT ON COLUMN memory_events.payload IS 'What the change was, by event type. An erasure removes the text in it.';

CREATE INDEX memory_events_type_created ON memory_events (event_type, created_at DESC);
CREATE INDEX memory_events_tenant_created ON memory_events (tenant_id, created_at DESC);
CREATE INDEX memory_events_memory ON memory_events (tenant_id, memory_id, created_at DESC) WHERE memory_id IS NOT NULL;
-- activity by type is counted in this index alone
CREATE INDEX memory_events_tenant_type ON memory_events (tenant_id, event_type, created_at DESC);
-- The backlog of the overview counts these few. A generic plan prefers created_at to event_type, so they have their own.
CREATE INDEX memory_events_episodes ON memory_events (tenant_id, created_at) WHERE event_type IN
    ('episode_created', 'episode_consolidated', 'episode_dead_lettered', 'episode_expired', 'episode_requeued');

-- Grants stop butler_app; the trigger also stops the owner.
CREATE FUNCTION memory_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_user <> 'butler_retention' THEN
        RAISE EXCEPTION 'memory_events is append-only'
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'Only the role butler_retention may remove old events: SET ROLE butler_retention first.';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION memory_events_append_only IS 'Trigger: refuses a change of an event by anybody but butler_retention.';
CREATE TRIGGER memory_events_append_only
    BEFORE UPDATE OF id, event_type, actor, tenant_id, memory_type, memory_id, request_id, created_at OR DELETE OR TRUNCATE
    ON memory_events FOR EACH STATEMENT EXECUTE FUNCTION memory_events_append_only();

-- Only redact_events sets butler.erasing, and only for its own time.
CREATE FUNCTION memory_events_payload_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('butler.erasing', true) IS DISTINCT FROM 'on' THEN
        RAISE EXCEPTION 'memory_events is append-only'
            USING ERRCODE = 'insufficient_privilege', HINT = 'Only an erasure changes a payload: see redact_events.';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION memory_events_payload_kept IS 'Trigger: refuses a change of an event''s payload, except by an erasure.';
CREATE TRIGGER memory_events_payload_kept BEFORE UPDATE OF payload ON memory_events
    FOR EACH STATEMENT EXECUTE FUNCTION memory_events_payload_kept();
