-- mem_011: the entrance to retrieval: which way each leg goes, and the one function a read calls.

-- How many lists of the index to probe; 0 is the exact way. Twice the root of the lists held recall@20 at 0.985 and more
-- on real sentences. Exact costs about 0.4 µs a row of the tenant, probing about 0.25 µs a row of the table in the lists read. A tenant with a share s of the table finds its neighbours spread over
-- 1/s times as many lists, so below about an eighth of the table the exact way is cheaper as well as better.
CREATE FUNCTION vector_probes(p_rows double precision, p_total double precision, p_lists integer, p_trained bigint)
    RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    share double precision := least(1, p_rows / greatest(1, p_total));
    probes double precision;
BEGIN
    -- few rows: exact is as fast; an index that knows less than a quarter of the rows: its lists no longer fit
    IF p_rows <= 1500 OR coalesce(p_lists, 0) < 2 OR p_trained * 4 < p_total THEN
        RETURN 0;
    END IF;
    probes := least(p_lists, ceil(2 * sqrt(p_lists) / share));
    RETURN CASE WHEN probes / p_lists * p_total * 0.25 + 200 < p_rows * 0.4 THEN probes ELSE 0 END;
END $$;

-- Which terms of a query find the candidates of the keyword leg: the rarest, as long as together they find no more rows
-- than can be ranked in a few milliseconds. NULL when even the rarest finds too many. p_shares: the frequent terms of
-- the store; a term not among them is rare.
CREATE FUNCTION candidate_terms(p_terms text[], p_shares jsonb, p_rows double precision, p_budget double precision)
    RETURNS tsquery LANGUAGE sql IMMUTABLE AS $$
    SELECT any_of(array_agg(c.term)) FROM (
        SELECT t.term, sum(t.hits) OVER (ORDER BY t.hits, t.term) AS found, row_number() OVER (ORDER BY t.hits, t.term) AS place
        FROM (SELECT term, coalesce((p_shares ->> term_lexeme(term))::double precision, 0.001) * p_rows AS hits
              FROM unnest(p_terms) AS term) t) c
    WHERE c.found <= CASE WHEN c.place = 1 THEN 1.5 * p_budget ELSE p_budget END
$$;

-- What a call must know about a store to choose its way. The program keeps the answer for a while and passes it back.
CREATE FUNCTION memory_pool(p_relation text, p_tenant text, p_scope text) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    counted constant integer := 20000;   -- beyond this a sample is accurate enough, and cheaper
    sampled constant double precision := 1500;
    rows_here double precision;
    total double precision;
    share double precision;
    terms jsonb;
    trained jsonb;
BEGIN
    EXECUTE format('SELECT %I($1, $2, $3)', p_relation || '_count') INTO rows_here USING p_tenant, p_scope, counted;
    -- pages as they are now, rows a page as of the last ANALYZE
    SELECT greatest(rows_here, pg_relation_size(c.oid) / current_setting('block_size')::double precision
                           * CASE WHEN c.reltuples > 0 AND c.relpages > 0 THEN c.reltuples / c.relpages ELSE 3 END)
        INTO total FROM pg_class c WHERE c.oid = p_relation::regclass;
    IF rows_here > 1500 THEN
        EXECUTE format('SELECT * FROM %I($1, $2, $3, $4)', p_relation || '_sample') INTO share, terms
            USING p_tenant, p_scope, least(100, 100 * sampled / total), 500;
        IF rows_here >= counted THEN
            rows_here := greatest(rows_here, share * total);
        END IF;
    END IF;
    -- Hygiene leaves in the index's comment what it trained it on: {"lists": …, "rows": …}. As created it knows nothing.
    trained := obj_description(to_regclass(p_relation || '_embedding'), 'pg_class')::jsonb;
    RETURN jsonb_build_object('rows', rows_here, 'total', total, 'lists', trained -> 'lists', 'trained', trained -> 'rows', 'terms', terms);
END $$;

-- The two legs of one kind of memory. The text of the function is the same for all three; see mem_010 for its steps.
DO $do$
DECLARE
    kind text;
    template constant text := $template$
CREATE FUNCTION «name»_legs(p_tenant text, p_scope text, p_at timestamptz, p_min double precision, p_version integer,
                            p_query vector, p_strict tsquery, p_broad tsquery, p_limit integer, p_pool jsonb)
    RETURNS TABLE (id uuid, distance double precision, semantic_rank integer, standing double precision, keyword_rank integer, path jsonb)
    LANGUAGE plpgsql STABLE ROWS 20 AS $body$
DECLARE
    -- room for rows that turn out not to be retrievable
    take constant integer := 2 * p_limit + 20;
    rows_here constant double precision := (p_pool ->> 'rows')::double precision;
    total constant double precision := (p_pool ->> 'total')::double precision;
    budget constant double precision := 1500;
    newest constant integer := 1000;
    probes integer;
    candidates tsquery;
    vector_path text;
    keyword_path text;
    near_ids uuid[];  near_distances double precision[];  near_taken integer;
    match_ids uuid[];  match_standings double precision[];  match_taken integer;
BEGIN
    IF p_query IS NOT NULL AND p_version IS NOT NULL THEN
        probes := vector_probes(rows_here, total, (p_pool ->> 'lists')::integer, (p_pool ->> 'trained')::bigint);
        IF probes > 0 THEN
            vector_path := 'ann';
            PERFORM set_config('ivfflat.probes', probes::text, true);
            SELECT array_agg(n.id), array_agg(n.distance), count(*) INTO near_ids, near_distances, near_taken
                FROM «name»_near_probed(p_tenant, p_scope, p_query, take) n;
        ELSE
            vector_path := 'exact';
            SELECT array_agg(n.id), array_agg(n.distance), count(*) INTO near_ids, near_distances, near_taken
                FROM «name»_near_exact(p_tenant, p_scope, p_query, take) n;
        END IF;
        SELECT k.ids, k.distances INTO near_ids, near_distances
            FROM «name»_near_kept(p_at, p_min, p_version, near_ids, near_distances, p_limit) k;
        IF coalesce(cardinality(near_ids), 0) < p_limit AND (near_taken = take OR (probes > 0 AND near_taken < rows_here)) THEN
            vector_path := vector_path || '+all';
            SELECT array_agg(n.id), array_agg(n.distance) INTO near_ids, near_distances
                FROM «name»_near_all(p_tenant, p_scope, p_at, p_min, p_version, p_query, take) n;
            SELECT k.ids, k.distances INTO near_ids, near_distances
                FROM «name»_near_kept(p_at, p_min, p_version, near_ids, near_distances, p_limit) k;
        END IF;
    END IF;
    IF p_broad IS NOT NULL THEN
        IF rows_here <= 1500 AND rows_here < total / 8 THEN
            keyword_path := 'scan';
            SELECT array_agg(m.id), array_agg(m.standing), count(*) INTO match_ids, match_standings, match_taken
                FROM «name»_match_scan(p_tenant, p_scope, p_strict, p_broad, take) m;
        ELSE
            candidates := candidate_terms(query_terms(p_strict), p_pool -> 'terms', greatest(rows_here, 1), budget);
            IF candidates IS NOT NULL THEN
                keyword_path := 'index';
                SELECT array_agg(m.id), array_agg(m.standing), count(*) INTO match_ids, match_standings, match_taken
                    FROM «name»_match_index(p_tenant, p_scope, candidates, p_strict, p_broad, rows_here >= total / 8, take) m;
            END IF;
            -- frequent terms alone, or rare ones that found little while frequent ones were left out
            IF candidates IS NULL OR (match_taken < p_limit AND numnode(candidates) < numnode(p_broad)) THEN
                keyword_path := concat_ws('+', keyword_path, 'newest');
                SELECT array_agg(m.id), array_agg(m.standing), greatest(count(*), match_taken)
                    INTO match_ids, match_standings, match_taken
                    FROM (SELECT u.id, u.standing FROM unnest(match_ids, match_standings) AS u (id, standing)
                          UNION
                          SELECT n.id, n.standing FROM «name»_match_newest(p_tenant, p_scope, p_strict, p_broad, newest, take) n) m;
            END IF;
        END IF;
        SELECT k.ids, k.standings INTO match_ids, match_standings
            FROM «name»_match_kept(p_at, p_min, match_ids, match_standings, p_limit) k;
        IF coalesce(cardinality(match_ids), 0) < p_limit AND match_taken >= take THEN
            keyword_path := keyword_path || '+all';
            SELECT array_agg(m.id), array_agg(m.standing) INTO match_ids, match_standings
                FROM «name»_match_all(p_tenant, p_scope, p_at, p_min, p_strict, p_broad, take) m;
            SELECT k.ids, k.standings INTO match_ids, match_standings
                FROM «name»_match_kept(p_at, p_min, match_ids, match_standings, p_limit) k;
        END IF;
    END IF;
    RETURN QUERY SELECT coalesce(n.id, m.id), n.distance, n.place::integer, m.standing, m.place::integer,
               jsonb_build_object('vector', vector_path, 'probes', probes, 'keyword', keyword_path)
        FROM unnest(near_ids, near_distances) WITH ORDINALITY AS n (id, distance, place)
        FULL JOIN unnest(match_ids, match_standings) WITH ORDINALITY AS m (id, standing, place) ON m.id = n.id;
END $body$;
$template$;
BEGIN
    FOREACH kind IN ARRAY ARRAY['facts', 'rules', 'episodes'] LOOP
        EXECUTE replace(template, '«name»', kind);
    END LOOP;
END $do$;

-- A text as words with single spaces around them: whether a name occurs in a query is then a search for a string.
CREATE FUNCTION spaced_words(words text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT ' ' || trim(regexp_replace(lower(words), '[^[:alnum:]]+', ' ', 'g')) || ' ' $$;

-- The fourth mode, for episodes that are turns of a conversation: scores are fused instead of ranks, a turn is judged
-- with its neighbours and its session, and the one speaker the query names is preferred. docs/retrieval.md explains it.
-- p_weights: the keyword leg's share; the share of a turn's own terms in it; a neighbour's weight beside the turn's own
-- cosine; the speaker's bonus; the session's weight.
CREATE FUNCTION episodes_deep(p_tenant text, p_scope text, p_at timestamptz, p_version integer, p_query vector,
                              p_strict tsquery, p_words text, p_limit integer, p_weights double precision[])
    RETURNS TABLE (id uuid, score double precision, similarity double precision, semantic_rank integer,
                   keyword double precision, keyword_rank integer, parts jsonb)
    LANGUAGE plpgsql STABLE ROWS 20 AS $$
#variable_conflict use_column
DECLARE
    -- a bit a term, of a bigint; a longer query is judged by its first terms
    terms constant tsquery[] := ARRAY(SELECT t::tsquery FROM unnest(query_terms(p_strict)) WITH ORDINALITY AS q (t, n) ORDER BY n LIMIT 62);
    any_term constant tsquery := any_of(query_terms(p_strict));
    newest constant integer := 20000;   -- twice what a butler keeps by default
BEGIN
    RETURN QUERY
    WITH pool AS MATERIALIZED (
        SELECT r.id, coalesce(r.session_id, r.id) AS session, r.created_at, spaced_words(r.metadata ->> 'speaker') AS speaker,
               cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version) AS cosine,
               CASE WHEN r.search_vector @@ any_term
                    THEN (SELECT bit_or(1::bigint << (n - 1)::integer)
                          FROM unnest(terms) WITH ORDINALITY AS t (term, n) WHERE r.search_vector @@ t.term)
                    ELSE 0 END AS hits
        FROM episodes r
        WHERE r.tenant_id = p_tenant AND (p_scope IS NULL OR r.butler = p_scope) AND episode_is_alive(r.expires_at, p_at)
        ORDER BY r.created_at DESC, r.id LIMIT newest),
    -- a term counts for what it tells apart
    idf AS MATERIALIZED (
        SELECT 1::bigint << (n - 1)::integer AS bit,
               greatest(0, ln(((SELECT count(*) FROM pool) + 1)
                              / ((SELECT count(*) FROM pool p WHERE p.hits & (1::bigint << (n - 1)::integer) <> 0) + 0.5)))::double precision AS weight
        FROM generate_series(1, cardinality(terms)) AS n),
    placed AS MATERIALIZED (
        SELECT p.*, coalesce(hits | lag(hits, 1, 0::bigint) OVER turn | lead(hits, 1, 0::bigint) OVER turn, 0) AS around,
               (cosine + p_weights[3] * (coalesce(lag(cosine) OVER turn, 0) + coalesce(lead(cosine) OVER turn, 0)))
               / (1 + p_weights[3] * ((lag(cosine) OVER turn IS NOT NULL)::integer + (lead(cosine) OVER turn IS NOT NULL)::integer)) AS near
        FROM pool p WINDOW turn AS (PARTITION BY session ORDER BY created_at, id)),
    masks AS MATERIALIZED (
        SELECT m.mask, coalesce((SELECT sum(weight) FROM idf WHERE m.mask & bit <> 0), 0) AS weight
        FROM (SELECT hits AS mask FROM placed UNION SELECT around FROM placed) m),
    weighed AS MATERIALIZED (
        SELECT p.*, p_weights[2] * own.weight + (1 - p_weights[2]) * wide.weight AS words
        FROM placed p JOIN masks own ON own.mask = p.hits JOIN masks wide ON wide.mask = p.around),
    named AS MATERIALIZED (
        SELECT min(s.speaker) AS speaker FROM (SELECT DISTINCT speaker FROM pool WHERE length(speaker) > 2) s
        WHERE strpos(spaced_words(p_words), s.speaker) > 0
           OR strpos(spaced_words(p_words), ' ' || split_part(s.speaker, ' ', 2) || ' ') > 0
        HAVING count(*) = 1),
    fused AS MATERIALIZED (
        SELECT w.id, w.session, w.created_at, w.cosine, w.words,
               coalesce((w.words - min(w.words) OVER ()) / nullif(max(w.words) OVER () - min(w.words) OVER (), 0), 0) AS by_words,
               coalesce((w.near - min(w.near) OVER ()) / nullif(max(w.near) OVER () - min(w.near) OVER (), 0), 0) AS by_meaning,
               CASE WHEN w.speaker = (SELECT speaker FROM named) THEN p_weights[4] ELSE 0 END AS by_speaker
        FROM weighed w),
    summed AS MATERIALIZED (
        SELECT f.*, p_weights[1] * by_words + (1 - p_weights[1]) * by_meaning + by_speaker AS sum FROM fused f),
    sessions AS MATERIALIZED (
        SELECT session, avg(sum) AS best FROM (
            SELECT session, sum, row_number() OVER (PARTITION BY session ORDER BY sum DESC) AS place FROM summed) t
        WHERE place <= 3 GROUP BY session),
    ranked AS (
        SELECT s.*, b.best,
               -- by the most a turn can reach
               (s.sum + p_weights[5] * b.best) / ((1 + p_weights[4]) * (1 + p_weights[5])) AS score,
               CASE WHEN s.cosine IS NOT NULL THEN rank() OVER (ORDER BY s.cosine DESC NULLS LAST) END AS semantic_rank,
               CASE WHEN s.words > 0 THEN rank() OVER (ORDER BY s.words DESC) END AS keyword_rank
        FROM summed s JOIN sessions b ON b.session = s.session)
    SELECT r.id, r.score, r.cosine, r.semantic_rank::integer, r.words, r.keyword_rank::integer,
           jsonb_build_object('keyword', r.by_words, 'semantic', r.by_meaning, 'speaker', r.by_speaker, 'session', r.best)
    FROM ranked r ORDER BY r.score DESC, r.created_at DESC, r.id LIMIT p_limit;
END $$;

-- Also of a memory that the keyword leg alone found. The distance to a vector of zeros is not a number.
CREATE FUNCTION cosine_similarity(embedding vector, query vector, embedded_by integer, version integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN embedded_by = version AND embedding <=> query <= 2 THEN 1 - (embedding <=> query) END $$;

-- What is usual in a store, against which a relevance is told: the mean and deviation of the similarity to the query, and
-- in how many rows each term of it is. Over the newest rows, scaled to all.
DO $do$
DECLARE
    kind record;
BEGIN
    FOR kind IN SELECT * FROM (VALUES
        ('facts', 'fact_is_active(r.validity)', 'r.scope = ANY (ARRAY[''global'', p_scope])'),
        ('rules', 'rule_is_remembered(r.metadata)', 'r.scope = ANY (ARRAY[''global'', p_scope])'),
        ('episodes', 'episode_is_alive(r.expires_at, p_at)', 'r.butler = p_scope')
    ) AS kinds (name, kept, scope) LOOP
        EXECUTE format($f$
CREATE FUNCTION %1$s_background(p_tenant text, p_scope text, p_at timestamptz, p_version integer, p_query vector,
                                p_strict tsquery, p_rows double precision) RETURNS jsonb LANGUAGE plpgsql STABLE AS $body$
BEGIN
    RETURN (
        WITH sample AS MATERIALIZED (
            SELECT r.search_vector,
                   cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version) AS cosine
            FROM %1$s r WHERE r.tenant_id = p_tenant AND %2$s AND (p_scope IS NULL OR %3$s)
            ORDER BY r.created_at DESC, r.id LIMIT 2000),
        counted AS (
            SELECT term_lexeme(t.term) AS term, count(s.search_vector) * greatest(1, p_rows / greatest(1, (SELECT count(*) FROM sample))) AS holders
            FROM unnest(query_terms(p_strict)) AS t (term) LEFT JOIN sample s ON s.search_vector @@ t.term::tsquery GROUP BY t.term)
        SELECT jsonb_build_object('rows', greatest(p_rows, (SELECT count(*) FROM sample)), 'compared', count(cosine),
                   'mean', avg(cosine), 'deviation', stddev_pop(cosine),
                   'terms', (SELECT coalesce(jsonb_object_agg(term, holders), '{}') FROM counted))
        FROM sample);
END $body$ $f$, kind.name, kind.kept, kind.scope);
    END LOOP;
END $do$;

-- Which of a query's terms a memory has.
CREATE FUNCTION terms_in(search_vector tsvector, strict tsquery) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(term_lexeme(t)), '[]') FROM unnest(query_terms(strict)) AS t WHERE search_vector @@ t::tsquery
$$;

-- The names of a fact (subject, entity, aliases) that the query contains whole: how many active facts carry the rarest.
CREATE FUNCTION fact_named(p_fact facts, p_entity entities, p_words text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT min(CASE WHEN n.of_entity
                    THEN (SELECT count(*) FROM facts f WHERE f.entity_id = p_fact.entity_id AND fact_is_active(f.validity))
                    ELSE (SELECT count(*) FROM facts f WHERE f.tenant_id = p_fact.tenant_id AND f.subject = p_fact.subject
                                                         AND fact_is_active(f.validity)) END)
    FROM (SELECT p_fact.subject AS name, false AS of_entity
          UNION ALL SELECT p_entity.canonical_name::text, true
          UNION ALL SELECT unnest(p_entity.aliases), true) n
    WHERE length(spaced_words(n.name)) > 3 AND strpos(spaced_words(p_words), spaced_words(n.name)) > 0
$$;

-- One memory of an answer: which legs found it and where, what is shown, and what its score is made of. Kind 'pool' is
-- not a memory but what was learnt about a store (in info), 'recent' one of the butler's latest episodes.
CREATE TYPE retrieved AS (
    kind text, id uuid, similarity double precision, semantic_rank integer, rank real, strict boolean, keyword_rank integer,
    content text, subject text, predicate text, scope text, importance double precision, confidence double precision,
    decay_rate double precision, last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text, effectiveness double precision, entity_id uuid, entity_name text, session_id uuid, fading boolean, info jsonb);

-- Everything a search, a recall or a context asks of the database, in one call. NULL p_embedding or p_words leaves that
-- leg out; p_pools holds what is already known of the stores; p_deep are the weights of the mode for conversations;
-- p_background asks for what a relevance is told by. The rows are each leg's best p_limit of each type, unordered.
CREATE FUNCTION memory_retrieve(
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
        RETURN QUERY SELECT 'fact', f.id, cosine_similarity(f.embedding, query, f.embedding_version_id, version), l.semantic_rank,
                CASE WHEN l.standing >= 2 THEN l.standing - 2 ELSE l.standing END::real, l.standing >= 2, l.keyword_rank,
                f.content, f.subject, f.predicate, f.scope, f.importance, f.confidence, f.decay_rate, f.last_confirmed_at,
                f.last_referenced_at, f.created_at, NULL::text, NULL::double precision, f.entity_id, e.canonical_name::text,
                NULL::uuid, memory_is_fading(f.metadata),
                CASE WHEN p_background
                     THEN l.path || jsonb_build_object('terms', terms_in(f.search_vector, strict_query), 'named', fact_named(f, e, p_words)) ELSE l.path END
            FROM facts_legs(p_tenant, p_scope, p_at, p_min_confidence, version, query, strict_query, broad_query, p_limit, pool) l
            JOIN facts f ON f.id = l.id LEFT JOIN entities e ON e.id = f.entity_id;
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
        RETURN QUERY SELECT 'rule', r.id, cosine_similarity(r.embedding, query, r.embedding_version_id, version), l.semantic_rank,
                CASE WHEN l.standing >= 2 THEN l.standing - 2 ELSE l.standing END::real, l.standing >= 2, l.keyword_rank,
                r.content, NULL::text, NULL::text, r.scope, NULL::double precision, r.confidence, r.decay_rate, r.last_confirmed_at,
                r.last_referenced_at, r.created_at, r.maturity, r.effectiveness_score, NULL::uuid, NULL::text,
                NULL::uuid, memory_is_fading(r.metadata),
                CASE WHEN p_background
                     THEN l.path || jsonb_build_object('terms', terms_in(r.search_vector, strict_query)) ELSE l.path END
            FROM rules_legs(p_tenant, p_scope, p_at, p_min_confidence, version, query, strict_query, broad_query, p_limit, pool) l
            JOIN rules r ON r.id = l.id;
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
        ELSE
        RETURN QUERY SELECT 'episode', x.id, cosine_similarity(x.embedding, query, x.embedding_version_id, version), l.semantic_rank,
                CASE WHEN l.standing >= 2 THEN l.standing - 2 ELSE l.standing END::real, l.standing >= 2, l.keyword_rank,
                x.content, NULL::text, NULL::text, x.butler, x.importance, NULL::double precision, NULL::double precision, NULL::timestamptz,
                x.last_referenced_at, x.created_at, NULL::text, NULL::double precision, NULL::uuid, NULL::text,
                x.session_id, false,
                CASE WHEN p_background
                     THEN l.path || jsonb_build_object('terms', terms_in(x.search_vector, strict_query)) ELSE l.path END
            FROM episodes_legs(p_tenant, p_scope, p_at, p_min_confidence, version, query, strict_query, broad_query, p_limit, pool) l
            JOIN episodes x ON x.id = l.id;
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

-- What was learnt about a store (strict: in this call), in the shape of a result.
CREATE FUNCTION pool_row(p_kind text, p_learnt boolean, p_pool jsonb) RETURNS retrieved LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    result retrieved;
BEGIN
    result.kind := 'pool';
    result.content := p_kind;
    result.strict := p_learnt;
    result.info := p_pool;
    RETURN result;
END $$;

-- The rows an answer held were referenced. In the order of their ids, so that two readers of the same rows never wait
-- for each other in a circle. As the caller: row-level security sees every row.
CREATE FUNCTION memory_bump(p_tenant text, p_at timestamptz, p_facts uuid[], p_rules uuid[], p_episodes uuid[])
    RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(p_facts) > 0 THEN
        WITH locked AS (SELECT f.id FROM facts f WHERE f.tenant_id = p_tenant AND f.id = ANY (p_facts) ORDER BY f.id FOR NO KEY UPDATE)
        UPDATE facts f SET reference_count = f.reference_count + 1, last_referenced_at = p_at FROM locked WHERE f.id = locked.id;
    END IF;
    IF cardinality(p_rules) > 0 THEN
        WITH locked AS (SELECT r.id FROM rules r WHERE r.tenant_id = p_tenant AND r.id = ANY (p_rules) ORDER BY r.id FOR NO KEY UPDATE)
        UPDATE rules r SET reference_count = r.reference_count + 1, last_referenced_at = p_at FROM locked WHERE r.id = locked.id;
    END IF;
    IF cardinality(p_episodes) > 0 THEN
        WITH locked AS (SELECT x.id FROM episodes x WHERE x.tenant_id = p_tenant AND x.id = ANY (p_episodes) ORDER BY x.id FOR NO KEY UPDATE)
        UPDATE episodes x SET reference_count = x.reference_count + 1, last_referenced_at = p_at FROM locked WHERE x.id = locked.id;
    END IF;
END $$;

-- Each resolves names in the butler's own schema whatever the caller's path says, takes no generic guess for a reason to
-- read a whole table, and (but for the entrance) is closed to everybody else.
DO $do$
DECLARE
    part regprocedure;
    parts constant text[] := ARRAY['near_exact', 'near_probed', 'near_all', 'match_scan', 'match_index', 'match_newest', 'match_all',
                                   'near_kept', 'match_kept', 'count', 'sample', 'legs', 'deep', 'background'];
BEGIN
    FOR part IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace
          AND (p.proname IN ('memory_pool', 'memory_retrieve')
               OR p.proname IN (SELECT k || '_' || n FROM unnest(ARRAY['facts', 'rules', 'episodes']) k, unnest(parts) n)) LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', part);
    END LOOP;
    FOR part IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname = 'memory_retrieve' LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', part, current_setting('search_path'));
        EXECUTE format('ALTER FUNCTION %s SET plan_cache_mode = force_generic_plan', part);
        EXECUTE format('ALTER FUNCTION %s SET enable_seqscan = off', part);
        -- a query of stop words alone is an ordinary thing, not worth a notice
        EXECUTE format('ALTER FUNCTION %s SET client_min_messages = warning', part);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO butler_app', part);
    END LOOP;
END $do$;
