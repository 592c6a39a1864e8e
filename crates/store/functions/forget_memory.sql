-- A forgotten memory is never retrieved again, but not deleted. Forgetting twice changes nothing and records one event.

CREATE OR REPLACE FUNCTION forget_fact(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_id uuid)
RETURNS TABLE (changed boolean, previous_id uuid) LANGUAGE plpgsql AS $$
DECLARE
    old_validity text;
    older uuid;
    plan record;
BEGIN
    -- If the fact is a plan, the value that it would have ended continues. Only then do other facts of the key change, so
    -- only then is the key locked, before the row.
    SELECT f.scope, f.holder, f.predicate_key, slot_base(f.slot) AS base INTO plan
        FROM facts f WHERE f.tenant_id = p_tenant AND f.id = p_id AND f.holds_from > greatest(p_at, f.created_at)
          AND f.holds_from < f.holds_to;
    IF FOUND THEN
        PERFORM lock_fact_key(p_tenant, plan.scope, plan.holder, plan.predicate_key);
    END IF;
    SELECT f.validity, f.supersedes_id INTO old_validity, older
        FROM facts f WHERE f.tenant_id = p_tenant AND f.id = p_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF fact_is_active(old_validity) THEN
        SELECT f.id INTO previous_id FROM facts f WHERE f.tenant_id = p_tenant AND f.id = older AND f.validity = 'superseded';
    END IF;
    changed := old_validity <> 'retracted';
    IF NOT changed THEN
        -- An undo may have retracted it without leaving a tombstone.
        UPDATE tombstones t SET allowed_at = NULL
            WHERE t.tenant_id = p_tenant AND t.memory_id = p_id AND t.allowed_by IS NULL AND t.allowed_at IS NOT NULL;
        RETURN NEXT;
        RETURN;
    END IF;
    UPDATE tombstones t SET allowed_at = NULL, allowed_by = NULL WHERE t.tenant_id = p_tenant AND t.memory_id = p_id;
    UPDATE facts f SET validity = 'retracted', ended_at = coalesce(f.ended_at, greatest(f.placed_at, f.created_at, p_at))
        WHERE f.tenant_id = p_tenant AND f.id = p_id;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'fact_forgotten', 'fact', p_id,
        jsonb_build_object('before', jsonb_build_object('validity', old_validity),
                           'after', jsonb_build_object('validity', 'retracted')));
    IF plan.base IS NOT NULL AND NOT (SELECT r.is_temporal FROM predicate_rule(p_tenant, plan.predicate_key) r) THEN
        PERFORM place_facts(p_tenant, p_actor, p_request_id, p_at, plan.scope, plan.holder, plan.predicate_key, plan.base, NULL);
    END IF;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION forget_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_fact TO butler_app;
COMMENT ON FUNCTION forget_fact IS
    'Retracts a fact; changed is false if it was retracted before, no row if the tenant has no such fact. '
    'previous_id: the version that the retracted one had replaced, which stays superseded.';

CREATE OR REPLACE FUNCTION forget_rule(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_id uuid)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    remembered boolean;
    decayed boolean;
BEGIN
    SELECT rule_is_remembered(r.metadata), rule_has_decayed(p_tenant, p_id, r.metadata) INTO remembered, decayed
        FROM rules r WHERE r.tenant_id = p_tenant AND r.id = p_id FOR NO KEY UPDATE;
    IF remembered OR decayed THEN
        -- A rule that the sweep forgot can recover. A rule that somebody forgets cannot.
        UPDATE tombstones t SET allowed_at = NULL, allowed_by = NULL WHERE t.tenant_id = p_tenant AND t.memory_id = p_id;
        UPDATE rules r SET metadata = (r.metadata - 'needs_inversion') || '{"forgotten": true}'
            WHERE r.tenant_id = p_tenant AND r.id = p_id;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'rule_forgotten', 'rule', p_id,
            jsonb_build_object('before', jsonb_build_object('forgotten', decayed), 'after', '{"forgotten": true}'::jsonb));
    ELSE
        -- An undo may have forgotten it without leaving a tombstone.
        UPDATE tombstones t SET allowed_at = NULL
            WHERE t.tenant_id = p_tenant AND t.memory_id = p_id AND t.allowed_by IS NULL AND t.allowed_at IS NOT NULL;
    END IF;
    RETURN remembered OR decayed;
END $$;
REVOKE EXECUTE ON FUNCTION forget_rule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_rule TO butler_app;
COMMENT ON FUNCTION forget_rule IS
    'Forgets a rule; false if it was forgotten before, NULL if the tenant has no such rule.';

-- The episode expires now; expire_episodes removes it later.
CREATE OR REPLACE FUNCTION forget_episode(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_id uuid)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    ended_at constant timestamptz := plausible_now(p_at);
    old_expiry timestamptz;
BEGIN
    SELECT e.expires_at INTO old_expiry FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = p_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF NOT episode_is_alive(old_expiry, ended_at) THEN
        RETURN false;
    END IF;
    UPDATE episodes e SET expires_at = ended_at WHERE e.tenant_id = p_tenant AND e.id = p_id;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'episode_forgotten', 'episode', p_id,
        jsonb_build_object('before', jsonb_build_object('expires_at', old_expiry),
                           'after', jsonb_build_object('expires_at', ended_at)));
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION forget_episode FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_episode TO butler_app;
COMMENT ON FUNCTION forget_episode IS
    'Ends an episode now; false if it had expired before, NULL if the tenant has no such episode.';
