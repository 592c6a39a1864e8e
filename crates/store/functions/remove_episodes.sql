-- Episodes are the only memories that are deleted: those that expired, and the oldest consolidated ones of a tenant that
-- has too many. One call removes one batch, so that no writer waits long.

-- An episode that was never consolidated stays until p_pending_before, unless it was forgotten. Episodes that a worker has
-- leased are left for the next time. p_tenant is NULL for all tenants, on the owner's session.
CREATE OR REPLACE FUNCTION expire_episodes(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_pending_before timestamptz, p_rows bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    expired record;
    removed bigint := 0;
BEGIN
    FOR expired IN
        WITH due AS MATERIALIZED (
            SELECT e.id FROM episodes e
            WHERE e.expires_at < p_at AND (p_tenant IS NULL OR e.tenant_id = p_tenant)
              AND (e.lease_token IS NULL OR e.leased_until <= p_at)
              AND (e.consolidated OR e.expires_at < p_pending_before
                   OR NOT episode_is_learnable(e.tenant_id, e.id, e.expires_at, p_at))
            ORDER BY e.expires_at LIMIT p_rows FOR UPDATE SKIP LOCKED
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
COMMENT ON FUNCTION expire_episodes IS 'Removes expired episodes, at most p_rows, and returns how many.';

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
