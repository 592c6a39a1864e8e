-- Deletes all memory of a tenant. Its events remain, without their text.
CREATE OR REPLACE FUNCTION erase_tenant(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_dry_run boolean)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    counts jsonb;
BEGIN
    counts := jsonb_build_object(
        'facts', (SELECT count(*) FROM facts f WHERE f.tenant_id = p_tenant),
        'rules', (SELECT count(*) FROM rules r WHERE r.tenant_id = p_tenant),
        'episodes', (SELECT count(*) FROM episodes e WHERE e.tenant_id = p_tenant),
        'entities', (SELECT count(*) FROM entities e WHERE e.tenant_id = p_tenant),
        'predicates', (SELECT count(*) FROM predicates p WHERE p.tenant_id = p_tenant),
        'events', (SELECT count(*) FROM memory_events e WHERE e.tenant_id = p_tenant),
        'events_redacted', (SELECT redacted FROM redact_events(p_tenant, NULL, '{}', '{}', '{}', p_dry_run)));
    IF p_dry_run OR NOT EXISTS (SELECT FROM jsonb_each(counts) c WHERE c.value <> '0') THEN
        RETURN counts;
    END IF;
    -- Nobody stores a fact about them meanwhile.
    PERFORM FROM entities e WHERE e.tenant_id = p_tenant ORDER BY e.id FOR UPDATE;
    DELETE FROM proposals p WHERE p.tenant_id = p_tenant;
    DELETE FROM tombstones t WHERE t.tenant_id = p_tenant;
    DELETE FROM tombstone_keys k WHERE k.tenant_id = p_tenant;
    DELETE FROM memory_links l WHERE l.tenant_id = p_tenant;
    DELETE FROM facts f WHERE f.tenant_id = p_tenant;
    DELETE FROM rules r WHERE r.tenant_id = p_tenant;
    DELETE FROM episodes e WHERE e.tenant_id = p_tenant;
    DELETE FROM merges m WHERE m.tenant_id = p_tenant;
    DELETE FROM entities e WHERE e.tenant_id = p_tenant;
    DELETE FROM predicates p WHERE p.tenant_id = p_tenant;
    DELETE FROM idempotency_keys k WHERE k.tenant_id = p_tenant;
    DELETE FROM injections i WHERE i.tenant_id = p_tenant;
    PERFORM redact_runs(p_tenant, NULL, NULL);
    PERFORM drop_words(p_tenant, NULL);
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'tenant_erased', NULL, NULL, counts);
    RETURN counts;
END $$;
REVOKE EXECUTE ON FUNCTION erase_tenant FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_tenant TO butler_app;
COMMENT ON FUNCTION erase_tenant IS
    'Deletes all memory of a tenant and removes the text from its events, except those about tokens. Returns how many rows of '
    'each kind there were. p_dry_run only counts.';
