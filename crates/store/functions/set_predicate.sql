-- Registers what a tenant knows about a predicate, or changes it. p_predicate has all fields of the row.
CREATE OR REPLACE FUNCTION set_predicate(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_predicate jsonb)
RETURNS TABLE (outcome text, other text) LANGUAGE plpgsql AS $$
DECLARE
    given record;
    key text;
    inverse_key text;
    before jsonb;
BEGIN
    SELECT * INTO given FROM jsonb_to_record(p_predicate) AS g (
        name text, cardinality text, inverse text, "symmetric" boolean, temporal boolean, object_type text, description text);
    key := predicate_key(given.name);
    inverse_key := predicate_key(given.inverse);
    -- One at a time, since they refer to each other.
    PERFORM pg_advisory_xact_lock(predicates_lock(p_tenant));
    SELECT p.name INTO other FROM known_predicates(p_tenant) p
        WHERE predicate_key(p.name) <> key
          AND (predicate_key(p.name) = inverse_key AND (p.is_symmetric OR predicate_key(p.inverse) <> key)
               OR predicate_key(p.inverse) = inverse_key
               OR predicate_key(p.inverse) = key AND (given.symmetric OR inverse_key <> predicate_key(p.name)))
        ORDER BY p.name COLLATE "C" LIMIT 1;
    IF FOUND THEN
        outcome := 'inverse_taken';
        RETURN NEXT;
        RETURN;
    END IF;
    IF given.cardinality = 'one' THEN
        SELECT min(f.subject) INTO other FROM facts f
            WHERE f.tenant_id = p_tenant AND f.predicate_key = key AND f.validity = 'active' AND f.slot = slot_base(f.slot)
            GROUP BY f.scope, f.holder HAVING count(*) > 1 LIMIT 1;
        IF FOUND THEN
            outcome := 'several_values';
            RETURN NEXT;
            RETURN;
        END IF;
        -- Also of those that are not active: they may be restored.
        UPDATE facts f SET slot = CASE WHEN strpos(f.slot, '@') > 0 THEN '@' || f.id ELSE '' END
            WHERE f.tenant_id = p_tenant AND f.predicate_key = key AND slot_base(f.slot) <> '';
    END IF;
    SELECT to_jsonb(p) - '{tenant_id,predicate_key,created_at,updated_at}'::text[] INTO before
        FROM predicates p WHERE p.tenant_id = p_tenant AND p.predicate_key = key;
    INSERT INTO predicates AS p (tenant_id, name, cardinality, inverse, is_symmetric, is_temporal, object_type, description, created_at, updated_at)
        VALUES (p_tenant, given.name, given.cardinality, given.inverse, given.symmetric, given.temporal, given.object_type,
                given.description, p_at, p_at)
        ON CONFLICT (tenant_id, predicate_key) DO UPDATE SET
            name = excluded.name, cardinality = excluded.cardinality, inverse = excluded.inverse,
            is_symmetric = excluded.is_symmetric, is_temporal = excluded.is_temporal, object_type = excluded.object_type,
            description = excluded.description, updated_at = excluded.updated_at;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'predicate_set', NULL, NULL,
        jsonb_build_object('before', before, 'after', p_predicate));
    outcome := 'set';
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION set_predicate FROM PUBLIC;
GRANT EXECUTE ON FUNCTION set_predicate TO butler_app;
COMMENT ON FUNCTION set_predicate IS
    'Registers or changes a predicate. outcome: set, inverse_taken (other is the predicate that contradicts) or several_values '
    '(other is a subject that has more than one).';

CREATE OR REPLACE FUNCTION predicates_lock(p_tenant text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT hashtextextended(concat_ws(E'\x1f', current_schema(), p_tenant), 22)
$$;
COMMENT ON FUNCTION predicates_lock IS
    'The number under which a tenant''s predicates are locked: shared while a fact is stored, exclusively while a predicate changes.';

CREATE OR REPLACE FUNCTION known_predicates(p_tenant text)
RETURNS TABLE (name text, cardinality text, inverse text, is_symmetric boolean, is_temporal boolean, object_type text,
               description text, is_built_in boolean) LANGUAGE sql STABLE AS $$
    SELECT p.name, p.cardinality, p.inverse, p.is_symmetric, p.is_temporal, p.object_type, p.description, false
    FROM predicates p WHERE p.tenant_id = p_tenant
    UNION ALL
    SELECT b.*, true FROM builtin_predicates() b
    WHERE NOT EXISTS (SELECT FROM predicates p WHERE p.tenant_id = p_tenant AND p.predicate_key = b.name)
$$;
COMMENT ON FUNCTION known_predicates IS 'The predicates of a tenant: its own, and the built-in ones that it did not change.';
