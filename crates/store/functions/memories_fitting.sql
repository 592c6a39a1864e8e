-- What was asked for with a time: the places (ctid) of all memories that fit. p_time_filter has any of: first and last,
-- between which a fact holds for a while (valid_at); as_of: what was believed then; since and until: when it was said, stored
-- or happened. The search compares all that fit.

-- The present belief counts from placed_at on. Before that, a former one does.
CREATE OR REPLACE FUNCTION fact_held(
    p_id uuid, p_holds_from timestamptz, p_holds_to timestamptz, p_created_at timestamptz, p_placed_at timestamptz,
    p_ended_at timestamptz, p_first timestamptz, p_last timestamptz, p_as_of timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_created_at > p_as_of THEN false
                WHEN p_placed_at > p_as_of THEN EXISTS (
                    SELECT FROM fact_beliefs b
                    WHERE b.fact_id = p_id AND b.believed_from <= p_as_of AND p_as_of < b.believed_to
                      AND b.holds_from <= p_last AND b.holds_to > p_first AND b.holds_from < b.holds_to)
                ELSE p_holds_from <= p_last AND p_holds_to > p_first AND p_holds_from < p_holds_to
                     AND (p_ended_at IS NULL OR p_as_of < p_ended_at) IS TRUE END
$$;
COMMENT ON FUNCTION fact_held IS 'Whether a fact holds for a while between two moments, as believed now or, with p_as_of, then.';

-- fact_dates as they were believed then; NULL asks for now.
CREATE OR REPLACE FUNCTION fact_dates_then(
    p_id uuid, p_valid_from timestamptz, p_valid_to timestamptz, p_observed_at timestamptz, p_given jsonb,
    p_holds_from timestamptz, p_holds_to timestamptz, p_as_of timestamptz)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    belief record;
BEGIN
    IF p_as_of IS NOT NULL THEN
        SELECT b.holds_from, b.holds_to INTO belief FROM fact_beliefs b
            WHERE b.fact_id = p_id AND b.believed_from <= p_as_of AND p_as_of < b.believed_to;
        IF FOUND THEN
            RETURN fact_dates(p_valid_from, p_valid_to, p_observed_at, p_given, belief.holds_from, belief.holds_to);
        END IF;
    END IF;
    RETURN fact_dates(p_valid_from, p_valid_to, p_observed_at, p_given, p_holds_from, p_holds_to);
END $$;
COMMENT ON FUNCTION fact_dates_then IS 'When a fact is true, as believed then.';

-- For few facts at a time: of an entity, of a list, along relations. NULL asks for what is true now.
CREATE OR REPLACE FUNCTION fact_fits(
    p_id uuid, p_validity text, p_holds_from timestamptz, p_holds_to timestamptz, p_placed_at timestamptz, p_ended_at timestamptz,
    p_created_at timestamptz, p_observed_at timestamptz, p_at timestamptz, p_time_filter jsonb)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_time_filter IS NULL THEN p_validity = 'active' AND p_holds_from <= p_at AND p_at < p_holds_to
                WHEN NOT p_time_filter ?| '{first,as_of}' THEN p_validity = 'active'
                ELSE fact_held(p_id, p_holds_from, p_holds_to, p_created_at, p_placed_at, p_ended_at,
                               coalesce(p_time_filter ->> 'first', p_time_filter ->> 'as_of')::timestamptz,
                               coalesce(p_time_filter ->> 'last', p_time_filter ->> 'as_of')::timestamptz,
                               (p_time_filter ->> 'as_of')::timestamptz) END
       AND (p_time_filter IS NULL
            OR coalesce(p_observed_at, p_created_at) >= coalesce((p_time_filter ->> 'since')::timestamptz, '-infinity')
               AND coalesce(p_observed_at, p_created_at) < coalesce((p_time_filter ->> 'until')::timestamptz, 'infinity'))
$$;
COMMENT ON FUNCTION fact_fits IS 'Whether a fact fits the time asked for.';

CREATE OR REPLACE FUNCTION facts_fitting(p_tenant text, p_scope text, p_at timestamptz, p_time_filter jsonb)
RETURNS tid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    active constant text := 'active';
    as_of constant timestamptz := p_time_filter ->> 'as_of';
    first constant timestamptz := coalesce((p_time_filter ->> 'first')::timestamptz, as_of);
    last constant timestamptz := coalesce((p_time_filter ->> 'last')::timestamptz, as_of);
    since constant timestamptz := coalesce((p_time_filter ->> 'since')::timestamptz, '-infinity');
    until constant timestamptz := coalesce((p_time_filter ->> 'until')::timestamptz, 'infinity');
BEGIN
    IF first IS NULL THEN
        RETURN ARRAY(
            SELECT r.ctid FROM facts r
            WHERE r.tenant_id = p_tenant
              AND r.validity = active
              AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
              AND fact_holds(r.holds_from, r.holds_to, CASE WHEN (p_time_filter ->> 'holding')::boolean THEN p_at END)
              AND coalesce(r.observed_at, r.created_at) >= since AND coalesce(r.observed_at, r.created_at) < until);
    END IF;
    RETURN ARRAY(
        SELECT r.ctid FROM facts r
        WHERE r.tenant_id = p_tenant AND r.holds_to > first AND r.holds_from <= last AND r.holds_from < r.holds_to
          AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
          AND CASE WHEN as_of IS NULL THEN r.ended_at IS NULL
                   ELSE coalesce(r.placed_at, r.created_at) <= as_of AND (r.ended_at IS NULL OR as_of < r.ended_at) END
          AND (since = '-infinity' AND until = 'infinity'
               OR coalesce(r.observed_at, r.created_at) >= since AND coalesce(r.observed_at, r.created_at) < until)
        UNION
        SELECT r.ctid
        FROM fact_beliefs b JOIN facts r ON r.id = b.fact_id
        WHERE as_of IS NOT NULL AND b.tenant_id = p_tenant AND b.believed_to > as_of AND b.believed_from <= as_of
          AND b.holds_to > first AND b.holds_from <= last AND b.holds_from < b.holds_to
          AND r.tenant_id = p_tenant
          AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
          AND coalesce(r.observed_at, r.created_at) >= since AND coalesce(r.observed_at, r.created_at) < until);
END $$;
REVOKE EXECUTE ON FUNCTION facts_fitting FROM PUBLIC;
COMMENT ON FUNCTION facts_fitting IS 'The facts that held at the time asked for.';

-- A rule is believed from when it is stored until it is forgotten; the last event tells when that was.
CREATE OR REPLACE FUNCTION rule_known(
    p_tenant text, p_id uuid, p_created_at timestamptz, p_metadata jsonb, p_as_of timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_as_of IS NULL THEN rule_is_remembered(p_metadata)
                WHEN p_created_at > p_as_of THEN false
                ELSE coalesce((SELECT e.event_type <> 'rule_forgotten' FROM memory_events e
                               WHERE e.tenant_id = p_tenant AND e.memory_id = p_id AND e.created_at <= p_as_of
                                 AND e.event_type IN ('rule_forgotten', 'rule_restored', 'rule_recovered')
                               ORDER BY e.created_at DESC, e.id DESC LIMIT 1),
                              rule_is_remembered(p_metadata) OR EXISTS (
                                  SELECT FROM memory_events e
                                  WHERE e.tenant_id = p_tenant AND e.memory_id = p_id AND e.event_type = 'rule_forgotten')) END
$$;
COMMENT ON FUNCTION rule_known IS 'Whether a rule is remembered now or, with p_as_of, was then.';

CREATE OR REPLACE FUNCTION rules_fitting(p_tenant text, p_scope text, p_at timestamptz, p_time_filter jsonb)
RETURNS tid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    as_of constant timestamptz := p_time_filter ->> 'as_of';
    since constant timestamptz := coalesce((p_time_filter ->> 'since')::timestamptz, '-infinity');
    until constant timestamptz := coalesce((p_time_filter ->> 'until')::timestamptz, 'infinity');
BEGIN
    RETURN ARRAY(
        SELECT r.ctid FROM rules r
        WHERE r.tenant_id = p_tenant
          AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
          AND r.created_at >= since AND r.created_at < until
          AND rule_known(p_tenant, r.id, r.created_at, r.metadata, as_of));
END $$;
REVOKE EXECUTE ON FUNCTION rules_fitting FROM PUBLIC;
COMMENT ON FUNCTION rules_fitting IS 'The rules that were known at the time asked for. A rule has no dates of validity.';

CREATE OR REPLACE FUNCTION episodes_fitting(p_tenant text, p_scope text, p_at timestamptz, p_time_filter jsonb)
RETURNS tid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    as_of constant timestamptz := p_time_filter ->> 'as_of';
    first constant timestamptz := coalesce((p_time_filter ->> 'since')::timestamptz, '-infinity');
    until constant timestamptz := coalesce((p_time_filter ->> 'until')::timestamptz, 'infinity');
    last constant timestamptz := coalesce((p_time_filter ->> 'last')::timestamptz, 'infinity');
BEGIN
    RETURN ARRAY(
        SELECT r.ctid FROM episodes r
        WHERE r.tenant_id = p_tenant
          AND (p_scope IS NULL OR r.butler = p_scope)
          AND r.occurred_at >= first AND r.occurred_at < until AND r.occurred_at <= last
          AND (as_of IS NULL OR r.created_at <= as_of)
          AND episode_is_alive(r.expires_at, coalesce(as_of, p_at)));
END $$;
REVOKE EXECUTE ON FUNCTION episodes_fitting FROM PUBLIC;
COMMENT ON FUNCTION episodes_fitting IS 'The episodes that had happened, and were known, at the time asked for.';
