-- One batch of the decay sweep: a memory that has lost its confidence is marked as fading and later ends. A memory that was
-- confirmed since is no longer fading. p_tenant is NULL for all tenants, on the owner's session.
--
-- Rows that another writer has locked are left for the next sweep, since that writer is changing them.

CREATE OR REPLACE FUNCTION sweep_facts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz,
    p_after uuid, p_rows bigint, p_retrieval double precision, p_expiry double precision)
RETURNS TABLE (next uuid, ended bigint, fading bigint, recovered bigint) LANGUAGE plpgsql AS $$
DECLARE
    last_id constant uuid := (SELECT f.id FROM facts f WHERE f.id > p_after ORDER BY f.id OFFSET p_rows - 1 LIMIT 1);
    swept record;
BEGIN
    next := last_id;
    ended := 0;
    fading := 0;
    recovered := 0;
    FOR swept IN
        WITH due AS MATERIALIZED (
            SELECT f.tenant_id, f.id, memory_is_fading(f.metadata) AS was_fading, decayed.effective,
                   decayed.effective < p_expiry AS ends,
                   decayed.effective < p_retrieval AND decayed.effective >= p_expiry AS fades
            FROM facts f,
                 LATERAL (SELECT effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at) AS effective) decayed
            WHERE f.id > p_after AND f.id <= coalesce(last_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
              AND fact_is_active(f.validity) AND f.decay_rate > 0 AND (p_tenant IS NULL OR f.tenant_id = p_tenant)
              -- facts of the past and the future do not decay
              AND f.holds_from <= p_at AND p_at < f.holds_to
              AND (decayed.effective < p_expiry OR (decayed.effective < p_retrieval) <> memory_is_fading(f.metadata))
            FOR NO KEY UPDATE OF f SKIP LOCKED
        ), changed AS (
            UPDATE facts f SET
                validity = CASE WHEN due.ends THEN 'expired' ELSE f.validity END,
                ended_at = CASE WHEN due.ends THEN greatest(f.placed_at, f.created_at, p_at) END,
                metadata = CASE WHEN due.fades THEN fading_marked(f.metadata) ELSE fading_unmarked(f.metadata) END
            FROM due WHERE f.tenant_id = due.tenant_id AND f.id = due.id
            RETURNING f.tenant_id, f.id, due.ends, due.fades,
                jsonb_build_object(
                    'before', jsonb_build_object('validity', 'active', 'fading', due.was_fading),
                    'after', jsonb_build_object('validity', f.validity, 'fading', due.fades),
                    'effective_confidence', due.effective) AS payload
        )
        SELECT c.tenant_id, c.ends, c.fades, array_agg(c.id) AS ids, array_agg(c.payload) AS payloads
        FROM changed c GROUP BY c.tenant_id, c.ends, c.fades
    LOOP
        PERFORM record_events(swept.tenant_id, p_actor, p_request_id, p_at,
            CASE WHEN swept.ends THEN 'fact_expired' WHEN swept.fades THEN 'fact_fading' ELSE 'fact_recovered' END,
            'fact', swept.ids, swept.payloads);
        IF swept.ends THEN
            ended := ended + cardinality(swept.ids);
        ELSIF swept.fades THEN
            fading := fading + cardinality(swept.ids);
        ELSE
            recovered := recovered + cardinality(swept.ids);
        END IF;
    END LOOP;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION sweep_facts FROM PUBLIC;
COMMENT ON FUNCTION sweep_facts IS
    'Applies decay to the facts after an id; next is where the following batch starts, NULL after the last.';

-- Anti-patterns never end: a warning stays true.
CREATE OR REPLACE FUNCTION sweep_rules(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz,
    p_after uuid, p_rows bigint, p_retrieval double precision, p_expiry double precision)
RETURNS TABLE (next uuid, ended bigint, fading bigint, recovered bigint) LANGUAGE plpgsql AS $$
DECLARE
    last_id constant uuid := (SELECT r.id FROM rules r WHERE r.id > p_after ORDER BY r.id OFFSET p_rows - 1 LIMIT 1);
    swept record;
BEGIN
    next := last_id;
    ended := 0;
    fading := 0;
    recovered := 0;
    FOR swept IN
        WITH due AS MATERIALIZED (
            SELECT r.tenant_id, r.id, memory_is_fading(r.metadata) AS was_fading, decayed.effective,
                   decayed.effective < p_expiry AS ends,
                   decayed.effective < p_retrieval AND decayed.effective >= p_expiry AS fades
            FROM rules r,
                 LATERAL (SELECT effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) AS effective) decayed
            WHERE r.id > p_after AND r.id <= coalesce(last_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
              AND r.maturity <> 'anti_pattern' AND rule_is_remembered(r.metadata) AND r.decay_rate > 0
              AND (p_tenant IS NULL OR r.tenant_id = p_tenant)
              AND (decayed.effective < p_expiry OR (decayed.effective < p_retrieval) <> memory_is_fading(r.metadata))
            FOR NO KEY UPDATE OF r SKIP LOCKED
        ), changed AS (
            UPDATE rules r SET
                metadata = CASE WHEN due.ends THEN (fading_unmarked(r.metadata) - 'needs_inversion') || '{"forgotten": true}'
                                WHEN due.fades THEN fading_marked(r.metadata)
                                ELSE fading_unmarked(r.metadata) END
            FROM due WHERE r.tenant_id = due.tenant_id AND r.id = due.id
            RETURNING r.tenant_id, r.id, due.ends, due.fades,
                jsonb_build_object(
                    'before', jsonb_build_object('forgotten', false, 'fading', due.was_fading),
                    'after', jsonb_build_object('forgotten', due.ends, 'fading', due.fades),
                    'effective_confidence', due.effective) AS payload
        )
        SELECT c.tenant_id, c.ends, c.fades, array_agg(c.id) AS ids, array_agg(c.payload) AS payloads
        FROM changed c GROUP BY c.tenant_id, c.ends, c.fades
    LOOP
        PERFORM record_events(swept.tenant_id, p_actor, p_request_id, p_at,
            CASE WHEN swept.ends THEN 'rule_forgotten' WHEN swept.fades THEN 'rule_fading' ELSE 'rule_recovered' END,
            'rule', swept.ids, swept.payloads);
        IF swept.ends THEN
            ended := ended + cardinality(swept.ids);
        ELSIF swept.fades THEN
            fading := fading + cardinality(swept.ids);
        ELSE
            recovered := recovered + cardinality(swept.ids);
        END IF;
    END LOOP;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION sweep_rules FROM PUBLIC;
COMMENT ON FUNCTION sweep_rules IS
    'Applies decay to the rules after an id; next is where the following batch starts, NULL after the last.';

-- Recovers what the sweep ended by mistake, because the clock was wrong: its confidence is above p_expiry after all. The key
-- of a fact must be free. Of several facts, the newest recovers. A key that a writer has locked is left for the next sweep:
-- waiting for it while holding the locks of other keys could end in a deadlock.
CREATE OR REPLACE FUNCTION recover_facts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz,
    p_after uuid, p_rows bigint, p_retrieval double precision, p_expiry double precision)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    last_id constant uuid := (SELECT f.id FROM facts f WHERE f.id > p_after ORDER BY f.id OFFSET p_rows - 1 LIMIT 1);
    fact record;
    recovered bigint := 0;
BEGIN
    FOR fact IN
        SELECT f.tenant_id, f.id, f.scope, f.holder, f.predicate_key, f.slot, f.created_at, decayed.effective,
               decayed.effective < p_retrieval AS fades
        FROM facts f,
             LATERAL (SELECT effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at) AS effective) decayed
        WHERE f.id > p_after AND f.id <= coalesce(last_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
          AND f.validity = 'expired' AND (p_tenant IS NULL OR f.tenant_id = p_tenant) AND decayed.effective >= p_expiry
    LOOP
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(
            fact_key_lock(fact.tenant_id, fact.scope, fact.holder, fact.predicate_key));
        UPDATE facts f SET validity = 'active',
                           metadata = CASE WHEN fact.fades THEN fading_marked(f.metadata) ELSE f.metadata END
            WHERE f.tenant_id = fact.tenant_id AND f.id = fact.id AND f.validity = 'expired'
              AND NOT EXISTS (
                  SELECT FROM facts o
                  WHERE o.tenant_id = fact.tenant_id AND o.scope = fact.scope AND o.holder = fact.holder
                    AND o.predicate_key = fact.predicate_key AND o.slot = fact.slot
                    AND (fact_is_active(o.validity)
                         OR o.validity = 'expired' AND (o.created_at, o.id) > (fact.created_at, fact.id)
                            AND effective_confidence(o.confidence, o.decay_rate, o.last_confirmed_at, p_at) >= p_expiry));
        CONTINUE WHEN NOT FOUND;
        PERFORM believe_again(fact.tenant_id, p_at, fact.id);
        recovered := recovered + 1;
        PERFORM record_event(fact.tenant_id, p_actor, p_request_id, p_at, gen_random_uuid(), 'fact_recovered', 'fact', fact.id,
            jsonb_build_object('before', jsonb_build_object('validity', 'expired', 'fading', false),
                               'after', jsonb_build_object('validity', 'active', 'fading', fact.fades),
                               'effective_confidence', fact.effective));
    END LOOP;
    RETURN recovered;
END $$;
REVOKE EXECUTE ON FUNCTION recover_facts FROM PUBLIC;
COMMENT ON FUNCTION recover_facts IS
    'Makes expired facts active again whose confidence is above p_expiry and whose key is free. Returns how many.';

CREATE OR REPLACE FUNCTION recover_rules(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz,
    p_after uuid, p_rows bigint, p_retrieval double precision, p_expiry double precision)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    last_id constant uuid := (SELECT r.id FROM rules r WHERE r.id > p_after ORDER BY r.id OFFSET p_rows - 1 LIMIT 1);
    back record;
    recovered bigint := 0;
BEGIN
    FOR back IN
        WITH due AS MATERIALIZED (
            SELECT r.tenant_id, r.id, decayed.effective, decayed.effective < p_retrieval AS fades
            FROM rules r,
                 LATERAL (SELECT effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) AS effective) decayed
            WHERE r.id > p_after AND r.id <= coalesce(last_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
              AND NOT rule_is_remembered(r.metadata) AND (p_tenant IS NULL OR r.tenant_id = p_tenant)
              AND decayed.effective >= p_expiry AND rule_has_decayed(r.tenant_id, r.id, r.metadata)
            FOR NO KEY UPDATE OF r SKIP LOCKED
        ), changed AS (
            UPDATE rules r SET
                metadata = CASE WHEN due.fades THEN fading_marked(r.metadata) ELSE r.metadata END - 'forgotten'
            FROM due WHERE r.tenant_id = due.tenant_id AND r.id = due.id
            RETURNING r.tenant_id, r.id,
                jsonb_build_object(
                    'before', jsonb_build_object('forgotten', true, 'fading', false),
                    'after', jsonb_build_object('forgotten', false, 'fading', due.fades),
                    'effective_confidence', due.effective) AS payload
        )
        SELECT c.tenant_id, array_agg(c.id) AS ids, array_agg(c.payload) AS payloads FROM changed c GROUP BY c.tenant_id
    LOOP
        PERFORM record_events(back.tenant_id, p_actor, p_request_id, p_at, 'rule_recovered', 'rule', back.ids, back.payloads);
        recovered := recovered + cardinality(back.ids);
    END LOOP;
    RETURN recovered;
END $$;
REVOKE EXECUTE ON FUNCTION recover_rules FROM PUBLIC;
COMMENT ON FUNCTION recover_rules IS
    'Makes rules retrievable again that the sweep forgot although their confidence is above p_expiry. Returns how many.';
