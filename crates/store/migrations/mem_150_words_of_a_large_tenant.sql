-- mem_150: words in a large tenant's lists cost what is rare in them, not what is frequent.
--
-- Every word typed is a prefix, and for a prefix the index of words first collects the rows of all tenants. Of a million facts that all
-- said "note", `note 4321` collected a million, and did so twice: 350 ms for 22 facts of a tenant with 200k. Facts from all parts of the
-- tenant's time tell which words are frequent. Those are left to a look at the rows the others lead to.

-- What the index of words is to be asked for, in a tenant that is not small. ids: the tenant's facts that bear the rare ones among the
-- words; NULL if none is rare, or too many facts of other tenants bear them. often: several in a hundred of its newer facts bear all.
CREATE FUNCTION facts_with_words(p_tenant text, p_words tsquery, OUT indexed tsquery, OUT ids uuid[], OUT often boolean)
    LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    -- of each of so many parts of the time, so many facts: 300
    parts constant integer := 30;
    each constant integer := 10;
    -- a word in at most this many of them
    rare constant integer := 3;
    uncommon constant integer := 30;
    -- facts of all tenants that are looked at one by one
    most constant integer := 3000;
    rarest tsquery;
BEGIN
    WITH sample AS MATERIALIZED (
        SELECT s.search_vector, part
        FROM (SELECT min(f.created_at) AS since, max(f.created_at) AS until FROM facts f WHERE f.tenant_id = p_tenant) t,
             generate_series(1, parts) AS part,
             LATERAL (SELECT f.search_vector FROM facts f
                      WHERE f.tenant_id = p_tenant AND f.created_at <= t.since + (t.until - t.since) * (part::double precision / parts)
                      ORDER BY f.created_at DESC, f.id LIMIT each) s),
    terms AS MATERIALIZED (
        SELECT t.term, (SELECT count(*) FROM sample s WHERE s.search_vector @@ t.term::tsquery) AS hits
        FROM unnest(query_terms(p_words)) AS t (term))
    SELECT string_agg(term, ' & ') FILTER (WHERE hits <= greatest(uncommon, 4 * (SELECT min(hits) FROM terms)))::tsquery,
           string_agg(term, ' & ') FILTER (WHERE hits <= rare)::tsquery,
           (SELECT count(*) > rare FROM sample s WHERE s.search_vector @@ p_words AND s.part > parts * 2 / 3)
        INTO indexed, rarest, often FROM terms;
    IF rarest IS NOT NULL THEN
        SELECT CASE WHEN count(*) < most THEN coalesce(array_agg(m.id) FILTER (WHERE m.tenant_id = p_tenant), '{}') END INTO ids
            FROM (SELECT f.id, f.tenant_id FROM facts f WHERE f.search_vector @@ rarest LIMIT most) m;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION facts_with_words FROM PUBLIC;

-- As in mem_106 but for that.
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
    -- behind IS TRUE the index of all tenants' words is not considered
    seen constant text := ' AND (search_vector @@ $6) IS TRUE';
    rates double precision[];
    rare_ids uuid[];
    indexed tsquery;
    by_words text := '';
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
        by_words := seen;
        IF NOT tenant_is_small(p_tenant) THEN
            IF p_state IN ('active', 'all') AND p_subject IS NULL AND p_entity IS NULL THEN
                SELECT w.ids, w.indexed INTO rare_ids, indexed FROM facts_with_words(p_tenant, words) w;
            END IF;
            by_words := CASE WHEN rare_ids IS NOT NULL THEN ' AND id = ANY ($16)' || seen
                WHEN indexed <> words THEN ' AND search_vector @@ $17' || seen
                ELSE ' AND search_vector @@ $6' END;
        END IF;
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
        source := 'SELECT coalesce(sum(c.n), 0) FROM unnest($15) AS r (rate)' || near || ', LATERAL (
            SELECT count(*) AS n FROM facts WHERE ' || condition || ' AND decay_rate = r.rate AND confidence >= $8 AND ' || rank || ' >= b.bound + s.slack
            UNION ALL
            SELECT count(*) FROM facts WHERE ' || condition || above || ' AND decay_rate = r.rate
                AND ' || rank || ' >= b.bound - s.slack AND ' || rank || ' < b.bound + s.slack) c';
    ELSE
        source := 'SELECT count(*) FROM facts WHERE ' || condition || by_words || above;
    END IF;
    EXECUTE source INTO total
        USING p_tenant, p_at, p_state, p_scopes, p_subject, words, p_words, p_min, p_permanence, p_entity,
              p_after_at, p_after_id, p_limit, p_offset, rates, rare_ids, indexed;
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
    IF indexed IS NULL THEN
        source := source || by_words;
    ELSIF by_confidence OR (p_sort = 'importance' AND p_state = 'all') OR (p_sort = 'oldest' AND p_min > 0)
            OR p_offset > total / 20 - p_limit THEN
        -- all that were counted: no index knows the order, or has them soon
        source := '(SELECT * FROM ' || source || by_words || ' OFFSET 0) c';
    ELSE
        -- along the order, which an index knows, whatever the planner guesses of the words
        PERFORM set_config('enable_sort', 'off', true);
        source := source || seen;
    END IF;
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
              p_after_at, p_after_id, p_limit, p_offset, rates, rare_ids, indexed;
END $$;

-- As in mem_131 but for that, and where it was any of many facts that are ranked, it is now the newest: those are found without an index
-- of words. What begins with what was typed, of every kind, the best few of each. Of many matches only some hundred are
-- ranked: who typed two letters has not asked a question yet. A standing of 1 or more says that what was typed is the name itself: an
-- entity's, one of its aliases, or the subject of a fact.
CREATE OR REPLACE FUNCTION browse_palette(p_tenant text, p_at timestamptz, p_words text, p_limit integer)
    RETURNS TABLE (kind text, id uuid, title text, preview text, scope text, confidence double precision, maturity text,
                   created_at timestamptz, standing double precision) LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    ranked constant integer := 300;
    words constant tsquery := typed_query(p_words);
    typed constant text := lower(p_words);
    facts_of_words uuid[];
    rare_ids uuid[];
    indexed tsquery;
    often boolean;
    few_episodes boolean;
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'memories of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    few_episodes := (SELECT count(*) < 3000 FROM (SELECT FROM episodes e WHERE e.tenant_id = p_tenant LIMIT 3000) e);
    -- behind IS TRUE the index of all tenants' words is not considered
    IF words IS NULL THEN
        facts_of_words := '{}';
    ELSIF tenant_is_small(p_tenant) THEN
        facts_of_words := ARRAY(SELECT f.id FROM facts f
            WHERE (f.search_vector @@ words) IS TRUE AND f.tenant_id = p_tenant AND fact_is_active(f.validity || '') LIMIT ranked);
    ELSE
        SELECT w.ids, w.indexed, w.often INTO rare_ids, indexed, often FROM facts_with_words(p_tenant, words) w;
        IF rare_ids IS NOT NULL THEN
            facts_of_words := ARRAY(SELECT f.id FROM facts f
                WHERE f.id = ANY (rare_ids) AND (f.search_vector @@ words) IS TRUE AND fact_is_active(f.validity || '') LIMIT ranked);
        ELSIF often THEN
            PERFORM set_config('enable_sort', 'off', true);
            facts_of_words := ARRAY(SELECT f.id FROM facts f
                WHERE f.tenant_id = p_tenant AND (f.search_vector @@ words) IS TRUE AND fact_is_active(f.validity)
                ORDER BY f.created_at DESC, f.id LIMIT ranked);
            PERFORM set_config('enable_sort', 'on', true);
        ELSE
            facts_of_words := ARRAY(SELECT f.id FROM facts f
                WHERE f.search_vector @@ indexed AND (f.search_vector @@ words) IS TRUE AND f.tenant_id = p_tenant
                  AND fact_is_active(f.validity || '') LIMIT ranked);
        END IF;
    END IF;
    -- A subject is looked up as it was typed and as names are written: the index of subjects knows no other spelling.
    RETURN QUERY SELECT 'fact', m.id, concat_ws(' ', m.subject, replace(m.predicate, '_', ' ')), left(m.content, 160), m.scope,
            effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, p_at), NULL::text, m.created_at,
            coalesce(ts_rank(m.search_vector, words), 0)::double precision + (lower(m.subject) = typed)::integer AS standing
        FROM facts m JOIN (
            SELECT unnest(facts_of_words) AS id
            UNION
            (SELECT f.id FROM facts f
             WHERE f.tenant_id = p_tenant AND f.subject = ANY (ARRAY[p_words, initcap(p_words), typed])
               AND fact_is_active(f.validity || '') LIMIT ranked)) found ON found.id = m.id
        ORDER BY standing DESC, m.created_at DESC, m.id LIMIT p_limit;
    IF words IS NOT NULL THEN
        RETURN QUERY SELECT 'rule', m.id, left(m.content, 80), left(m.content, 160), m.scope,
                effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, p_at), m.maturity, m.created_at, m.standing
            FROM (SELECT r.*, ts_rank(r.search_vector, words)::double precision AS standing FROM rules r
                  WHERE r.search_vector @@ words AND r.tenant_id = p_tenant AND rule_is_remembered(r.metadata) LIMIT ranked) m
            ORDER BY m.standing DESC, m.created_at DESC, m.id LIMIT p_limit;
        RETURN QUERY SELECT 'episode', m.id, left(m.content, 80), left(m.content, 160), m.butler,
                NULL::double precision, m.consolidation_status::text, m.created_at, m.standing
            -- of two ways only the one chosen is gone
            FROM (SELECT e.*, ts_rank(e.search_vector, words)::double precision AS standing FROM (
                      (SELECT e.* FROM episodes e WHERE NOT few_episodes AND e.search_vector @@ words AND e.tenant_id = p_tenant
                         AND episode_is_alive(e.expires_at, p_at) LIMIT ranked)
                      UNION ALL
                      (SELECT e.* FROM episodes e WHERE few_episodes AND (e.search_vector @@ words) IS TRUE AND e.tenant_id = p_tenant
                         AND episode_is_alive(e.expires_at, p_at) LIMIT ranked)) e) m
            ORDER BY m.standing DESC, m.created_at DESC, m.id LIMIT p_limit;
    END IF;
    RETURN QUERY SELECT 'entity', c.id, c.canonical_name, array_to_string(c.aliases, ', '), c.entity_type,
            NULL::double precision, NULL::text, e.created_at,
            CASE c.tier WHEN 1 THEN 2.0 WHEN 2 THEN 1.0 ELSE 1.0 / c.tier END::double precision
        FROM entity_candidates(p_tenant, p_words, NULL, false, 0.3::real, '{}', p_limit, 0, 0) c
        JOIN entities e ON e.id = c.id
        ORDER BY c.tier, c.canonical_name, c.id;
END $$;

DO $do$
DECLARE
    part regprocedure;
BEGIN
    FOR part IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname IN ('browse_facts', 'browse_palette') LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', part, current_setting('search_path'));
        EXECUTE format('ALTER FUNCTION %s SET client_min_messages = warning', part);
        -- what they set of it ends with them
        EXECUTE format('ALTER FUNCTION %s SET enable_sort = on', part);
    END LOOP;
END $do$;
