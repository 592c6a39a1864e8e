-- A person or thing can be forgotten: its entity is hidden as a merged one is, and an erasure may remove the text from past
-- events, and change nothing else of them.

CREATE OR REPLACE FUNCTION entity_is_live(metadata jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT coalesce(metadata ->> 'merged_into', metadata ->> 'forgotten_at') IS NULL $$;
COMMENT ON FUNCTION entity_is_live IS
    'Whether an entity exists in its own right; a merged or forgotten entity remains as a tombstone.';
COMMENT ON COLUMN entities.metadata IS
    'The caller''s; merged_into names the survivor of a merge, forgotten_at is set by forget_entity, owner = true marks the '
    'person whose agents these are.';
-- Their condition changed. A table without any such key has the same entries.
REINDEX INDEX entities_lower_name;
REINDEX INDEX entities_name_keys;
REINDEX INDEX entities_link_keys;
DO $$
BEGIN
    IF to_regclass('entities_name_trigrams') IS NOT NULL THEN
        REINDEX INDEX entities_name_trigrams;
    END IF;
END $$;

COMMENT ON TABLE memory_events IS
    'Each change of memory, written in the transaction of the change. Append-only, but an erasure removes the text.';
DROP TRIGGER memory_events_append_only ON memory_events;
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
