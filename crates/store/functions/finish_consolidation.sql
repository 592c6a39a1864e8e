-- What becomes of the episodes of a batch. The token fences each write: episodes that another worker has leased meanwhile
-- are not changed.

CREATE OR REPLACE FUNCTION consolidate_episodes(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_episodes uuid[], p_token uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    done_ids uuid[];
    payloads jsonb[];
BEGIN
    WITH done AS (
        UPDATE episodes e SET
            consolidated = true, consolidation_status = 'consolidated', last_error = NULL, next_consolidation_retry_at = NULL,
            lease_token = NULL, leased_until = NULL
            WHERE e.tenant_id = p_tenant AND e.id = ANY (p_episodes) AND e.lease_token = p_token
            RETURNING e.id, e.retry_count
    )
    SELECT array_agg(d.id),
           array_agg(jsonb_build_object('after', jsonb_build_object('consolidation_status', 'consolidated'),
                                        'attempts', d.retry_count + 1, 'run', p_token))
        INTO done_ids, payloads FROM done d;
    PERFORM record_events(p_tenant, p_actor, p_request_id, p_at, 'episode_consolidated', 'episode', done_ids, payloads);
    RETURN coalesce(cardinality(done_ids), 0);
END $$;
REVOKE EXECUTE ON FUNCTION consolidate_episodes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION consolidate_episodes TO butler_app;
COMMENT ON FUNCTION consolidate_episodes IS 'Marks leased episodes as consolidated and returns how many.';

-- p_retry_at holds, for each episode, when it is tried again; NULL makes it a dead letter.
CREATE OR REPLACE FUNCTION fail_episodes(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz,
    p_episodes uuid[], p_retry_at timestamptz[], p_error text, p_token uuid)
RETURNS TABLE (failed bigint, dead_lettered bigint) LANGUAGE plpgsql AS $$
DECLARE
    done record;
BEGIN
    failed := 0;
    dead_lettered := 0;
    FOR done IN
        WITH attempt AS (
            UPDATE episodes e SET
                consolidation_status = CASE WHEN given.retry_at IS NULL THEN 'dead_letter' ELSE 'failed' END,
                retry_count = e.retry_count + 1, last_error = p_error, next_consolidation_retry_at = given.retry_at,
                lease_token = NULL, leased_until = NULL
                FROM unnest(p_episodes, p_retry_at) AS given (id, retry_at)
                WHERE e.tenant_id = p_tenant AND e.id = given.id AND e.lease_token = p_token
                RETURNING e.id, given.retry_at IS NULL AS dead,
                    jsonb_build_object('error', p_error, 'attempts', e.retry_count, 'retry_at', given.retry_at,
                                       'run', p_token) AS payload
        )
        SELECT a.dead, array_agg(a.id) AS ids, array_agg(a.payload) AS payloads FROM attempt a GROUP BY a.dead
    LOOP
        PERFORM record_events(p_tenant, p_actor, p_request_id, p_at,
            CASE WHEN done.dead THEN 'episode_dead_lettered' ELSE 'episode_consolidation_failed' END,
            'episode', done.ids, done.payloads);
        IF done.dead THEN
            dead_lettered := cardinality(done.ids);
        ELSE
            failed := cardinality(done.ids);
        END IF;
    END LOOP;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION fail_episodes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fail_episodes TO butler_app;
COMMENT ON FUNCTION fail_episodes IS 'Records a failed attempt to consolidate leased episodes.';

CREATE OR REPLACE FUNCTION requeue_episodes(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_episodes uuid[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    requeued_ids uuid[];
    payloads jsonb[];
BEGIN
    WITH dead AS MATERIALIZED (
        SELECT e.id, e.retry_count, e.last_error FROM episodes e
            WHERE e.tenant_id = p_tenant AND e.consolidation_status = 'dead_letter'
              AND (p_episodes IS NULL OR e.id = ANY (p_episodes))
            FOR UPDATE
    ), requeued AS (
        UPDATE episodes e SET
            consolidation_status = 'pending', retry_count = 0, last_error = NULL, next_consolidation_retry_at = NULL
            FROM dead WHERE e.tenant_id = p_tenant AND e.id = dead.id
    )
    SELECT array_agg(dead.id),
           array_agg(jsonb_build_object('before', jsonb_build_object('consolidation_status', 'dead_letter',
                                                                     'attempts', dead.retry_count, 'error', dead.last_error),
                                        'after', jsonb_build_object('consolidation_status', 'pending')))
        INTO requeued_ids, payloads FROM dead;
    PERFORM record_events(p_tenant, p_actor, p_request_id, p_at, 'episode_requeued', 'episode', requeued_ids, payloads);
    RETURN coalesce(cardinality(requeued_ids), 0);
END $$;
REVOKE EXECUTE ON FUNCTION requeue_episodes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION requeue_episodes TO butler_app;
COMMENT ON FUNCTION requeue_episodes IS
    'Makes dead letters pending again (all of the tenant''s if p_episodes is NULL) and returns how many.';
