-- mem_090: a recall reads less.
--
-- After a query was embedded the processor's caches hold the model, so what a search costs is mostly the memory it
-- touches. It now reads fewer of the newest rows where a query has frequent terms alone, and a small store's vectors from
-- the index. Counting references goes over the rows once.

-- Two calls that count the same rows must take their locks in the same order, or each waits for the other. An index scan
-- for a list of ids goes through them in order, so no other way of finding them is allowed.
CREATE OR REPLACE FUNCTION memory_bump(p_tenant text, p_at timestamptz, p_facts uuid[], p_rules uuid[], p_episodes uuid[])
    RETURNS void LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    IF cardinality(p_facts) > 0 THEN
        UPDATE facts SET reference_count = reference_count + 1, last_referenced_at = p_at WHERE id = ANY (p_facts) AND tenant_id = p_tenant;
    END IF;
    IF cardinality(p_rules) > 0 THEN
        UPDATE rules SET reference_count = reference_count + 1, last_referenced_at = p_at WHERE id = ANY (p_rules) AND tenant_id = p_tenant;
    END IF;
    IF cardinality(p_episodes) > 0 THEN
        UPDATE episodes SET reference_count = reference_count + 1, last_referenced_at = p_at WHERE id = ANY (p_episodes) AND tenant_id = p_tenant;
    END IF;
END $$;

DO $do$
DECLARE
    kind record;
    body text;
    template constant text := $template$
-- The best p_limit of each leg, as a reader shows them.
CREATE OR REPLACE FUNCTION «name»_found(p_tenant text, p_scope text, p_at timestamptz, p_min double precision, p_version integer,
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
    newest constant integer := 250;
    whole boolean;
    probes integer;
    candidates tsquery;
    vector_path text;
    keyword_path text;
    near tid[];  distances double precision[];  near_taken integer := 0;  near_kept integer;
    matched tid[];  standings double precision[];  match_taken integer := 0;  match_kept integer;
    answer retrieved[];
BEGIN
    IF p_query IS NOT NULL AND p_version IS NOT NULL THEN
        -- A small store that is most of its table is compared whole by way of the index, whose vectors lie side by side,
        -- while the rows around them in the table are twice as large. More probes than lists are all lists.
        whole := rows_here <= 1500 AND rows_here * 2 >= total AND p_scope IS NULL;
        probes := CASE WHEN whole THEN 0 ELSE vector_probes(rows_here, total, (p_pool ->> 'lists')::integer, (p_pool ->> 'trained')::bigint) END;
        IF whole OR probes > 0 THEN
            vector_path := CASE WHEN whole THEN 'exact' ELSE 'ann' END;
            PERFORM set_config('ivfflat.probes', CASE WHEN whole THEN '32768' ELSE probes::text END, true);
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
        body := replace(body, '«kept»', kind.kept);
        body := replace(body, '«scope»', kind.scope);
        body := replace(body, '«shown»', kind.shown);
        body := replace(body, '«joined»', kind.joined);
        body := replace(body, '«background»', kind.background);
        EXECUTE body;
    END LOOP;
END $do$;
