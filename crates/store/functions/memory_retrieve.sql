-- Retrieval: one call is one statement, whatever it searches. For each type it returns the memories found by either leg,
-- unordered, and one row of kind `pool` with what it knows about the store. The program fuses and scores them
-- (domain::fusion, domain::scoring). Further kinds: `reached` facts, and the `related`, `neighbour` and `recent` episodes of a
-- context, which leaves out what is held.
--
-- Why a function. Row-level security holds back every operator that is not leakproof until the policy has passed a row.
-- `@@` and `<=>` are not leakproof, so butler_app could use neither the word index nor the vector index. This function
-- runs as the owner and keeps both walls itself: it filters by the tenant it is given, and refuses a tenant that is not
-- the connection's own. The functions it calls are closed to everybody else.
--
-- Why plpgsql. Its statements are planned once per connection; planning them on each call would cost more than running
-- them. The plans are generic. Which path a search takes is decided by counts (memory_pool), not by the planner.
--
-- p_request: types; scope; at; min_confidence; model and model_version; query: as typed; names: what may be an entity's
-- name in it; words: the query as the word index has it; any_term: whether one of the words is enough; mode; limit; deep: the
-- weights of episodes_deep; background: also return what domain::relevance needs; unknown_words, which may be misspelled
-- (near_words); plain_words, which may lack accents (accented_words); hops: how many relations to follow from the entities
-- that the query names (facts_reached); related: also return this many episodes of the butler `scope` by the mode deep; recent:
-- also return this many of its latest episodes; asked: only what fits a time (memories_fitting.sql); holding: only facts that
-- hold at `at`; conflicts: also return which of the facts contradict each other; window: also the facts and episodes of that
-- time, after the others, so some come twice.
-- p_embedding: the semantic leg; NULL leaves it out.
-- p_pools: what the program remembers of earlier calls, by type; a type without an entry is measured again.
CREATE OR REPLACE FUNCTION memory_retrieve(p_tenant text, p_request jsonb, p_embedding real[], p_pools jsonb)
RETURNS SETOF retrieved LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET client_min_messages = warning
AS $$
#variable_conflict use_column
DECLARE
    -- The text of a JSON array of names or numbers becomes that of an SQL array. A subquery would be a statement of its own.
    types constant text[] := translate(p_request ->> 'types', '[]', '{}');
    scope constant text := p_request ->> 'scope';
    at constant timestamptz := p_request ->> 'at';
    -- The present confidence says nothing about another time.
    min_confidence constant double precision := CASE
        WHEN coalesce(p_request -> 'asked' ?| '{first,as_of}', false) THEN 0 ELSE (p_request ->> 'min_confidence')::double precision END;
    row_limit constant integer := p_request ->> 'limit';
    background constant boolean := p_request ->> 'background';
    deep constant double precision[] := translate(p_request ->> 'deep', '[]', '{}');
    ranks_episodes constant boolean := p_request ->> 'mode' = 'deep';
    query constant vector := p_embedding::vector;
    words constant tsquery := plainto_tsquery('english', p_request ->> 'words');
    -- Stems of words that only phrase a question; the other words say what it is about.
    asking constant text[] := '{would,could,might,shall,mani,much,often,ever,also,pleas,kind,type,sort,tell,told,remind,rememb,
        recal,mention,describ,say,said,accord,know,think}';
    -- A row's hits use 60 bits: 52 for terms, the first 48 of them as typed, and 8 for names.
    terms text[] := (query_terms(words))[:48];
    strict_query constant tsquery := all_of(terms);
    factors double precision[] := ARRAY(
        SELECT CASE WHEN term_lexeme(t.term) = ANY (asking) THEN 0.1 ELSE 1 END::double precision
        FROM unnest(terms) WITH ORDINALITY AS t (term, n) ORDER BY t.n);
    -- the words that misspelled ones may stand for
    typed_words text[];
    guessed_words text[];
    guess_factors double precision[];
    corrections jsonb;
    options jsonb;
    hops constant integer := coalesce((p_request ->> 'hops')::integer, 0);
    -- No lexeme contains a space.
    no_word constant tsquery := $q$'no word'$q$;
    by_names constant boolean := (p_request ->> 'any_term')::boolean AND p_request ->> 'mode' <> 'keyword';
    named uuid[];
    name_weights double precision[];
    sessions uuid[];
    found retrieved[] := '{}';
    broad_query tsquery;
    fact_query tsquery;
    version uuid;
    pool jsonb;
    learned boolean;
    began timestamptz;
    fits tid[];
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'retrieval for another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- A misspelled word is searched as the words that it may stand for, and a word without accents as those with accents.
    IF jsonb_array_length(p_request -> 'unknown_words') > 0 OR jsonb_array_length(p_request -> 'plain_words') > 0 THEN
        SELECT array_agg(w.typed), array_agg(w.word), array_agg(w.factor) INTO typed_words, guessed_words, guess_factors
            FROM (SELECT n.typed, n.word, n.factor
                  FROM near_words(p_tenant, ARRAY(SELECT jsonb_array_elements_text(p_request -> 'unknown_words'))) n
                  UNION ALL SELECT a.typed, a.word, a.factor
                  FROM accented_words(p_tenant, ARRAY(SELECT jsonb_array_elements_text(p_request -> 'plain_words'))) a) w;
    END IF;
    IF typed_words IS NOT NULL THEN
        SELECT (terms || array_agg(n.term ORDER BY n.term))[:52], (factors || array_agg(n.factor ORDER BY n.term))[:52],
               jsonb_object_agg(n.word, n.typed)
            INTO terms, factors, corrections
            FROM (SELECT min(w.typed) AS typed, min(w.word) AS word, t.term, max(w.factor) AS factor
                  FROM unnest(typed_words, guessed_words, guess_factors) AS w (typed, word, factor),
                       unnest(query_terms(plainto_tsquery('english', w.word))) AS t (term)
                  WHERE t.term <> ALL (terms)
                  GROUP BY t.term) n;
    END IF;
    options := p_request || CASE WHEN corrections IS NULL THEN '{}' ELSE '{"corrected": true}' END::jsonb;
    broad_query := CASE WHEN (p_request ->> 'any_term')::boolean THEN any_of(terms) ELSE strict_query END;
    SELECT v.id INTO version FROM embedding_versions v
        WHERE v.tenant_id = p_tenant AND v.model = p_request ->> 'model' AND v.version = p_request ->> 'model_version';

    IF 'fact' = ANY (types) THEN
        began := clock_timestamp();
        learned := NOT coalesce(p_pools ? 'fact', false);
        pool := CASE WHEN learned THEN memory_pool('facts', p_tenant, scope) ELSE p_pools -> 'fact' END;
        IF EXISTS (SELECT FROM facts r WHERE r.tenant_id = p_tenant) THEN
            IF by_names OR hops > 0 THEN
                SELECT n.ids, n.weights INTO named, name_weights
                    FROM named_entities(p_tenant, p_request -> 'names', typed_words, guessed_words, guess_factors,
                                        (pool ->> 'rows')::double precision) n;
            END IF;
            -- A name may consist of stop words, such as "The Who".
            fact_query := CASE WHEN by_names AND named IS NOT NULL THEN coalesce(broad_query, no_word) ELSE broad_query END;
            found := facts_found(
                p_tenant, scope, at, min_confidence, version, query, strict_query, fact_query, terms, factors, row_limit, pool,
                options || CASE WHEN by_names AND named IS NOT NULL
                                THEN jsonb_build_object('named', named, 'name_weights', name_weights) ELSE '{}' END);
            IF p_request ? 'window' THEN
                found := found || facts_found(
                    p_tenant, scope, at, 0, version, query, strict_query, fact_query, terms, factors, row_limit, pool,
                    options || jsonb_build_object('asked', p_request -> 'window') || CASE WHEN by_names AND named IS NOT NULL
                                    THEN jsonb_build_object('named', named, 'name_weights', name_weights) ELSE '{}' END);
            END IF;
            IF hops > 0 AND named IS NOT NULL THEN
                found := found || ARRAY(SELECT r FROM facts_reached(
                    p_tenant, scope, at, min_confidence, version, query, terms, factors, named, hops, row_limit, pool,
                    p_request -> 'asked') r);
            END IF;
            RETURN QUERY SELECT * FROM unnest(found);
            IF (p_request ->> 'conflicts')::boolean THEN
                pool := pool || jsonb_build_object('conflicts', open_contradictions(
                    p_tenant, ARRAY(SELECT f.id FROM unnest(found) f)));
            END IF;
        END IF;
        IF background THEN
            pool := pool || jsonb_build_object('background', facts_background(
                p_tenant, scope, at, version, query, strict_query, (pool ->> 'rows')::double precision));
        END IF;
        RETURN NEXT pool_row('fact', learned, pool || jsonb_build_object('corrections', corrections, 'ms', 1000 * date_part('epoch', clock_timestamp() - began)));
    END IF;

    IF 'rule' = ANY (types) THEN
        began := clock_timestamp();
        learned := NOT coalesce(p_pools ? 'rule', false);
        pool := CASE WHEN learned THEN memory_pool('rules', p_tenant, scope) ELSE p_pools -> 'rule' END;
        IF EXISTS (SELECT FROM rules r WHERE r.tenant_id = p_tenant) THEN
            RETURN QUERY SELECT * FROM unnest(rules_found(
                p_tenant, scope, at, min_confidence, version, query, strict_query, broad_query, terms, factors, row_limit, pool,
                options));
        END IF;
        IF background THEN
            pool := pool || jsonb_build_object('background', rules_background(
                p_tenant, scope, at, version, query, strict_query, (pool ->> 'rows')::double precision));
        END IF;
        RETURN NEXT pool_row('rule', learned, pool || jsonb_build_object('corrections', corrections, 'ms', 1000 * date_part('epoch', clock_timestamp() - began)));
    END IF;

    IF 'episode' = ANY (types) THEN
        began := clock_timestamp();
        learned := NOT coalesce(p_pools ? 'episode', false);
        pool := CASE WHEN learned THEN memory_pool('episodes', p_tenant, scope) ELSE p_pools -> 'episode' END;
        IF ranks_episodes AND NOT p_request ? 'asked' THEN
            RETURN QUERY SELECT * FROM episodes_deep('episode', p_tenant, scope, at, version, query, strict_query, terms, factors, p_request ->> 'query',
                                                     row_limit, deep, background, NULL, NULL, p_request -> 'window');
        ELSIF EXISTS (SELECT FROM episodes r WHERE r.tenant_id = p_tenant) THEN
            RETURN QUERY SELECT * FROM unnest(episodes_found(
                p_tenant, scope, at, min_confidence, version, query, strict_query, broad_query, terms, factors, row_limit, pool,
                options));
            IF p_request ? 'window' THEN
                RETURN QUERY SELECT * FROM unnest(episodes_found(
                    p_tenant, scope, at, min_confidence, version, query, strict_query, broad_query, terms, factors, row_limit, pool,
                    options || jsonb_build_object('asked', jsonb_build_object(
                        'since', p_request -> 'window' -> 'first', 'last', p_request -> 'window' -> 'last'))));
            END IF;
        END IF;
        IF background THEN
            pool := pool || jsonb_build_object('background', episodes_background(
                p_tenant, scope, at, version, query, strict_query, (pool ->> 'rows')::double precision));
        END IF;
        RETURN NEXT pool_row('episode', learned, pool || jsonb_build_object('corrections', corrections, 'ms', 1000 * date_part('epoch', clock_timestamp() - began)));
    END IF;

    -- Comparing every turn takes too long for the start of a session: only those of the best conversations.
    IF (p_request ->> 'related')::integer > 0 AND EXISTS (SELECT FROM episodes r WHERE r.tenant_id = p_tenant) THEN
        learned := NOT coalesce(p_pools ? 'episode', false);
        pool := CASE WHEN learned THEN memory_pool('episodes', p_tenant, scope) ELSE p_pools -> 'episode' END;
        sessions := related_sessions(p_tenant, scope, at, version, query, strict_query, broad_query, terms, factors,
                                     (p_request ->> 'related')::integer, pool, options);
        RETURN QUERY SELECT * FROM episodes_deep('related', p_tenant, scope, at, version, query, strict_query, terms, factors, p_request ->> 'query',
                                                 (p_request ->> 'related')::integer, deep, false, sessions, pool, NULL);
        RETURN NEXT pool_row('episode', learned, pool);
    END IF;
    IF (p_request ->> 'recent')::integer > 0 THEN
        fits := CASE WHEN p_request ? 'asked' THEN episodes_fitting(p_tenant, scope, at, p_request -> 'asked') END;
        RETURN QUERY SELECT
            'recent', x.id, NULL::double precision, NULL::integer, NULL::real, NULL::boolean, NULL::integer,
            x.content, NULL::text, NULL::text, x.butler, x.importance, NULL::double precision, NULL::double precision,
            NULL::timestamptz, x.last_referenced_at, x.created_at, NULL::text, NULL::double precision, NULL::uuid, NULL::text,
            x.session_id, false, json_build_object('occurred_at', x.occurred_at)
        FROM episodes x
        WHERE x.tenant_id = p_tenant AND x.butler = scope AND x.held_for IS NULL
          AND CASE WHEN fits IS NULL THEN episode_is_alive(x.expires_at, at) ELSE x.ctid = ANY (fits) END
        ORDER BY x.occurred_at DESC, x.id LIMIT (p_request ->> 'recent')::integer;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION memory_retrieve FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_retrieve TO butler_app;
COMMENT ON FUNCTION memory_retrieve IS 'What search, recall and context find: the memories of each type, and what is known about each store.';
