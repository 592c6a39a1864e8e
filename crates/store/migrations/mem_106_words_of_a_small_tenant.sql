-- mem_106: words looked for in a small tenant's facts cost what that tenant has, not what all tenants have.
--
-- The index of words knows no tenants. Asked for a word in a thousand facts of a table of 250k it collected the matches of all
-- tenants first: 120 ms for a word in a twelfth of the rows, 1.4 s for one in all of them. A few thousand rows are read sooner.

CREATE FUNCTION tenant_is_small(p_tenant text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT count(*) < 3000 FROM (SELECT FROM facts WHERE tenant_id = p_tenant LIMIT 3000) f
$$;
REVOKE EXECUTE ON FUNCTION tenant_is_small FROM PUBLIC;

-- As in mem_072 but for the choice.
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
        -- behind IS TRUE the index of all tenants' words is not considered
        condition := condition || CASE WHEN tenant_is_small(p_tenant) THEN ' AND (search_vector @@ $6) IS TRUE'
            ELSE ' AND search_vector @@ $6' END;
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

DO $do$
DECLARE
    part regprocedure;
BEGIN
    FOR part IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname = 'browse_facts' LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', part, current_setting('search_path'));
        EXECUTE format('ALTER FUNCTION %s SET client_min_messages = warning', part);
    END LOOP;
END $do$;
