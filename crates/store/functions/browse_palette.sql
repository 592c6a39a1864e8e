-- The dashboard's command palette: of each kind, the best p_limit items with words that begin with the typed ones. A standing
-- of 1 or more means that the typed text is a name: an entity's, one of its aliases, or the subject of a fact.
-- Misspelled words are corrected (corrected_query), which lowers the standing. Runs as the owner, see browse_facts.
CREATE OR REPLACE FUNCTION browse_palette(p_tenant text, p_at timestamptz, p_words text, p_limit integer)
RETURNS TABLE (kind text, id uuid, title text, preview text, scope text, effective_confidence double precision,
               maturity text, created_at timestamptz, standing double precision) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET client_min_messages = warning SET enable_sort = on
AS $$
#variable_conflict use_column
DECLARE
    -- Matches ranked of each kind. The first letters of a word match thousands, and more letters follow.
    ranked constant integer := 300;
    -- Frequent words are looked for among this many facts.
    newest constant integer := 5000;
    words tsquery;
    corrected record;
    weight double precision;
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

    SELECT * INTO corrected FROM corrected_query(p_tenant, p_words);
    words := coalesce(corrected.query, typed_query(p_words));
    weight := coalesce(corrected.factor, 1);
    few_episodes := (SELECT count(*) < small_tenant_rows()
        FROM (SELECT FROM episodes e WHERE e.tenant_id = p_tenant LIMIT small_tenant_rows()) e);

    -- Facts with these words. IS TRUE keeps the planner from using the word index, which covers all tenants.
    IF words IS NULL THEN
        facts_of_words := '{}';
    ELSIF tenant_is_small(p_tenant) THEN
        facts_of_words := ARRAY(SELECT f.id FROM facts f
            WHERE (f.search_vector @@ words) IS TRUE AND f.tenant_id = p_tenant AND fact_is_active(f.validity || '')
            LIMIT ranked);
    ELSE
        SELECT w.ids, w.indexed, w.often INTO rare_ids, indexed, often FROM facts_with_words(p_tenant, words) w;
        IF rare_ids IS NOT NULL THEN
            facts_of_words := ARRAY(SELECT f.id FROM facts f
                WHERE f.id = ANY (rare_ids) AND (f.search_vector @@ words) IS TRUE AND fact_is_active(f.validity || '')
                LIMIT ranked);
        ELSE
            IF often THEN
                -- With sorting disabled, the planner reads the facts in the order of the index on time.
                PERFORM set_config('enable_sort', 'off', true);
                facts_of_words := ARRAY(SELECT f.id FROM (
                        SELECT n.id, n.search_vector, n.validity FROM facts n WHERE n.tenant_id = p_tenant
                        ORDER BY n.created_at DESC, n.id LIMIT newest) f
                    WHERE (f.search_vector @@ words) IS TRUE AND fact_is_active(f.validity) LIMIT ranked);
                PERFORM set_config('enable_sort', 'on', true);
            END IF;
            -- Too few of the newest facts have the words, but older facts may have them.
            IF coalesce(cardinality(facts_of_words), 0) < p_limit THEN
                facts_of_words := facts_of_words || ARRAY(SELECT f.id FROM facts f
                    WHERE f.search_vector @@ indexed AND (f.search_vector @@ words) IS TRUE AND f.tenant_id = p_tenant
                      AND fact_is_active(f.validity || '') LIMIT ranked);
            END IF;
        END IF;
    END IF;

    -- A subject is looked up as typed, capitalized and in lower case: the index compares whole subjects.
    RETURN QUERY
        SELECT 'fact', m.id, concat_ws(' ', m.subject, replace(m.predicate, '_', ' ')), left(m.content, 160), m.scope,
            effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, p_at), NULL::text, m.created_at,
            weight * coalesce(ts_rank(m.search_vector, words), 0) + (lower(m.subject) = typed)::integer AS standing
        FROM facts m JOIN (
            SELECT unnest(facts_of_words) AS id
            UNION
            (SELECT f.id FROM facts f
             WHERE f.tenant_id = p_tenant AND f.subject = ANY (ARRAY[p_words, initcap(p_words), typed])
               AND fact_is_active(f.validity || '') LIMIT ranked)) found ON found.id = m.id
        ORDER BY standing DESC, m.created_at DESC, m.id LIMIT p_limit;
    IF words IS NOT NULL THEN
        RETURN QUERY
            SELECT 'rule', m.id, left(m.content, 80), left(m.content, 160), m.scope,
                effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, p_at), m.maturity, m.created_at, m.standing
            FROM (SELECT r.*, weight * ts_rank(r.search_vector, words) AS standing
                  FROM rules r
                  WHERE r.search_vector @@ words AND r.tenant_id = p_tenant AND rule_is_remembered(r.metadata)
                  LIMIT ranked) m
            ORDER BY m.standing DESC, m.created_at DESC, m.id LIMIT p_limit;
        RETURN QUERY
            SELECT 'episode', m.id, left(m.content, 80), left(m.content, 160), m.butler,
                NULL::double precision, m.consolidation_status::text, m.created_at, m.standing
            -- Only one of the two branches runs.
            FROM (SELECT e.*, weight * ts_rank(e.search_vector, words) AS standing FROM (
                      (SELECT e.* FROM episodes e
                       WHERE NOT few_episodes AND e.search_vector @@ words AND e.tenant_id = p_tenant
                         AND episode_is_alive(e.expires_at, p_at) LIMIT ranked)
                      UNION ALL
                      (SELECT e.* FROM episodes e
                       WHERE few_episodes AND (e.search_vector @@ words) IS TRUE AND e.tenant_id = p_tenant
                         AND episode_is_alive(e.expires_at, p_at) LIMIT ranked)) e) m
            ORDER BY m.standing DESC, m.created_at DESC, m.id LIMIT p_limit;
    END IF;

    RETURN QUERY
        SELECT 'entity', c.id, c.canonical_name, array_to_string(c.aliases, ', '), c.entity_type,
            NULL::double precision, NULL::text, e.created_at,
            CASE c.tier WHEN 1 THEN 2.0 WHEN 2 THEN 1.0 ELSE 1.0 / c.tier END::double precision
        FROM entity_candidates(p_tenant, p_words, NULL, false, 0.3::real, '{}', p_limit, 0, 0) c
        JOIN entities e ON e.id = c.id
        ORDER BY c.tier, c.canonical_name, c.id;
    IF NOT FOUND AND corrected.words IS NOT NULL THEN
        RETURN QUERY
            SELECT 'entity', c.id, c.canonical_name, array_to_string(c.aliases, ', '), c.entity_type,
                NULL::double precision, NULL::text, e.created_at, weight / c.tier
            FROM entity_candidates(p_tenant, corrected.words, NULL, false, 0.3::real, '{}', p_limit, 0, 0) c
            JOIN entities e ON e.id = c.id
            ORDER BY c.tier, c.canonical_name, c.id;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION browse_palette FROM PUBLIC;
GRANT EXECUTE ON FUNCTION browse_palette TO butler_app;
COMMENT ON FUNCTION browse_palette IS 'The facts, rules, episodes and entities that match what was typed so far.';
