-- Records pairs of facts that contradict or repeat each other. Facts that contradict each other are linked: the newer one
-- contradicts the older one. A pair is recorded once, whatever became of it.
CREATE OR REPLACE FUNCTION record_conflicts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_found_by text, p_found jsonb)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    pair record;
    recorded integer := 0;
BEGIN
    FOR pair IN
        SELECT f.id, f.event_id, f.kind, f.why, f.score, least(f.newer, f.older) AS fact_a, greatest(f.newer, f.older) AS fact_b,
               f.newer, f.older
        FROM jsonb_to_recordset(p_found) AS f (
            id uuid, event_id uuid, newer uuid, older uuid, kind text, why text, score double precision)
        ORDER BY 6, 7
    LOOP
        -- Somebody may have deleted or ended one of them meanwhile.
        PERFORM FROM facts f WHERE f.tenant_id = p_tenant AND f.id IN (pair.newer, pair.older) AND fact_is_active(f.validity)
            HAVING count(*) = 2;
        CONTINUE WHEN NOT FOUND;
        INSERT INTO conflicts (id, tenant_id, fact_a, fact_b, kind, why, score, found_at, found_by)
            VALUES (pair.id, p_tenant, pair.fact_a, pair.fact_b, pair.kind, pair.why, pair.score, p_at, p_found_by)
            ON CONFLICT DO NOTHING;
        CONTINUE WHEN NOT FOUND;
        recorded := recorded + 1;
        IF pair.kind = 'contradiction' THEN
            INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
                VALUES (p_tenant, 'fact', pair.newer, 'fact', pair.older, 'contradicts', p_at) ON CONFLICT DO NOTHING;
        END IF;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, pair.event_id, 'conflict_found', 'fact', pair.newer,
            jsonb_build_object('conflict_id', pair.id, 'kind', pair.kind, 'why', pair.why, 'other_id', pair.older));
    END LOOP;
    RETURN recorded;
END $$;
REVOKE EXECUTE ON FUNCTION record_conflicts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION record_conflicts TO butler_app;
COMMENT ON FUNCTION record_conflicts IS 'Records conflicts that were found, and returns how many of them are new.';

CREATE OR REPLACE FUNCTION open_contradictions(p_tenant text, p_facts uuid[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_array(c.fact_a, c.fact_b)), '[]')
    FROM conflicts c
    WHERE c.tenant_id = p_tenant AND c.state = 'open'
      -- An open pair that the judge found to be no conflict was reopened by a person.
      AND CASE WHEN c.verdict IN ('contradiction', 'duplicate') THEN c.verdict ELSE c.kind END = 'contradiction'
      AND c.fact_a = ANY (p_facts) AND c.fact_b = ANY (p_facts)
$$;
REVOKE EXECUTE ON FUNCTION open_contradictions FROM PUBLIC;
COMMENT ON FUNCTION open_contradictions IS 'The pairs among these facts that contradict each other and that nobody resolved.';

-- Part of resolving a conflict: the caller has changed the facts in the same transaction. If both are kept, they no longer
-- contradict each other. In all other cases the link stays as part of the history.
CREATE OR REPLACE FUNCTION close_conflict(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_id uuid, p_resolution text, p_result uuid)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    pair record;
BEGIN
    UPDATE conflicts c SET state = 'resolved', resolution = p_resolution, resolved_at = p_at, resolved_by = p_actor
        WHERE c.tenant_id = p_tenant AND c.id = p_id
        RETURNING c.fact_a, c.fact_b, c.kind, c.why INTO pair;
    IF p_resolution = 'keep_both' THEN
        DELETE FROM memory_links l
            WHERE l.tenant_id = p_tenant AND l.source_type = 'fact' AND l.target_type = 'fact' AND l.relation = 'contradicts'
              AND l.source_id IN (pair.fact_a, pair.fact_b) AND l.target_id IN (pair.fact_a, pair.fact_b);
    END IF;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'conflict_resolved', 'fact', pair.fact_a,
        jsonb_strip_nulls(jsonb_build_object('conflict_id', p_id, 'kind', pair.kind, 'why', pair.why, 'other_id', pair.fact_b,
                                             'resolution', p_resolution, 'result_id', p_result)));
END $$;
REVOKE EXECUTE ON FUNCTION close_conflict FROM PUBLIC;
GRANT EXECUTE ON FUNCTION close_conflict TO butler_app;
COMMENT ON FUNCTION close_conflict IS 'Records how a conflict was resolved. p_result: the new fact of a merge or of a change of scope or time.';

CREATE OR REPLACE FUNCTION reopen_conflict(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_id uuid)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    pair record;
BEGIN
    SELECT c.fact_a, c.fact_b, c.kind, c.state, c.resolution INTO pair
        FROM conflicts c WHERE c.tenant_id = p_tenant AND c.id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF pair.state = 'open' THEN
        RETURN false;
    END IF;
    UPDATE conflicts c SET state = 'open', resolution = NULL, resolved_at = NULL, resolved_by = NULL
        WHERE c.tenant_id = p_tenant AND c.id = p_id;
    IF pair.resolution = 'keep_both' AND pair.kind = 'contradiction' THEN
        INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
            SELECT p_tenant, 'fact', f.ids[1], 'fact', f.ids[2], 'contradicts', p_at
            FROM (SELECT array_agg(f.id ORDER BY f.created_at DESC, f.id DESC) AS ids
                  FROM facts f WHERE f.tenant_id = p_tenant AND f.id IN (pair.fact_a, pair.fact_b)) f
            ON CONFLICT DO NOTHING;
    END IF;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'conflict_reopened', 'fact', pair.fact_a,
        jsonb_build_object('conflict_id', p_id, 'other_id', pair.fact_b, 'before', jsonb_build_object('resolution', pair.resolution)));
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION reopen_conflict FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reopen_conflict TO butler_app;
COMMENT ON FUNCTION reopen_conflict IS 'Opens a resolved conflict again; false if it is open, NULL if the tenant has no such conflict.';
