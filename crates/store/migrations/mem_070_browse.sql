-- mem_070: lists and figures for people: pages of facts in milliseconds at 100k, and a search that answers while one types.
--
-- Why functions. As for retrieval (mem_010): under row-level security neither `@@` nor any other operator that is not
-- leakproof may use an index before the policy has passed a row. They run as the owner, filter by the tenant they are
-- given and refuse one that is not the connection's own.
--
-- Why EXECUTE. Which index serves a page depends on which filters are there; a statement for all combinations would be
-- planned for none of them. The pieces are constants of these functions, and every value is a parameter.

-- The same number as before (microseconds, hence whole in a double), without a detour over numeric: decayed confidence of
-- 100k rows takes a fifth of the time.
CREATE OR REPLACE FUNCTION days_between(earlier timestamptz, later timestamptz)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT round(date_part('epoch', later - earlier) * 1000000) / 86400000000.0
$$;

-- A page of a state's facts in any order but by subject, and all counts, without looking at a row. None of these columns
-- changes when a fact is read, so counting references stays a HOT update.
CREATE INDEX facts_browse ON facts (tenant_id, validity, created_at DESC, id)
    INCLUDE (permanence, scope, importance, confidence, decay_rate, last_confirmed_at);
CREATE INDEX facts_tenant_subject ON facts (tenant_id, subject, predicate, id);
-- There are few of them, and people ask for exactly these.
CREATE INDEX facts_fading ON facts (tenant_id, id) WHERE validity = 'active' AND memory_is_fading(metadata);

-- What a person typed so far: every word a prefix, all of them wanted. NULL where nothing of it is a word.
CREATE FUNCTION typed_query(words text) RETURNS tsquery LANGUAGE sql STABLE AS $$
    SELECT string_agg(term || ':*', ' & ')::tsquery FROM unnest(query_terms(plainto_tsquery('pg_catalog.english', words))) t (term)
$$;

-- One page of facts, and how many there are in all. p_state is a validity, `fading` or `all`; (p_after_at, p_after_id) is
-- the last of the page before, in the order `newest`.
CREATE FUNCTION browse_facts(
    p_tenant text, p_at timestamptz, p_state text, p_scopes text[], p_subject text, p_words text, p_min double precision,
    p_permanence text, p_entity uuid, p_sort text, p_after_at timestamptz, p_after_id uuid, p_limit integer, p_offset integer,
    OUT ids uuid[], OUT total bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
    words constant tsquery := typed_query(p_words);
    condition text := 'tenant_id = $1';
    page text := '';
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'facts of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    condition := condition || CASE p_state
        WHEN 'all' THEN ''
        WHEN 'fading' THEN ' AND validity = ''active'' AND memory_is_fading(metadata)'
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
    IF p_min > 0 THEN
        condition := condition || ' AND effective_confidence(confidence, decay_rate, last_confirmed_at, $2) >= $8';
    END IF;
    IF p_permanence IS NOT NULL THEN
        condition := condition || ' AND permanence = $9';
    END IF;
    IF p_entity IS NOT NULL THEN
        condition := condition || ' AND entity_id = $10';
    END IF;
    EXECUTE 'SELECT count(*) FROM facts WHERE ' || condition INTO total
        USING p_tenant, p_at, p_state, p_scopes, p_subject, words, p_words, p_min, p_permanence, p_entity;
    IF p_after_at IS NOT NULL THEN
        page := ' AND created_at <= $11 AND (created_at < $11 OR id > $12)';
    END IF;
    page := page || CASE p_sort
        WHEN 'oldest' THEN ' ORDER BY created_at, id DESC'
        WHEN 'most_confident' THEN ' ORDER BY effective_confidence(confidence, decay_rate, last_confirmed_at, $2) DESC, created_at DESC, id'
        WHEN 'least_confident' THEN ' ORDER BY effective_confidence(confidence, decay_rate, last_confirmed_at, $2), created_at DESC, id'
        WHEN 'importance' THEN ' ORDER BY importance DESC, created_at DESC, id'
        WHEN 'subject' THEN ' ORDER BY subject, predicate, id'
        ELSE ' ORDER BY created_at DESC, id' END;
    EXECUTE 'SELECT ARRAY(SELECT id FROM facts WHERE ' || condition || page || ' LIMIT $13 OFFSET $14)' INTO ids
        USING p_tenant, p_at, p_state, p_scopes, p_subject, words, p_words, p_min, p_permanence, p_entity,
              p_after_at, p_after_id, p_limit, p_offset;
END $$;

-- What begins with what was typed, of every kind, the best few of each. Of many matches only some hundred are ranked: who
-- typed two letters has not asked a question yet.
CREATE FUNCTION browse_palette(p_tenant text, p_at timestamptz, p_words text, p_limit integer)
    RETURNS TABLE (kind text, id uuid, title text, preview text, scope text, confidence double precision, maturity text,
                   created_at timestamptz, standing double precision) LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    ranked constant integer := 300;
    words constant tsquery := typed_query(p_words);
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'memories of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF words IS NOT NULL THEN
        RETURN QUERY SELECT 'fact', m.id, concat_ws(' ', m.subject, replace(m.predicate, '_', ' ')), left(m.content, 160), m.scope,
                effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, p_at), NULL::text, m.created_at, m.standing
            FROM (SELECT f.*, ts_rank(f.search_vector, words)::double precision AS standing FROM facts f
                  WHERE f.search_vector @@ words AND f.tenant_id = p_tenant AND fact_is_active(f.validity || '') LIMIT ranked) m
            ORDER BY m.standing DESC, m.created_at DESC, m.id LIMIT p_limit;
        RETURN QUERY SELECT 'rule', m.id, left(m.content, 80), left(m.content, 160), m.scope,
                effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, p_at), m.maturity, m.created_at, m.standing
            FROM (SELECT r.*, ts_rank(r.search_vector, words)::double precision AS standing FROM rules r
                  WHERE r.search_vector @@ words AND r.tenant_id = p_tenant AND rule_is_remembered(r.metadata) LIMIT ranked) m
            ORDER BY m.standing DESC, m.created_at DESC, m.id LIMIT p_limit;
        RETURN QUERY SELECT 'episode', m.id, left(m.content, 80), left(m.content, 160), m.butler,
                NULL::double precision, m.consolidation_status::text, m.created_at, m.standing
            FROM (SELECT e.*, ts_rank(e.search_vector, words)::double precision AS standing FROM episodes e
                  WHERE e.search_vector @@ words AND e.tenant_id = p_tenant AND episode_is_alive(e.expires_at, p_at) LIMIT ranked) m
            ORDER BY m.standing DESC, m.created_at DESC, m.id LIMIT p_limit;
    END IF;
    RETURN QUERY SELECT 'entity', c.id, c.canonical_name, array_to_string(c.aliases, ', '), c.entity_type,
            NULL::double precision, NULL::text, e.created_at, 1.0 / c.tier
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
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', part);
        EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', part, current_setting('search_path'));
        -- words too common to be indexed are an ordinary thing, not worth a notice
        EXECUTE format('ALTER FUNCTION %s SET client_min_messages = warning', part);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO butler_app', part);
    END LOOP;
END $do$;
