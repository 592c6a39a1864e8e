-- Changes of tombstones. p_id is a forgotten fact or rule, or the id of the tombstone of an erased one.

CREATE OR REPLACE FUNCTION suppress_statement(p_tenant text, p_at timestamptz, p_memory_type text, p_id uuid)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tombstones t SET suppressed = t.suppressed + 1, suppressed_at = p_at
        WHERE t.tenant_id = p_tenant AND (t.memory_id = p_id OR t.id = p_id);
    IF NOT FOUND THEN
        INSERT INTO tombstones (tenant_id, memory_type, memory_id, created_at, suppressed, suppressed_at)
            VALUES (p_tenant, p_memory_type, p_id, p_at, 1, p_at)
            ON CONFLICT (tenant_id, memory_id) WHERE memory_id IS NOT NULL
            DO UPDATE SET suppressed = tombstones.suppressed + 1, suppressed_at = p_at;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION suppress_statement FROM PUBLIC;
GRANT EXECUTE ON FUNCTION suppress_statement TO butler_app;
COMMENT ON FUNCTION suppress_statement IS 'Counts that a forgotten statement came again and was not stored.';

CREATE OR REPLACE FUNCTION lift_tombstone(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_memory_type text, p_id uuid)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tombstones t SET allowed_at = p_at, allowed_by = p_actor
        WHERE t.tenant_id = p_tenant AND (t.memory_id = p_id OR t.id = p_id) AND t.allowed_at IS NULL;
    IF NOT FOUND THEN
        IF EXISTS (SELECT FROM tombstones t WHERE t.tenant_id = p_tenant AND (t.memory_id = p_id OR t.id = p_id)) THEN
            RETURN false;
        END IF;
        INSERT INTO tombstones (tenant_id, memory_type, memory_id, created_at, allowed_at, allowed_by)
            VALUES (p_tenant, p_memory_type, p_id, p_at, p_at, p_actor) ON CONFLICT DO NOTHING;
    END IF;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'tombstone_lifted', p_memory_type, p_id, '{}');
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION lift_tombstone FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lift_tombstone TO butler_app;
COMMENT ON FUNCTION lift_tombstone IS 'Allows what was forgotten or erased to be learned again; false if it was allowed before.';

-- An undo is not a forgetting. The row counts as allowed, and no list shows it, because allowed_by is NULL.
CREATE OR REPLACE FUNCTION leave_no_tombstone(p_tenant text, p_at timestamptz, p_memory_type text, p_id uuid)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO tombstones (tenant_id, memory_type, memory_id, created_at, allowed_at)
        VALUES (p_tenant, p_memory_type, p_id, p_at, p_at)
        ON CONFLICT (tenant_id, memory_id) WHERE memory_id IS NOT NULL
        DO UPDATE SET allowed_at = excluded.allowed_at, allowed_by = NULL
$$;
REVOKE EXECUTE ON FUNCTION leave_no_tombstone FROM PUBLIC;
GRANT EXECUTE ON FUNCTION leave_no_tombstone TO butler_app;
COMMENT ON FUNCTION leave_no_tombstone IS 'Lets a memory that an undo retracted be learned again.';

-- For one tenant. Called before the rows are deleted.
CREATE OR REPLACE FUNCTION leave_tombstones(p_tenant text, p_at timestamptz, p_facts uuid[], p_rules uuid[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tombstone_keys (tenant_id, key)
        VALUES (p_tenant, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
        ON CONFLICT DO NOTHING;
    -- An entity's fact is suppressed under each of its names.
    INSERT INTO tombstones (tenant_id, memory_type, hash, created_at)
        SELECT DISTINCT p_tenant, 'fact',
               statement_hash(p_tenant, 'fact', fact_holder(NULL, n.name), f.predicate_key, content_key(f.content)), p_at
        FROM facts f,
             LATERAL (SELECT f.subject AS name
                      UNION SELECT unnest(ARRAY[e.canonical_name] || e.aliases) FROM entities e
                      WHERE e.tenant_id = p_tenant AND e.id = f.entity_id) n
        WHERE f.tenant_id = p_tenant AND f.id = ANY (p_facts)
        ON CONFLICT (tenant_id, hash) WHERE hash IS NOT NULL
        DO UPDATE SET allowed_at = NULL, allowed_by = NULL, created_at = excluded.created_at;
    INSERT INTO tombstones (tenant_id, memory_type, hash, created_at)
        SELECT DISTINCT p_tenant, 'rule', statement_hash(p_tenant, 'rule', content_key(r.content)), p_at
        FROM rules r WHERE r.tenant_id = p_tenant AND r.id = ANY (p_rules)
        ON CONFLICT (tenant_id, hash) WHERE hash IS NOT NULL
        DO UPDATE SET allowed_at = NULL, allowed_by = NULL, created_at = excluded.created_at;
    DELETE FROM tombstones t WHERE t.tenant_id = p_tenant AND t.memory_id = ANY (p_facts || p_rules);
END $$;
REVOKE EXECUTE ON FUNCTION leave_tombstones FROM PUBLIC;
GRANT EXECUTE ON FUNCTION leave_tombstones TO butler_app;
COMMENT ON FUNCTION leave_tombstones IS 'Leaves keyed hashes of memories that are about to be erased.';
