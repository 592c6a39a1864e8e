-- Episodes are the only memories that are deleted: those that expired, and the oldest consolidated ones of a tenant that
-- has too many. One call removes one batch, so that no writer waits long.

-- Two counts, because each has an index of its own and reads no row.
CREATE OR REPLACE FUNCTION unlearned_by_tenant(p_tenant text)
RETURNS TABLE (tenant_id text, episodes bigint) LANGUAGE sql STABLE AS $$
    SELECT waiting.tenant_id, sum(waiting.n)::bigint FROM (
        SELECT e.tenant_id, count(*) AS n FROM episodes e
        WHERE e.consolidation_status IN ('pending', 'failed') AND (p_tenant IS NULL OR e.tenant_id = p_tenant)
        GROUP BY e.tenant_id
        UNION ALL
        SELECT e.tenant_id, count(*) FROM episodes e
        WHERE e.consolidation_status = 'dead_letter' AND (p_tenant IS NULL OR e.tenant_id = p_tenant)
        GROUP BY e.tenant_id) waiting
    GROUP BY waiting.tenant_id
$$;
REVOKE EXECUTE ON FUNCTION unlearned_by_tenant FROM PUBLIC;
COMMENT ON FUNCTION unlearned_by_tenant IS 'How many episodes of each tenant were not consolidated.';

-- What has not been learned from does not expire. Only beyond p_max does a tenant's oldest unlearned episode: these are
-- the first episodes that are still kept. A tenant with room has no row.
CREATE OR REPLACE FUNCTION oldest_unlearned_kept(p_tenant text, p_max bigint)
RETURNS TABLE (tenant_id text, created_at timestamptz, id uuid) LANGUAGE sql STABLE AS $$
    SELECT crowded.tenant_id, kept.created_at, kept.id
    FROM (SELECT u.tenant_id FROM unlearned_by_tenant(p_tenant) u WHERE u.episodes > p_max) crowded,
         LATERAL (SELECT e.created_at, e.id FROM episodes e WHERE e.tenant_id = crowded.tenant_id AND NOT e.consolidated
                  ORDER BY e.created_at DESC, e.id DESC OFFSET p_max - 1 LIMIT 1) kept
$$;
REVOKE EXECUTE ON FUNCTION oldest_unlearned_kept FROM PUBLIC;
COMMENT ON FUNCTION oldest_unlearned_kept IS
    'For each tenant with more than p_max unlearned episodes, the oldest one that does not expire.';

-- Two days ahead, because cleanup runs daily: between two runs none of them is expired, and so hidden from a recall.
CREATE OR REPLACE FUNCTION keep_unlearned_episodes(
    p_tenant text, p_at timestamptz, p_until timestamptz, p_max bigint, p_rows bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    due uuid[];
    kept bigint;
BEGIN
    due := ARRAY(
        SELECT e.id FROM episodes e LEFT JOIN oldest_unlearned_kept(p_tenant, p_max) o ON o.tenant_id = e.tenant_id
        WHERE e.expires_at < least(p_until, p_at + interval '2 days') AND NOT e.consolidated
          AND (p_tenant IS NULL OR e.tenant_id = p_tenant)
          AND (o.id IS NULL OR (e.created_at, e.id) >= (o.created_at, o.id))
          AND episode_is_learnable(e.tenant_id, e.id, e.expires_at, p_at)
        ORDER BY e.expires_at LIMIT p_rows FOR NO KEY UPDATE OF e SKIP LOCKED);
    -- One that was forgotten after p_at is alive at p_at. This statement sees what was committed before the rows were locked.
    UPDATE episodes e SET expires_at = p_until
        WHERE e.id = ANY (due)
          AND NOT EXISTS (SELECT FROM memory_events f
                          WHERE f.tenant_id = e.tenant_id AND f.memory_id = e.id AND f.event_type = 'episode_forgotten');
    GET DIAGNOSTICS kept = ROW_COUNT;
    RETURN kept;
END $$;
REVOKE EXECUTE ON FUNCTION keep_unlearned_episodes FROM PUBLIC;
COMMENT ON FUNCTION keep_unlearned_episodes IS
    'Moves the expiry of unlearned episodes on to p_until, at most p_rows, and returns how many.';

-- Episodes that a worker has leased are left for the next time. p_tenant is NULL for all tenants, on the owner's session.
CREATE OR REPLACE FUNCTION expire_episodes(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_max bigint, p_rows bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    expired record;
    removed bigint := 0;
BEGIN
    FOR expired IN
        WITH due AS MATERIALIZED (
            SELECT e.id FROM episodes e LEFT JOIN oldest_unlearned_kept(p_tenant, p_max) o ON o.tenant_id = e.tenant_id
            WHERE e.expires_at < p_at AND (p_tenant IS NULL OR e.tenant_id = p_tenant)
              AND NOT coalesce(lease_holds(e.leased_until, p_at), false)
              -- An unlearned episode whose expiry could not be moved on, because its row was locked, stays.
              AND (e.consolidated OR (e.created_at, e.id) < (o.created_at, o.id)
                   OR NOT episode_is_learnable(e.tenant_id, e.id, e.expires_at, p_at))
            ORDER BY e.expires_at LIMIT p_rows FOR UPDATE OF e SKIP LOCKED
        ), gone AS (
            DELETE FROM episodes e WHERE e.id = ANY (ARRAY(SELECT due.id FROM due))
            RETURNING e.tenant_id, e.id,
                jsonb_build_object('butler', e.butler, 'consolidation_status', e.consolidation_status,
                                   'never_consolidated', NOT e.consolidated, 'attempts', e.retry_count,
                                   'stored_at', e.created_at, 'expires_at', e.expires_at) AS payload
        )
        SELECT g.tenant_id, array_agg(g.id) AS ids, array_agg(g.payload) AS payloads FROM gone g GROUP BY g.tenant_id
    LOOP
        PERFORM record_events(expired.tenant_id, p_actor, p_request_id, p_at, 'episode_expired', 'episode',
            expired.ids, expired.payloads);
        removed := removed + cardinality(expired.ids);
    END LOOP;
    RETURN removed;
END $$;
REVOKE EXECUTE ON FUNCTION expire_episodes FROM PUBLIC;
COMMENT ON FUNCTION expire_episodes IS
    'Removes expired episodes, at most p_rows, and returns how many. Of those not learned from, only forgotten ones and '
    'the oldest beyond p_max.';

CREATE OR REPLACE FUNCTION evict_episodes(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_rows bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    removed_ids uuid[];
    payloads jsonb[];
BEGIN
    WITH gone AS (
        DELETE FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = ANY (ARRAY(
            SELECT o.id FROM episodes o WHERE o.tenant_id = p_tenant AND o.consolidated
            ORDER BY o.created_at, o.id LIMIT p_rows FOR UPDATE SKIP LOCKED))
        RETURNING e.id, jsonb_build_object('butler', e.butler, 'stored_at', e.created_at, 'expires_at', e.expires_at) AS payload
    )
    SELECT array_agg(g.id), array_agg(g.payload) INTO removed_ids, payloads FROM gone g;
    PERFORM record_events(p_tenant, p_actor, p_request_id, p_at, 'episode_evicted', 'episode', removed_ids, payloads);
    RETURN coalesce(cardinality(removed_ids), 0);
END $$;
REVOKE EXECUTE ON FUNCTION evict_episodes FROM PUBLIC;
COMMENT ON FUNCTION evict_episodes IS
    'Removes the oldest consolidated episodes of a tenant, at most p_rows, and returns how many.';
