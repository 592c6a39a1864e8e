-- mem_080: the same retrieval in fewer and cheaper steps.
--
-- Measured at 1000 facts: of 3 ms in the database the two legs' scans took 1.2 ms; the rest went into steps between
-- them, each a statement of its own. Now one statement looks at the candidates of both legs, keeps those that pass, gives
-- them their places and shows them. A candidate the index found is not matched again, and a kind of memory the tenant
-- has none of costs one look.

-- Ordinary memories stay whole in their row: at the default of 2 kB the vector alone leaves room for a sentence, and the
-- search vectors of anything longer would be fetched from elsewhere, one by one, when candidates are ranked.
ALTER TABLE episodes SET (toast_tuple_target = 4080);
ALTER TABLE facts SET (toast_tuple_target = 4080);
ALTER TABLE rules SET (toast_tuple_target = 4080);

-- match_standing of a row that is known to have some term of p_broad.
CREATE FUNCTION candidate_standing(vector tsvector, strict tsquery, broad tsquery) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN vector @@ strict THEN 2 + ts_rank(vector, strict) ELSE ts_rank(vector, broad) END::double precision
$$;

-- As in mem_011, with the number of probes as measured: 37 of 250 lists hold recall@20 at 0.985 and more, 43 of 790 at
-- 0.996; the share of the lists that must be read falls as they get more.
CREATE OR REPLACE FUNCTION vector_probes(p_rows double precision, p_total double precision, p_lists integer, p_trained bigint)
    RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    share double precision := least(1, p_rows / greatest(1, p_total));
    probes double precision;
BEGIN
    -- few rows: exact is as fast; an index that knows less than a quarter of the rows: its lists no longer fit
    IF p_rows <= 1500 OR coalesce(p_lists, 0) < 2 OR p_trained * 4 < p_total THEN
        RETURN 0;
    END IF;
    probes := least(p_lists, ceil((34 + 0.012 * p_lists) / share));
    RETURN CASE WHEN probes / p_lists * p_total * 0.25 + 200 < p_rows * 0.4 THEN probes ELSE 0 END;
END $$;

-- As before, in plpgsql: an SQL function that cannot be inlined is prepared anew in each statement that calls it.
CREATE OR REPLACE FUNCTION query_terms(strict tsquery) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$ BEGIN RETURN CASE WHEN numnode(strict) > 0 THEN string_to_array(strict::text, ' & ') ELSE '{}' END; END $$;
CREATE OR REPLACE FUNCTION any_of(terms text[]) RETURNS tsquery LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$ BEGIN RETURN CASE WHEN cardinality(terms) > 0 THEN array_to_string(terms, ' | ')::tsquery END; END $$;
CREATE OR REPLACE FUNCTION candidate_terms(p_terms text[], p_shares jsonb, p_rows double precision, p_budget double precision)
    RETURNS tsquery LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (SELECT array_to_string(array_agg(c.term), ' | ')::tsquery FROM (
            SELECT t.term, sum(t.hits) OVER (ORDER BY t.hits, t.term) AS found, row_number() OVER (ORDER BY t.hits, t.term) AS place
            FROM (SELECT term, coalesce((p_shares ->> term_lexeme(term))::double precision, 0.001) * p_rows AS hits
                  FROM unnest(p_terms) AS term) t) c
        WHERE c.found <= CASE WHEN c.place = 1 THEN 1.5 * p_budget ELSE p_budget END);
END $$;

-- A candidate is its place in the table: within one statement a row does not move, and to go there costs a tenth of what
-- it costs to find it by its id.
DO $do$
DECLARE
    kind record;
    part text;
    body text;
    template constant text := $template$
DROP FUNCTION «name»_near_probed, «name»_near_all, «name»_match_scan, «name»_match_index, «name»_match_newest, «name»_match_all,
              «name»_near_kept, «name»_match_kept, «name»_legs;

-- The nearest rows by the approximate index; ivfflat.probes is set by the caller. Without sorting, the index is the
-- only way to the order.
CREATE FUNCTION «name»_near_probed(p_tenant text, p_scope text, p_query vector, p_take integer)
    RETURNS TABLE (id uuid, place tid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 SET enable_sort = off AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    RETURN QUERY SELECT r.id, r.ctid, r.embedding <=> p_query FROM «name» r
        WHERE r.tenant_id = p_tenant AND «indexed» AND (p_scope IS NULL OR «scope»)
        ORDER BY r.embedding <=> p_query LIMIT p_take;
END $body$;

-- The nearest rows that pass every test, whatever it costs: for when the two other ways found too few that do.
CREATE FUNCTION «name»_near_all(p_tenant text, p_scope text, p_at timestamptz, p_min double precision, p_version integer,
                                p_query vector, p_take integer)
    RETURNS TABLE (place tid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    RETURN QUERY SELECT n.place, n.distance FROM (
            SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance FROM «name» r
            WHERE r.tenant_id = p_tenant AND «indexed» AND (p_scope IS NULL OR «scope») AND r.embedding IS NOT NULL
              AND r.embedding_version_id = p_version AND «kept» OFFSET 0) n
        ORDER BY n.distance, n.id LIMIT p_take;
END $body$;

-- Keyword matches by reading all of the tenant's rows.
CREATE FUNCTION «name»_match_scan(p_tenant text, p_scope text, p_strict tsquery, p_broad tsquery, p_take integer)
    RETURNS TABLE (place tid, standing double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    RETURN QUERY SELECT m.place, m.standing FROM (
            SELECT r.id, r.ctid AS place, match_standing(r.search_vector, p_strict, p_broad) AS standing FROM «name» r
            WHERE r.tenant_id = p_tenant AND «indexed» AND (p_scope IS NULL OR «scope») OFFSET 0) m
        WHERE m.standing IS NOT NULL ORDER BY m.standing DESC, m.id LIMIT p_take;
END $body$;

-- Keyword matches by the GIN index: candidates are what p_candidates finds, ranked by the whole query. The index does
-- not know tenants; where this one is most of the table, its B-tree would only cost, and behind IS TRUE none is considered.
CREATE FUNCTION «name»_match_index(p_tenant text, p_scope text, p_candidates tsquery, p_strict tsquery, p_broad tsquery,
                                   p_most boolean, p_take integer)
    RETURNS TABLE (place tid, standing double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    IF p_most THEN
        RETURN QUERY SELECT m.place, m.standing FROM (
                SELECT r.id, r.ctid AS place, candidate_standing(r.search_vector, p_strict, p_broad) AS standing FROM «name» r
                WHERE r.search_vector @@ p_candidates AND (r.tenant_id = p_tenant) IS TRUE
                  AND («indexed») IS TRUE AND (p_scope IS NULL OR «scope») OFFSET 0) m
            ORDER BY m.standing DESC, m.id LIMIT p_take;
    ELSE
        RETURN QUERY SELECT m.place, m.standing FROM (
                SELECT r.id, r.ctid AS place, candidate_standing(r.search_vector, p_strict, p_broad) AS standing FROM «name» r
                WHERE r.search_vector @@ p_candidates AND r.tenant_id = p_tenant
                  AND «indexed» AND (p_scope IS NULL OR «scope») OFFSET 0) m
            ORDER BY m.standing DESC, m.id LIMIT p_take;
    END IF;
END $body$;

-- Keyword matches among the newest rows: for queries whose every term is in so much of the store that ranking all
-- matches would cost more than it tells.
CREATE FUNCTION «name»_match_newest(p_tenant text, p_scope text, p_strict tsquery, p_broad tsquery, p_newest integer, p_take integer)
    RETURNS TABLE (place tid, standing double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
BEGIN
    RETURN QUERY SELECT m.place, m.standing FROM (
            SELECT n.id, n.place, match_standing(n.search_vector, p_strict, p_broad) AS standing FROM (
                SELECT r.id, r.ctid AS place, r.search_vector FROM «name» r
                WHERE r.tenant_id = p_tenant AND «unindexed» AND (p_scope IS NULL OR «scope»)
                ORDER BY r.created_at DESC, r.id LIMIT p_newest) n OFFSET 0) m
        WHERE m.standing IS NOT NULL ORDER BY m.standing DESC, m.id LIMIT p_take;
END $body$;

-- The matches that pass every test, whatever it costs.
CREATE FUNCTION «name»_match_all(p_tenant text, p_scope text, p_at timestamptz, p_min double precision,
                                 p_strict tsquery, p_broad tsquery, p_take integer)
    RETURNS TABLE (place tid, standing double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    RETURN QUERY SELECT m.place, m.standing FROM (
            SELECT r.id, r.ctid AS place, match_standing(r.search_vector, p_strict, p_broad) AS standing FROM «name» r
            WHERE r.tenant_id = p_tenant AND «indexed» AND (p_scope IS NULL OR «scope») AND «kept» OFFSET 0) m
        WHERE m.standing IS NOT NULL ORDER BY m.standing DESC, m.id LIMIT p_take;
END $body$;

-- The best p_limit of each leg, as a reader shows them.
CREATE FUNCTION «name»_found(p_tenant text, p_scope text, p_at timestamptz, p_min double precision, p_version integer,
                             p_query vector, p_strict tsquery, p_broad tsquery, p_any_term boolean, p_limit integer, p_pool jsonb,
                             p_words text, p_background boolean)
    RETURNS retrieved[] LANGUAGE plpgsql STABLE AS $body$
DECLARE
    active constant text := 'active';
    -- room for rows that turn out not to be retrievable
    take constant integer := 2 * p_limit + 20;
    rows_here constant double precision := (p_pool ->> 'rows')::double precision;
    total constant double precision := (p_pool ->> 'total')::double precision;
    -- what is ranked costs about 1.5 µs a row; a small store may as well rank all of it
    budget constant double precision := CASE WHEN rows_here <= 1500 THEN 1500 ELSE 400 END;
    newest constant integer := 400;
    probes integer;
    candidates tsquery;
    vector_path text;
    keyword_path text;
    near tid[];  distances double precision[];  near_taken integer := 0;  near_kept integer;
    matched tid[];  standings double precision[];  match_taken integer := 0;  match_kept integer;
    answer retrieved[];
BEGIN
    IF p_query IS NOT NULL AND p_version IS NOT NULL THEN
        probes := vector_probes(rows_here, total, (p_pool ->> 'lists')::integer, (p_pool ->> 'trained')::bigint);
        IF probes > 0 THEN
            vector_path := 'ann';
            PERFORM set_config('ivfflat.probes', probes::text, true);
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM «name»_near_probed(p_tenant, p_scope, p_query, take) n;
        ELSIF p_scope IS NULL THEN
            vector_path := 'exact';
            -- all of the tenant's are compared; OFFSET 0 keeps the approximate index away from the order
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT n.place, n.distance FROM (
                          SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance FROM «name» r
                          WHERE r.tenant_id = p_tenant AND «indexed» AND r.embedding IS NOT NULL OFFSET 0) n
                      ORDER BY n.distance, n.id LIMIT take) n;
        ELSE
            vector_path := 'exact';
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT n.place, n.distance FROM (
                          SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance FROM «name» r
                          WHERE r.tenant_id = p_tenant AND «indexed» AND «scope» AND r.embedding IS NOT NULL OFFSET 0) n
                      ORDER BY n.distance, n.id LIMIT take) n;
        END IF;
    END IF;
    IF p_broad IS NOT NULL THEN
        IF rows_here <= 1500 AND rows_here < total / 8 THEN
            keyword_path := 'scan';
            SELECT array_agg(m.place), array_agg(m.standing), count(*) INTO matched, standings, match_taken
                FROM «name»_match_scan(p_tenant, p_scope, p_strict, p_broad, take) m;
        ELSE
            candidates := candidate_terms(query_terms(p_strict), p_pool -> 'terms', greatest(rows_here, 1), budget);
            IF candidates IS NOT NULL THEN
                keyword_path := 'index';
                SELECT array_agg(m.place), array_agg(m.standing), count(*) INTO matched, standings, match_taken
                    FROM «name»_match_index(p_tenant, p_scope, CASE WHEN p_any_term THEN candidates ELSE p_strict END, p_strict, p_broad,
                                            rows_here >= total / 8, take) m;
            END IF;
            -- frequent terms alone, or rare ones that found little while frequent ones were left out
            IF candidates IS NULL OR (match_taken < p_limit AND numnode(candidates) < numnode(p_broad)) THEN
                keyword_path := concat_ws('+', keyword_path, 'newest');
                SELECT array_agg(m.place), array_agg(m.standing), greatest(count(*), match_taken)
                    INTO matched, standings, match_taken
                    FROM (SELECT u.place, u.standing FROM unnest(matched, standings) AS u (place, standing)
                          UNION
                          SELECT n.place, n.standing FROM «name»_match_newest(p_tenant, p_scope, p_strict, p_broad, newest, take) n) m;
            END IF;
        END IF;
    END IF;
    LOOP
        -- Ties: newer first, then id. The distance to a vector of zeros is not a number.
        SELECT array_agg(ROW(«shown», CASE WHEN p_background THEN jsonb_build_object('vector', vector_path, 'probes', probes, 'keyword', keyword_path) || «background»
                                           ELSE jsonb_build_object('vector', vector_path, 'probes', probes, 'keyword', keyword_path) END)::retrieved),
               coalesce(max(k.near_kept), 0), coalesce(max(k.match_kept), 0)
            INTO answer, near_kept, match_kept
            FROM (SELECT k.place, k.standing, count(k.distance) OVER () AS near_kept, count(k.standing) OVER () AS match_kept,
                         CASE WHEN k.distance IS NOT NULL AND k.near_place <= p_limit THEN k.near_place::integer END AS semantic_rank,
                         CASE WHEN k.standing IS NOT NULL AND k.match_place <= p_limit THEN k.match_place::integer END AS keyword_rank
                  FROM (SELECT c.*, row_number() OVER (ORDER BY c.distance, c.created_at DESC, c.id) AS near_place,
                               row_number() OVER (ORDER BY c.standing DESC NULLS LAST, c.created_at DESC, c.id) AS match_place
                        FROM (SELECT r.id, r.ctid AS place, r.created_at, m.standing,
                                     CASE WHEN n.distance <= 2 AND r.embedding_version_id = p_version THEN n.distance END AS distance
                              FROM unnest(near, distances) AS n (place, distance)
                              FULL JOIN unnest(matched, standings) AS m (place, standing) ON m.place = n.place
                              JOIN «name» r ON r.ctid = coalesce(n.place, m.place)
                              WHERE «kept») c) k) k
            JOIN «name» r ON r.ctid = k.place «joined»
            WHERE k.semantic_rank IS NOT NULL OR k.keyword_rank IS NOT NULL;
        -- Too few passed although there were more to look at: once more, through every test, whatever it costs.
        IF near_kept < p_limit AND vector_path IN ('exact', 'ann') AND (near_taken = take OR (probes > 0 AND near_taken < rows_here)) THEN
            vector_path := vector_path || '+all';
            SELECT array_agg(n.place), array_agg(n.distance) INTO near, distances
                FROM «name»_near_all(p_tenant, p_scope, p_at, p_min, p_version, p_query, take) n;
            CONTINUE;
        END IF;
        IF match_kept < p_limit AND match_taken >= take AND keyword_path NOT LIKE '%+all' THEN
            keyword_path := keyword_path || '+all';
            SELECT array_agg(m.place), array_agg(m.standing) INTO matched, standings
                FROM «name»_match_all(p_tenant, p_scope, p_at, p_min, p_strict, p_broad, take) m;
            CONTINUE;
        END IF;
        RETURN answer;
    END LOOP;
END $body$;
$template$;
BEGIN
    FOR kind IN SELECT * FROM (VALUES
        ('facts', 'r.validity = active', 'fact_is_active(r.validity || '''')',
         'fact_is_active(r.validity) AND (p_min <= 0 OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)',
         'r.scope = ANY (ARRAY[''global'', p_scope])',
         $$'fact', r.id, cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version), k.semantic_rank,
           CASE WHEN k.keyword_rank IS NOT NULL THEN k.standing - 2 * (k.standing >= 2)::integer END::real,
           CASE WHEN k.keyword_rank IS NOT NULL THEN k.standing >= 2 END, k.keyword_rank,
           r.content, r.subject, r.predicate, r.scope, r.importance, r.confidence, r.decay_rate, r.last_confirmed_at,
           r.last_referenced_at, r.created_at, NULL::text, NULL::double precision, r.entity_id, e.canonical_name::text,
           NULL::uuid, memory_is_fading(r.metadata)$$,
         'LEFT JOIN entities e ON e.id = r.entity_id',
         'jsonb_build_object(''terms'', terms_in(r.search_vector, p_strict), ''named'', fact_named(r, e, p_words))'),
        ('rules', 'true', 'true',
         'rule_is_remembered(r.metadata) AND (p_min <= 0 OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)',
         'r.scope = ANY (ARRAY[''global'', p_scope])',
         $$'rule', r.id, cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version), k.semantic_rank,
           CASE WHEN k.keyword_rank IS NOT NULL THEN k.standing - 2 * (k.standing >= 2)::integer END::real,
           CASE WHEN k.keyword_rank IS NOT NULL THEN k.standing >= 2 END, k.keyword_rank,
           r.content, NULL::text, NULL::text, r.scope, NULL::double precision, r.confidence, r.decay_rate, r.last_confirmed_at,
           r.last_referenced_at, r.created_at, r.maturity, r.effectiveness_score, NULL::uuid, NULL::text,
           NULL::uuid, memory_is_fading(r.metadata)$$,
         '', 'jsonb_build_object(''terms'', terms_in(r.search_vector, p_strict))'),
        ('episodes', 'true', 'true', 'episode_is_alive(r.expires_at, p_at)', 'r.butler = p_scope',
         $$'episode', r.id, cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version), k.semantic_rank,
           CASE WHEN k.keyword_rank IS NOT NULL THEN k.standing - 2 * (k.standing >= 2)::integer END::real,
           CASE WHEN k.keyword_rank IS NOT NULL THEN k.standing >= 2 END, k.keyword_rank,
           r.content, NULL::text, NULL::text, r.butler, r.importance, NULL::double precision, NULL::double precision, NULL::timestamptz,
           r.last_referenced_at, r.created_at, NULL::text, NULL::double precision, NULL::uuid, NULL::text,
           r.session_id, false$$,
         '', 'jsonb_build_object(''terms'', terms_in(r.search_vector, p_strict))')
    ) AS kinds (name, indexed, unindexed, kept, scope, shown, joined, background) LOOP
        body := template;
        body := replace(body, '«name»', kind.name);
        body := replace(body, '«indexed»', kind.indexed);
        body := replace(body, '«unindexed»', kind.unindexed);
        body := replace(body, '«kept»', kind.kept);
        body := replace(body, '«scope»', kind.scope);
        body := replace(body, '«shown»', kind.shown);
        body := replace(body, '«joined»', kind.joined);
        body := replace(body, '«background»', kind.background);
        EXECUTE body;
        FOREACH part IN ARRAY ARRAY['near_probed', 'near_all', 'match_scan', 'match_index', 'match_newest', 'match_all', 'found'] LOOP
            EXECUTE format('REVOKE EXECUTE ON FUNCTION %I FROM PUBLIC', kind.name || '_' || part);
        END LOOP;
    END LOOP;
END $do$;

-- As in mem_011; CREATE OR REPLACE keeps who may call it, its settings are given again below.
CREATE OR REPLACE FUNCTION memory_retrieve(
    p_tenant text, p_types text[], p_scope text, p_at timestamptz, p_min_confidence double precision,
    p_model text, p_model_version text, p_embedding real[], p_words text, p_any_term boolean, p_limit integer,
    p_pools jsonb, p_deep double precision[], p_background boolean, p_recent integer)
    RETURNS SETOF retrieved LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    query constant vector := p_embedding::vector;
    words constant tsquery := plainto_tsquery('english', p_words);
    strict_query constant tsquery := CASE WHEN numnode(words) > 0 THEN words END;
    broad_query constant tsquery := CASE WHEN p_any_term THEN any_of(query_terms(strict_query)) ELSE strict_query END;
    version integer;
    pool jsonb;
    learnt boolean;
    began timestamptz;
BEGIN
    -- the wall of row-level security, which this function stands behind
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'retrieval for another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT v.id INTO version FROM embedding_versions v
        WHERE v.tenant_id = p_tenant AND v.model = p_model AND v.version = p_model_version;

    IF 'fact' = ANY (p_types) THEN
        began := clock_timestamp();
        learnt := NOT coalesce(p_pools ? 'fact', false);
        pool := CASE WHEN learnt THEN memory_pool('facts', p_tenant, p_scope) ELSE p_pools -> 'fact' END;
        IF EXISTS (SELECT FROM facts r WHERE r.tenant_id = p_tenant) THEN
            RETURN QUERY SELECT * FROM unnest(facts_found(p_tenant, p_scope, p_at, p_min_confidence, version, query, strict_query, broad_query,
                                                          p_any_term, p_limit, pool, p_words, p_background));
        END IF;
        IF p_background THEN
            pool := pool || jsonb_build_object('background', facts_background(p_tenant, p_scope, p_at, version, query, strict_query,
                                                                         (pool ->> 'rows')::double precision));
        END IF;
        RETURN NEXT pool_row('fact', learnt, pool || jsonb_build_object('ms', 1000 * date_part('epoch', clock_timestamp() - began)));
    END IF;

    IF 'rule' = ANY (p_types) THEN
        began := clock_timestamp();
        learnt := NOT coalesce(p_pools ? 'rule', false);
        pool := CASE WHEN learnt THEN memory_pool('rules', p_tenant, p_scope) ELSE p_pools -> 'rule' END;
        IF EXISTS (SELECT FROM rules r WHERE r.tenant_id = p_tenant) THEN
            RETURN QUERY SELECT * FROM unnest(rules_found(p_tenant, p_scope, p_at, p_min_confidence, version, query, strict_query, broad_query,
                                                          p_any_term, p_limit, pool, p_words, p_background));
        END IF;
        IF p_background THEN
            pool := pool || jsonb_build_object('background', rules_background(p_tenant, p_scope, p_at, version, query, strict_query,
                                                                         (pool ->> 'rows')::double precision));
        END IF;
        RETURN NEXT pool_row('rule', learnt, pool || jsonb_build_object('ms', 1000 * date_part('epoch', clock_timestamp() - began)));
    END IF;

    IF 'episode' = ANY (p_types) THEN
        began := clock_timestamp();
        learnt := NOT coalesce(p_pools ? 'episode', false);
        pool := CASE WHEN learnt THEN memory_pool('episodes', p_tenant, p_scope) ELSE p_pools -> 'episode' END;
        IF p_deep IS NOT NULL THEN
            RETURN QUERY SELECT 'episode', x.id, d.similarity, d.semantic_rank, d.keyword::real, NULL::boolean, d.keyword_rank,
                x.content, NULL::text, NULL::text, x.butler, x.importance, NULL::double precision, NULL::double precision, NULL::timestamptz,
                x.last_referenced_at, x.created_at, NULL::text, NULL::double precision, NULL::uuid, NULL::text,
                x.session_id, false,
                jsonb_build_object('vector', 'exact', 'keyword', 'scan', 'deep', d.parts || jsonb_build_object('score', d.score),
                                   'terms', CASE WHEN p_background THEN terms_in(x.search_vector, strict_query) END)
            FROM episodes_deep(p_tenant, p_scope, p_at, version, query, strict_query, p_words, p_limit, p_deep) d
            JOIN episodes x ON x.id = d.id;
        ELSIF EXISTS (SELECT FROM episodes r WHERE r.tenant_id = p_tenant) THEN
            RETURN QUERY SELECT * FROM unnest(episodes_found(p_tenant, p_scope, p_at, p_min_confidence, version, query, strict_query, broad_query,
                                                             p_any_term, p_limit, pool, p_words, p_background));
        END IF;
        IF p_background THEN
            pool := pool || jsonb_build_object('background', episodes_background(p_tenant, p_scope, p_at, version, query, strict_query,
                                                                         (pool ->> 'rows')::double precision));
        END IF;
        RETURN NEXT pool_row('episode', learnt, pool || jsonb_build_object('ms', 1000 * date_part('epoch', clock_timestamp() - began)));
    END IF;

    IF p_recent > 0 THEN
        RETURN QUERY SELECT 'recent', x.id, NULL::double precision, NULL::integer, NULL::real, NULL::boolean, NULL::integer,
                x.content, NULL::text, NULL::text, x.butler, x.importance, NULL::double precision, NULL::double precision, NULL::timestamptz,
                x.last_referenced_at, x.created_at, NULL::text, NULL::double precision, NULL::uuid, NULL::text,
                x.session_id, false, NULL::jsonb
            FROM episodes x
            WHERE x.tenant_id = p_tenant AND x.butler = p_scope AND episode_is_alive(x.expires_at, p_at)
            ORDER BY x.created_at DESC, x.id LIMIT p_recent;
    END IF;
END $$;

DO $do$
DECLARE
    part regprocedure;
BEGIN
    FOR part IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname = 'memory_retrieve' LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', part, current_setting('search_path'));
        EXECUTE format('ALTER FUNCTION %s SET plan_cache_mode = force_generic_plan', part);
        EXECUTE format('ALTER FUNCTION %s SET enable_seqscan = off', part);
        EXECUTE format('ALTER FUNCTION %s SET client_min_messages = warning', part);
    END LOOP;
END $do$;
