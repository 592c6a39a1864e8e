-- mem_160: what a large tenant among small ones pays for the planner's guesses.
--
-- A plan that serves all tenants guesses that each has the average of rows. Where that is some hundreds, it looked for the ten facts of a
-- recall among the tenant's rows and not by their ids: 40 ms, twice 20, to count the references of a tenant with 200k facts, and the next
-- recall waited for it. By id they are counted in one. So the function stands behind the wall of row-level security, whose condition would
-- lead there too, and says it itself.
CREATE OR REPLACE FUNCTION memory_bump(p_tenant text, p_at timestamptz, p_facts uuid[], p_rules uuid[], p_episodes uuid[])
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    -- the wall of row-level security, which this function stands behind
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'references of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF pg_catalog.cardinality(p_facts) > 0 THEN
        PERFORM FROM facts WHERE id = ANY (p_facts) AND (tenant_id = p_tenant) IS TRUE ORDER BY id FOR NO KEY UPDATE;
        UPDATE facts SET reference_count = reference_count + 1, last_referenced_at = p_at
            WHERE id = ANY (p_facts) AND (tenant_id = p_tenant) IS TRUE;
    END IF;
    IF pg_catalog.cardinality(p_rules) > 0 THEN
        PERFORM FROM rules WHERE id = ANY (p_rules) AND (tenant_id = p_tenant) IS TRUE ORDER BY id FOR NO KEY UPDATE;
        UPDATE rules SET reference_count = reference_count + 1, last_referenced_at = p_at
            WHERE id = ANY (p_rules) AND (tenant_id = p_tenant) IS TRUE;
    END IF;
    IF pg_catalog.cardinality(p_episodes) > 0 THEN
        PERFORM FROM episodes WHERE id = ANY (p_episodes) AND (tenant_id = p_tenant) IS TRUE ORDER BY id FOR NO KEY UPDATE;
        UPDATE episodes SET reference_count = reference_count + 1, last_referenced_at = p_at
            WHERE id = ANY (p_episodes) AND (tenant_id = p_tenant) IS TRUE;
    END IF;
END $$;

-- As in mem_150, but none of the facts asked is taken twice, and `often` is asked of all of them: of the newest hundred, a word of every twelfth
-- was now and then in too few to be called frequent, and then all tenants' facts with it were collected.
-- What the index of words is to be asked for, in a tenant that is not small. ids: the tenant's facts that bear the rare ones among the
-- words; NULL if none is rare, or too many facts of other tenants bear them. often: several in a hundred of its facts bear all.
CREATE OR REPLACE FUNCTION facts_with_words(p_tenant text, p_words tsquery, OUT indexed tsquery, OUT ids uuid[], OUT often boolean)
    LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    -- of each of so many parts of the time, so many facts: 300
    parts constant integer := 30;
    each constant integer := 10;
    -- a word in at most this share of them
    rare constant double precision := 0.01;
    uncommon constant double precision := 0.1;
    -- facts of all tenants that are looked at one by one
    most constant integer := 3000;
    since timestamptz;
    until timestamptz;
    before timestamptz := 'infinity';
    sample tsvector[] := '{}';
    found tsvector[];
    rarest tsquery;
BEGIN
    SELECT min(f.created_at), max(f.created_at) INTO since, until FROM facts f WHERE f.tenant_id = p_tenant;
    FOR part IN 1 .. parts LOOP
        -- From the newest back, and none twice: where nothing was stored for long, the next ones are taken.
        SELECT array_agg(s.search_vector), min(s.created_at) INTO found, before
            FROM (SELECT f.search_vector, f.created_at FROM facts f WHERE f.tenant_id = p_tenant
                    AND f.created_at < least(before, until - (until - since) * ((part - 1)::double precision / parts) + interval '1 microsecond')
                  ORDER BY f.created_at DESC, f.id LIMIT each) s;
        EXIT WHEN found IS NULL;
        sample := sample || found;
    END LOOP;
    WITH terms AS MATERIALIZED (
        SELECT t.term, (SELECT count(*) FROM unnest(sample) AS s (words) WHERE s.words @@ t.term::tsquery)::double precision
                       / greatest(1, cardinality(sample)) AS share
        FROM unnest(query_terms(p_words)) AS t (term))
    SELECT string_agg(term, ' & ') FILTER (WHERE share <= greatest(uncommon, 4 * (SELECT min(share) FROM terms)))::tsquery,
           string_agg(term, ' & ') FILTER (WHERE share <= rare)::tsquery
        INTO indexed, rarest FROM terms;
    often := (SELECT count(*) > 0.02 * cardinality(sample) FROM unnest(sample) AS s (words) WHERE s.words @@ p_words);
    IF rarest IS NOT NULL THEN
        SELECT CASE WHEN count(*) < most THEN coalesce(array_agg(m.id) FILTER (WHERE m.tenant_id = p_tenant), '{}') END INTO ids
            FROM (SELECT f.id, f.tenant_id FROM facts f WHERE f.search_vector @@ rarest LIMIT most) m;
    END IF;
END $$;

-- As in mem_150, but frequent words are looked for among the newest facts whatever share of them bears them.
CREATE OR REPLACE FUNCTION browse_palette(p_tenant text, p_at timestamptz, p_words text, p_limit integer)
    RETURNS TABLE (kind text, id uuid, title text, preview text, scope text, confidence double precision, maturity text,
                   created_at timestamptz, standing double precision) LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    ranked constant integer := 300;
    -- frequent words are looked for among so many
    newest constant integer := 5000;
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
        ELSE
            IF often THEN
                PERFORM set_config('enable_sort', 'off', true);
                facts_of_words := ARRAY(SELECT f.id FROM (
                        SELECT n.id, n.search_vector, n.validity FROM facts n WHERE n.tenant_id = p_tenant
                        ORDER BY n.created_at DESC, n.id LIMIT newest) f
                    WHERE (f.search_vector @@ words) IS TRUE AND fact_is_active(f.validity) LIMIT ranked);
                PERFORM set_config('enable_sort', 'on', true);
            END IF;
            -- or they were frequent once
            IF coalesce(cardinality(facts_of_words), 0) < p_limit THEN
                facts_of_words := facts_of_words || ARRAY(SELECT f.id FROM facts f
                    WHERE f.search_vector @@ indexed AND (f.search_vector @@ words) IS TRUE AND f.tenant_id = p_tenant
                      AND fact_is_active(f.validity || '') LIMIT ranked);
            END IF;
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
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname IN ('memory_bump', 'browse_palette') LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', part, current_setting('search_path'));
        EXECUTE format('ALTER FUNCTION %s SET client_min_messages = warning', part);
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', part);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO butler_app', part);
    END LOOP;
    -- what it sets of it ends with it
    FOR part IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname = 'browse_palette' LOOP
        EXECUTE format('ALTER FUNCTION %s SET enable_sort = on', part);
    END LOOP;
END $do$;
