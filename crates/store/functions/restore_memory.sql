-- Undoes forgetting, expiry and supersession. A memory too weak to stay (p_expiry) counts as confirmed now; otherwise the
-- next sweep would remove it again.

CREATE OR REPLACE FUNCTION lock_fact(p_tenant text, p_id uuid)
RETURNS TABLE (validity text, holder_id uuid, holder_replaced_it boolean) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_fact_key(f.tenant_id, f.scope, f.holder, f.predicate_key)
        FROM facts f WHERE f.tenant_id = p_tenant AND f.id = p_id;
    -- This statement sees what was committed during the wait for the lock. An edit may have moved the fact to another slot.
    RETURN QUERY
        SELECT f.validity, h.id, coalesce(h.replaced_it, false)
        FROM facts f
        LEFT JOIN LATERAL (
            SELECT o.id, r.replaced_it
            FROM facts o,
                 LATERAL (SELECT o.supersedes_id IS NOT DISTINCT FROM f.id OR EXISTS (
                              SELECT FROM memory_links l
                              WHERE l.tenant_id = p_tenant AND l.source_type = 'fact' AND l.source_id = o.id
                                AND l.target_type = 'fact' AND l.target_id = f.id AND l.relation = 'supersedes') AS replaced_it) r
            WHERE o.tenant_id = p_tenant AND fact_is_active(o.validity) AND o.scope = f.scope AND o.holder = f.holder
              AND o.predicate_key = f.predicate_key AND (o.slot = f.slot OR r.replaced_it)
            UNION ALL
            -- An edit of the subject, predicate or scope moved it to another key; later edits may have replaced that version.
            SELECT o.id, o.supersedes_id = f.id
            FROM (WITH RECURSIVE later (id) AS (
                      SELECT f.id
                      UNION
                      SELECT l.source_id FROM later JOIN memory_links l ON l.tenant_id = p_tenant AND l.source_type = 'fact'
                          AND l.target_type = 'fact' AND l.target_id = later.id AND l.relation = 'supersedes')
                  SELECT id FROM later) v
            JOIN facts o ON o.tenant_id = p_tenant AND o.id = v.id AND o.id <> f.id AND fact_is_active(o.validity)
            WHERE f.corrected AND (o.scope, o.holder, o.predicate_key) IS DISTINCT FROM (f.scope, f.holder, f.predicate_key)
            ORDER BY 2 DESC, 1 LIMIT 1) h ON true
        WHERE f.tenant_id = p_tenant AND f.id = p_id;
END $$;
REVOKE EXECUTE ON FUNCTION lock_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lock_fact TO butler_app;
COMMENT ON FUNCTION lock_fact IS
    'A fact and the active fact that replaced it or has the same key (the holder). '
    'Until the transaction ends, nobody else stores a fact of this key.';

CREATE OR REPLACE FUNCTION restore_fact(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_ids uuid[], p_id uuid, p_expiry double precision)
RETURNS TABLE (outcome text, holder_id uuid) LANGUAGE plpgsql AS $$
DECLARE
    fact record;
    holder_moved boolean;
BEGIN
    SELECT * INTO fact FROM lock_fact(p_tenant, p_id);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- The version that an edit moved has a key of its own. Whoever stored there during the wait may have ended it.
    PERFORM lock_fact_key(o.tenant_id, o.scope, o.holder, o.predicate_key)
        FROM facts o JOIN facts f ON f.tenant_id = p_tenant AND f.id = p_id
        WHERE o.tenant_id = p_tenant AND o.id = fact.holder_id
          AND (o.scope, o.holder, o.predicate_key) IS DISTINCT FROM (f.scope, f.holder, f.predicate_key);
    holder_moved := FOUND;
    IF holder_moved THEN
        SELECT * INTO fact FROM lock_fact(p_tenant, p_id);
    END IF;
    IF fact_is_active(fact.validity) THEN
        outcome := 'already_active';
        RETURN NEXT;
        RETURN;
    END IF;
    holder_id := fact.holder_id;
    IF holder_id IS NOT NULL THEN
        IF fact.validity <> 'superseded' OR NOT fact.holder_replaced_it THEN
            outcome := 'key_taken';
            RETURN NEXT;
            RETURN;
        END IF;
        PERFORM FROM facts o JOIN facts f ON f.tenant_id = p_tenant AND f.id = p_id
            WHERE o.tenant_id = p_tenant AND fact_is_active(o.validity) AND o.scope = f.scope AND o.holder = f.holder
              AND o.predicate_key = f.predicate_key AND o.slot = f.slot AND o.id <> restore_fact.holder_id;
        IF FOUND THEN
            outcome := 'key_taken';
            RETURN NEXT;
            RETURN;
        END IF;
        PERFORM correct_fact(p_tenant, p_at, holder_id);
        UPDATE facts f SET validity = 'retracted', ended_at = greatest(f.placed_at, p_at)
            WHERE f.tenant_id = p_tenant AND f.id = holder_id;
        PERFORM leave_no_tombstone(p_tenant, p_at, 'fact', holder_id);
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_ids[1], 'fact_forgotten', 'fact', holder_id,
            jsonb_build_object('before', jsonb_build_object('validity', 'active'),
                               'after', jsonb_build_object('validity', 'retracted'),
                               'restored', p_id));
    END IF;
    -- A forgotten fact that had ended this one no longer does.
    UPDATE facts o SET corrected = true
        FROM memory_links l
        WHERE l.tenant_id = p_tenant AND l.target_type = 'fact' AND l.target_id = p_id AND l.source_type = 'fact'
          AND l.relation = 'supersedes' AND o.tenant_id = p_tenant AND o.id = l.source_id AND o.ended_at IS NOT NULL;
    PERFORM believe_again(p_tenant, p_at, p_id);
    UPDATE facts f SET
        validity = 'active', corrected = false, slot = slot_base(f.slot) || '@' || f.id, metadata = fading_unmarked(f.metadata),
        last_confirmed_at = CASE WHEN effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at) < p_expiry
                                 THEN p_at ELSE f.last_confirmed_at END
        WHERE f.tenant_id = p_tenant AND f.id = p_id;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_ids[2], 'fact_restored', 'fact', p_id,
        jsonb_build_object('before', jsonb_build_object('validity', fact.validity),
                           'after', jsonb_build_object('validity', 'active')));
    PERFORM place_again(p_tenant, p_actor, p_request_id, p_at, p_id);
    IF holder_moved THEN
        -- What the moved version had superseded there counts again.
        PERFORM place_facts(p_tenant, p_actor, p_request_id, p_at, o.scope, o.holder, o.predicate_key, slot_base(o.slot), NULL)
            FROM facts o, predicate_rule(p_tenant, o.predicate_key) r
            WHERE o.tenant_id = p_tenant AND o.id = restore_fact.holder_id AND NOT r.is_temporal;
    END IF;
    outcome := 'restored';
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION restore_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION restore_fact TO butler_app;
COMMENT ON FUNCTION restore_fact IS
    'Makes a fact active again. outcome: restored (holder_id is the newer fact that was retracted), already_active '
    'or key_taken; no row if the tenant has no such fact.';

CREATE OR REPLACE FUNCTION restore_rule(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_id uuid, p_expiry double precision)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    remembered boolean;
BEGIN
    SELECT rule_is_remembered(r.metadata) INTO remembered
        FROM rules r WHERE r.tenant_id = p_tenant AND r.id = p_id FOR NO KEY UPDATE;
    IF NOT remembered THEN
        UPDATE rules r SET
            metadata = fading_unmarked(r.metadata) - 'forgotten',
            last_confirmed_at = CASE WHEN effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) < p_expiry
                                     THEN p_at ELSE r.last_confirmed_at END
            WHERE r.tenant_id = p_tenant AND r.id = p_id;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'rule_restored', 'rule', p_id,
            '{"before": {"forgotten": true}, "after": {"forgotten": false}}');
    END IF;
    RETURN NOT remembered;
END $$;
REVOKE EXECUTE ON FUNCTION restore_rule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION restore_rule TO butler_app;
COMMENT ON FUNCTION restore_rule IS
    'Makes a forgotten rule retrievable again; false if it was not forgotten, NULL if the tenant has no such rule.';
