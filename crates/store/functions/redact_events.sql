-- An erasure is the one permitted change of past events: their payload loses its text. What remains is what happened, when, by
-- whom, to which id and how often.

CREATE OR REPLACE FUNCTION is_without_text(p_value jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    said constant text := p_value #>> '{}';
BEGIN
    RETURN CASE jsonb_typeof(p_value)
        WHEN 'object' THEN NOT EXISTS (SELECT FROM jsonb_each(p_value) m WHERE NOT is_without_text(m.value))
        WHEN 'array' THEN NOT EXISTS (SELECT FROM jsonb_array_elements(p_value) m WHERE NOT is_without_text(m))
        WHEN 'string' THEN
            said ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
            OR said ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z|[+-][0-9:]+)?$'
            -- the program's own words
            OR said = ANY ('{
                active,superseded,expired,retracted,candidate,established,proven,anti_pattern,pending,consolidated,failed,
                dead_letter,permanent,stable,standard,volatile,ephemeral,fact,rule,episode,entity,person,organization,place,
                other,derived_from,supports,contradicts,supersedes,related_to,helpful,harmful}'::text[])
        ELSE true END;
END $$;
COMMENT ON FUNCTION is_without_text IS 'Whether a JSON value holds only numbers, ids, times and words of the program.';

CREATE OR REPLACE FUNCTION payload_without_text(p_payload jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_object_agg(m.key, m.kept) FILTER (WHERE m.kept IS NOT NULL), '{}')
        FROM (SELECT e.key,
                     CASE WHEN e.key IN ('before', 'after') AND jsonb_typeof(e.value) = 'object' THEN payload_without_text(e.value)
                          -- Of these, the caller wrote the keys and numbers, too.
                          WHEN e.key <> ALL ('{content,subject,predicate,canonical_name,aliases,tags,metadata,context,reason,error}')
                               AND is_without_text(e.value) THEN e.value END AS kept
              FROM jsonb_each(p_payload) e) m);
END $$;
COMMENT ON FUNCTION payload_without_text IS 'What an erasure leaves of the payload of an event.';

-- The trigger of memory_events lets nobody else change a payload.
CREATE OR REPLACE FUNCTION redact_events(
    p_tenant text, p_ids uuid[], p_whole text[], p_parts text[], p_kept uuid[], p_dry_run boolean,
    OUT redacted bigint, OUT words text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'events of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM set_config('butler.erasing', 'on', true);
    WITH found AS MATERIALIZED (
        SELECT e.id, e.payload, payload_without_text(e.payload) AS bare
        FROM memory_events e
        WHERE e.tenant_id = p_tenant AND e.event_type NOT LIKE 'token\_%'
          AND (p_ids IS NULL OR e.memory_id = ANY (p_ids)
               OR coalesce(e.memory_id <> ALL (p_kept), true) AND text_names(json_values(e.payload), p_whole, p_parts))
    ), changing AS MATERIALIZED (
        SELECT f.id, f.payload, f.bare FROM found f WHERE f.bare <> f.payload
    ), changed AS (
        UPDATE memory_events e SET payload = c.bare || '{"erased": true}' FROM changing c WHERE NOT p_dry_run AND e.id = c.id
    )
    SELECT count(*), ARRAY(SELECT DISTINCT w FROM changing c, unnest(memory_words(json_values(c.payload))) AS w)
        INTO redacted, words FROM changing;
    PERFORM set_config('butler.erasing', '', true);
END $$;
REVOKE EXECUTE ON FUNCTION redact_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION redact_events TO butler_app;
COMMENT ON FUNCTION redact_events IS
    'Removes the text from the events about these ids and from those that name an entity, except about p_kept; p_ids NULL: from '
    'all but those about tokens. Returns how many, and the words that were in them. p_dry_run only counts.';

-- The error of a run may quote what a model was told.
CREATE OR REPLACE FUNCTION redact_runs(p_tenant text, p_whole text[], p_parts text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'runs of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    UPDATE job_runs j SET error = CASE WHEN j.error IS NOT NULL THEN 'removed by an erasure' END, result = '{}'
        WHERE j.tenant_id = p_tenant AND NOT j.all_tenants
          AND (p_whole IS NULL OR text_names(concat_ws(' ', j.error, json_values(j.result)), p_whole, p_parts));
    -- The report of a run for all tenants belongs to the others, too; it holds numbers.
    UPDATE job_runs j SET error = 'removed by an erasure'
        WHERE j.all_tenants AND p_whole IS NOT NULL AND text_names(j.error, p_whole, p_parts);
END $$;
REVOKE EXECUTE ON FUNCTION redact_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION redact_runs TO butler_app;
COMMENT ON FUNCTION redact_runs IS
    'Empties the results and errors of job runs that name an entity; without patterns, those of all runs for this tenant alone.';
