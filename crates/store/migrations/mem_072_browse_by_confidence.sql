-- mem_072: the last lists that looked at every fact: by confidence, above a confidence, by importance; and the figures
-- of the overview.
--
-- Why a rank. Effective confidence changes every moment, so no index can hold it. But two facts that decay at the same
-- rate never change places: ln(effective) = ln(confidence) − rate · days, and with days reckoned from a fixed moment
-- instead of from now, the same order is a constant of each fact. There are a handful of rates (one for each permanence),
-- so a page by confidence is the beginning of a handful of index scans, whatever the moment.

-- Days of decay since a fixed moment. A rate above the bound leaves nothing after a second, so the bound changes nothing
-- but keeps the product finite. Only functions of pg_catalog: indexes are built without a search path.
CREATE FUNCTION decay_elapsed(decay_rate double precision, at timestamptz)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN decay_rate = 0 THEN 0
        ELSE least(decay_rate, 1e6) * (date_part('epoch', at - timestamptz '2020-01-01 00:00:00+00') / 86400) END
$$;

-- effective_confidence at a moment = exp(decay_rank − decay_elapsed at that moment), but for rounding, and but for a
-- fact that was confirmed after that moment.
CREATE FUNCTION decay_rank(confidence double precision, decay_rate double precision, confirmed_at timestamptz)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN confidence < 1e-40 OR (confirmed_at IS NULL AND decay_rate > 0) THEN '-Infinity'
        WHEN decay_rate = 0 THEN ln(confidence)
        ELSE ln(confidence)
            + least(decay_rate, 1e6) * (date_part('epoch', confirmed_at - timestamptz '2020-01-01 00:00:00+00') / 86400) END
$$;

CREATE INDEX facts_by_confidence ON facts
    (tenant_id, decay_rate, decay_rank(confidence, decay_rate, last_confirmed_at) DESC, created_at DESC, id)
    INCLUDE (confidence, last_confirmed_at, permanence, scope) WHERE validity = 'active';
CREATE INDEX facts_by_importance ON facts (tenant_id, importance DESC, created_at DESC, id) WHERE validity = 'active';
-- The same as before and one column more: equal keys are kept once, so counting by state, scope and permanence reads a
-- hundredth of what facts_browse is.
CREATE INDEX facts_counts ON facts (tenant_id, validity, scope, permanence);
DROP INDEX facts_tenant_validity_scope;

-- The rates there are among active facts; NULL if they are too many to be looked at one by one.
CREATE FUNCTION decay_rates(p_tenant text) RETURNS double precision[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    most constant integer := 64;
    found double precision[] := '{}';
    rate double precision := -1;
BEGIN
    LOOP
        SELECT f.decay_rate INTO rate FROM facts f
            WHERE f.tenant_id = p_tenant AND f.validity = 'active' AND f.decay_rate > rate ORDER BY f.decay_rate LIMIT 1;
        IF rate IS NULL THEN
            RETURN found;
        END IF;
        IF cardinality(found) = most THEN
            RETURN NULL;
        END IF;
        found := found || rate;
    END LOOP;
END $$;

-- As in mem_070, and by rank where nothing but state, scope, permanence and confidence is asked for. The least confident
-- come in the exact reverse of the most confident.
CREATE OR REPLACE FUNCTION browse_facts(
    p_tenant text, p_at timestamptz, p_state text, p_scopes text[], p_subject text, p_words text, p_min double precision,
    p_permanence text, p_entity uuid, p_sort text, p_after_at timestamptz, p_after_id uuid, p_limit integer, p_offset integer,
    OUT ids uuid[], OUT total bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
    words constant tsquery := typed_query(p_words);
    by_confidence constant boolean := p_sort IN ('most_confident', 'least_confident');
    -- fewer than this are sorted as they are found; of more, the newest are soon among them
    few constant integer := 1000;
    -- a rank as near to a bound as this may lie on either side of it: rounding
    near constant text := ', LATERAL (SELECT ln($8) + decay_elapsed(r.rate, $2) AS bound) b, LATERAL (SELECT 1e-9 * (1 + abs(b.bound)) AS slack) s';
    rank constant text := 'decay_rank(confidence, decay_rate, last_confirmed_at)';
    effective constant text := 'effective_confidence(confidence, decay_rate, last_confirmed_at, $2)';
    rates double precision[];
    condition text := 'tenant_id = $1';
    above text := '';
    ordered text;
    source text;
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'facts of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF p_state = 'active' AND p_words IS NULL AND p_subject IS NULL AND p_entity IS NULL AND (p_min > 0 OR by_confidence) THEN
        rates := decay_rates(p_tenant);
    END IF;
    condition := condition || CASE p_state
        WHEN 'all' THEN ''
        WHEN 'fading' THEN ' AND validity = ''active'' AND memory_is_fading(metadata)'
        WHEN 'active' THEN ' AND validity = ''active'''
        ELSE ' AND validity = $3' END;
    IF p_scopes IS NOT NULL THEN
        condition := condition || ' AND scope = ANY ($4)';
    END IF;
    IF p_subject IS NOT NULL THEN
        condition := condition || ' AND subject = $5';
    END IF;
    IF words IS NOT NULL THEN
        condition := condition || ' AND search_vector @@ $6';
    ELSIF p_words IS NOT NULL THEN
        -- nothing but signs and words too common to be indexed
        condition := condition || ' AND strpos(lower(concat_ws('' '', subject, predicate, content)), lower($7)) > 0';
    END IF;
    IF p_permanence IS NOT NULL THEN
        condition := condition || ' AND permanence = $9';
    END IF;
    IF p_entity IS NOT NULL THEN
        condition := condition || ' AND entity_id = $10';
    END IF;
    IF p_min > 0 THEN
        above := ' AND ' || effective || ' >= $8';
    END IF;
    IF p_min > 0 AND rates IS NOT NULL THEN
        -- beyond doubt above the bound, by the rank alone; near it, by the confidence itself. What was confirmed after the
        -- moment has not decayed, whatever its rank.
        source := 'SELECT coalesce(sum(c.n), 0) FROM unnest($11) AS r (rate)' || near || ', LATERAL (
            SELECT count(*) AS n FROM facts WHERE ' || condition || ' AND decay_rate = r.rate AND confidence >= $8 AND ' || rank || ' >= b.bound + s.slack
            UNION ALL
            SELECT count(*) FROM facts WHERE ' || condition || above || ' AND decay_rate = r.rate
                AND ' || rank || ' >= b.bound - s.slack AND ' || rank || ' < b.bound + s.slack) c';
    ELSE
        source := 'SELECT count(*) FROM facts WHERE ' || condition || above;
    END IF;
    EXECUTE source INTO total
        USING p_tenant, p_at, p_state, p_scopes, p_subject, words, p_words, p_min, p_permanence, p_entity, rates;
    condition := condition || above;
    IF p_after_at IS NOT NULL THEN
        condition := condition || ' AND created_at <= $11 AND (created_at < $11 OR id > $12)';
    END IF;
    ordered := ' ORDER BY ' || CASE p_sort
        WHEN 'oldest' THEN 'created_at, id DESC'
        WHEN 'most_confident' THEN effective || ' DESC, created_at DESC, id'
        WHEN 'least_confident' THEN effective || ', created_at, id DESC'
        WHEN 'importance' THEN 'importance DESC, created_at DESC, id'
        WHEN 'subject' THEN 'subject, predicate, id'
        ELSE 'created_at DESC, id' END;
    source := 'facts WHERE ' || condition;
    IF rates IS NOT NULL AND by_confidence THEN
        source := 'unnest($15) AS r (rate)' || CASE WHEN p_min > 0 THEN near ELSE '' END || ', LATERAL (
            SELECT id, created_at, confidence, decay_rate, last_confirmed_at FROM facts
            WHERE ' || condition || ' AND decay_rate = r.rate' || CASE WHEN p_min > 0 THEN ' AND ' || rank || ' >= b.bound - s.slack' ELSE '' END || '
            ORDER BY ' || rank || CASE p_sort WHEN 'most_confident' THEN ' DESC, created_at DESC, id' ELSE ', created_at, id DESC' END || '
            LIMIT $13 + $14) c';
    ELSIF rates IS NOT NULL AND total < few THEN
        source := 'unnest($15) AS r (rate)' || near || ', LATERAL (
            SELECT id, created_at, importance, subject, predicate FROM facts
            WHERE ' || condition || ' AND decay_rate = r.rate AND ' || rank || ' >= b.bound - s.slack) c';
    END IF;
    EXECUTE 'SELECT ARRAY(SELECT id FROM ' || source || ordered || ' LIMIT $13 OFFSET $14)' INTO ids
        USING p_tenant, p_at, p_state, p_scopes, p_subject, words, p_words, p_min, p_permanence, p_entity,
              p_after_at, p_after_id, p_limit, p_offset, rates;
END $$;

-- How many active facts have an effective confidence in each twentieth; bin 0 is below 0.05. A scope means global and
-- itself. Confidences on an edge belong above it, rounding or not.
CREATE FUNCTION browse_confidence(p_tenant text, p_at timestamptz, p_scope text)
    RETURNS TABLE (bin integer, facts bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    rates double precision[];
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'facts of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    rates := decay_rates(p_tenant);
    IF rates IS NULL THEN
        RETURN QUERY SELECT least(19, floor(effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at) * 20))::integer, count(*)
            FROM facts f WHERE f.tenant_id = p_tenant AND f.validity = 'active' AND (p_scope IS NULL OR f.scope IN ('global', p_scope))
            GROUP BY 1;
        RETURN;
    END IF;
    RETURN QUERY SELECT b.bin, sum((
            SELECT count(*) FROM facts f
            WHERE f.tenant_id = p_tenant AND f.validity = 'active' AND f.decay_rate = r.rate
              AND (p_scope IS NULL OR f.scope IN ('global', p_scope))
              AND decay_rank(f.confidence, f.decay_rate, f.last_confirmed_at) >= b.from_rank + e.elapsed - 1e-9 * (1 + abs(e.elapsed))
              AND decay_rank(f.confidence, f.decay_rate, f.last_confirmed_at) < b.to_rank + e.elapsed - 1e-9 * (1 + abs(e.elapsed))))::bigint
        FROM unnest(rates) AS r (rate), LATERAL (SELECT decay_elapsed(r.rate, p_at) AS elapsed) e,
             LATERAL (SELECT n AS bin, CASE n WHEN 0 THEN '-Infinity' ELSE ln(n / 20.0::double precision) END AS from_rank,
                             CASE n WHEN 19 THEN 'Infinity' ELSE ln((n + 1) / 20.0::double precision) END AS to_rank
                      FROM generate_series(0, 19) n) b
        GROUP BY b.bin;
END $$;

DO $do$
DECLARE
    part regprocedure;
BEGIN
    FOR part IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace
          AND p.proname IN ('browse_facts', 'browse_confidence', 'decay_rates') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', part);
        EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', part, current_setting('search_path'));
        EXECUTE format('ALTER FUNCTION %s SET client_min_messages = warning', part);
        IF part::text NOT LIKE '%decay_rates(%' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO butler_app', part);
        END IF;
    END LOOP;
END $do$;
