-- mem_131: the palette of a small tenant reads that tenant's rows.
--
-- The index of words knows no tenants (mem_106), so the matches of all tenants were collected first. In a table of a million facts a
-- tenant with 800 waited 54 ms for its palette, in one of ten thousand 1.6 ms; how much of that this takes away was not measured.

-- As in mem_120 but for the choice: what begins with what was typed, of every kind, the best few of each. Of many matches only
-- some hundred are ranked: who typed two letters has not asked a question yet. A standing of 1 or more says that what was typed is the name itself: an
-- entity's, one of its aliases, or the subject of a fact.
CREATE OR REPLACE FUNCTION browse_palette(p_tenant text, p_at timestamptz, p_words text, p_limit integer)
    RETURNS TABLE (kind text, id uuid, title text, preview text, scope text, confidence double precision, maturity text,
                   created_at timestamptz, standing double precision) LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    ranked constant integer := 300;
    words constant tsquery := typed_query(p_words);
    typed constant text := lower(p_words);
    few_facts boolean;
    few_episodes boolean;
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'memories of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    few_facts := tenant_is_small(p_tenant);
    few_episodes := (SELECT count(*) < 3000 FROM (SELECT FROM episodes e WHERE e.tenant_id = p_tenant LIMIT 3000) e);
    -- Of two ways only the one chosen is gone; behind IS TRUE the index of all tenants' words is not considered. A subject is looked
    -- up as it was typed and as names are written: the index of subjects knows no other spelling.
    RETURN QUERY SELECT 'fact', m.id, concat_ws(' ', m.subject, replace(m.predicate, '_', ' ')), left(m.content, 160), m.scope,
            effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, p_at), NULL::text, m.created_at,
            coalesce(ts_rank(m.search_vector, words), 0)::double precision + (lower(m.subject) = typed)::integer AS standing
        FROM facts m JOIN (
            (SELECT f.id FROM facts f
             WHERE NOT few_facts AND f.search_vector @@ words AND f.tenant_id = p_tenant AND fact_is_active(f.validity || '') LIMIT ranked)
            UNION
            (SELECT f.id FROM facts f
             WHERE few_facts AND (f.search_vector @@ words) IS TRUE AND f.tenant_id = p_tenant AND fact_is_active(f.validity || '') LIMIT ranked)
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
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname = 'browse_palette' LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', part);
        EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', part, current_setting('search_path'));
        -- words too common to be indexed are an ordinary thing, not worth a notice
        EXECUTE format('ALTER FUNCTION %s SET client_min_messages = warning', part);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO butler_app', part);
    END LOOP;
END $do$;
