-- Retrieval: one call is one statement, whatever it searches. For each type it returns the memories found by either leg,
-- unordered, and one row of kind `pool` with what it knows about the store. The program fuses and scores them
-- (domain::fusion, domain::scoring).
--
-- Why a function. Row-level security holds back every operator that is not leakproof until the policy has passed a row.
-- `@@` and `<=>` are not leakproof, so butler_app could use neither the word index nor the vector index. This function
-- runs as the owner and keeps both walls itself: it filters by the tenant it is given, and refuses a tenant that is not
-- the connection's own. The functions it calls are closed to everybody else.
--
-- Why plpgsql. Its statements are planned once per connection; planning them on each call would cost more than running
-- them. The plans are generic. Which path a search takes is decided by counts (memory_pool), not by the planner.
--
-- p_pools: what the program remembers of earlier calls, by type; a type without an entry is measured again.
-- p_deep: the weights of the conversation mode (episodes_deep), which then ranks the episodes.
-- p_background: also return what domain::relevance needs.
-- p_recent: also return this many of the latest episodes of the butler p_scope.
CREATE OR REPLACE FUNCTION memory_retrieve(
    p_tenant text, p_types text[], p_scope text, p_at timestamptz, p_min_confidence double precision,
    p_model text, p_model_version text, p_embedding real[], p_words text, p_any_term boolean, p_limit integer,
    p_pools jsonb, p_deep double precision[], p_background boolean, p_recent integer)
RETURNS SETOF retrieved LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET client_min_messages = warning
AS $$
#variable_conflict use_column
DECLARE
    query constant vector := p_embedding::vector;
    words constant tsquery := plainto_tsquery('english', p_words);
    strict_query constant tsquery := CASE WHEN numnode(words) > 0 THEN words END;
    broad_query constant tsquery := CASE WHEN p_any_term THEN any_of(query_terms(strict_query)) ELSE strict_query END;
    version uuid;
    pool jsonb;
    learned boolean;
    began timestamptz;
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'retrieval for another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT v.id INTO version FROM embedding_versions v
        WHERE v.tenant_id = p_tenant AND v.model = p_model AND v.version = p_model_version;

    IF 'fact' = ANY (p_types) THEN
        began := clock_timestamp();
        learned := NOT coalesce(p_pools ? 'fact', false);
        pool := CASE WHEN learned THEN memory_pool('facts', p_tenant, p_scope) ELSE p_pools -> 'fact' END;
        IF EXISTS (SELECT FROM facts r WHERE r.tenant_id = p_tenant) THEN
            RETURN QUERY SELECT * FROM unnest(facts_found(
                p_tenant, p_scope, p_at, p_min_confidence, version, query, strict_query, broad_query,
                p_any_term, p_limit, pool, p_words, p_background));
        END IF;
        IF p_background THEN
            pool := pool || jsonb_build_object('background', facts_background(
                p_tenant, p_scope, p_at, version, query, strict_query, (pool ->> 'rows')::double precision));
        END IF;
        RETURN NEXT pool_row('fact', learned, pool || jsonb_build_object('ms', 1000 * date_part('epoch', clock_timestamp() - began)));
    END IF;

    IF 'rule' = ANY (p_types) THEN
        began := clock_timestamp();
        learned := NOT coalesce(p_pools ? 'rule', false);
        pool := CASE WHEN learned THEN memory_pool('rules', p_tenant, p_scope) ELSE p_pools -> 'rule' END;
        IF EXISTS (SELECT FROM rules r WHERE r.tenant_id = p_tenant) THEN
            RETURN QUERY SELECT * FROM unnest(rules_found(
                p_tenant, p_scope, p_at, p_min_confidence, version, query, strict_query, broad_query,
                p_any_term, p_limit, pool, p_words, p_background));
        END IF;
        IF p_background THEN
            pool := pool || jsonb_build_object('background', rules_background(
                p_tenant, p_scope, p_at, version, query, strict_query, (pool ->> 'rows')::double precision));
        END IF;
        RETURN NEXT pool_row('rule', learned, pool || jsonb_build_object('ms', 1000 * date_part('epoch', clock_timestamp() - began)));
    END IF;

    IF 'episode' = ANY (p_types) THEN
        began := clock_timestamp();
        learned := NOT coalesce(p_pools ? 'episode', false);
        pool := CASE WHEN learned THEN memory_pool('episodes', p_tenant, p_scope) ELSE p_pools -> 'episode' END;
        IF p_deep IS NOT NULL THEN
            RETURN QUERY SELECT
                'episode', x.id, d.similarity, d.semantic_rank, d.keyword::real, NULL::boolean, d.keyword_rank,
                x.content, NULL::text, NULL::text, x.butler, x.importance, NULL::double precision, NULL::double precision,
                NULL::timestamptz, x.last_referenced_at, x.created_at, NULL::text, NULL::double precision, NULL::uuid, NULL::text,
                x.session_id, false,
                jsonb_build_object('vector', 'exact', 'keyword', 'scan', 'deep', d.parts || jsonb_build_object('score', d.score),
                                   'terms', CASE WHEN p_background THEN terms_in(x.search_vector, strict_query) END)
            FROM episodes_deep(p_tenant, p_scope, p_at, version, query, strict_query, p_words, p_limit, p_deep) d
            JOIN episodes x ON x.id = d.id;
        ELSIF EXISTS (SELECT FROM episodes r WHERE r.tenant_id = p_tenant) THEN
            RETURN QUERY SELECT * FROM unnest(episodes_found(
                p_tenant, p_scope, p_at, p_min_confidence, version, query, strict_query, broad_query,
                p_any_term, p_limit, pool, p_words, p_background));
        END IF;
        IF p_background THEN
            pool := pool || jsonb_build_object('background', episodes_background(
                p_tenant, p_scope, p_at, version, query, strict_query, (pool ->> 'rows')::double precision));
        END IF;
        RETURN NEXT pool_row('episode', learned, pool || jsonb_build_object('ms', 1000 * date_part('epoch', clock_timestamp() - began)));
    END IF;

    IF p_recent > 0 THEN
        RETURN QUERY SELECT
            'recent', x.id, NULL::double precision, NULL::integer, NULL::real, NULL::boolean, NULL::integer,
            x.content, NULL::text, NULL::text, x.butler, x.importance, NULL::double precision, NULL::double precision,
            NULL::timestamptz, x.last_referenced_at, x.created_at, NULL::text, NULL::double precision, NULL::uuid, NULL::text,
            x.session_id, false, NULL::jsonb
        FROM episodes x
        WHERE x.tenant_id = p_tenant AND x.butler = p_scope AND episode_is_alive(x.expires_at, p_at)
        ORDER BY x.created_at DESC, x.id LIMIT p_recent;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION memory_retrieve FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_retrieve TO butler_app;
COMMENT ON FUNCTION memory_retrieve IS 'What search, recall and context find: the memories of each type, and what is known about each store.';
