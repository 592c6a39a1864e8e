-- The search over facts: a semantic leg (nearest vectors) and a keyword leg (full-text matches), each with its best
-- p_limit rows; in the modes that fuse scores, the best p_limit rows of both. rules_found and episodes_found are the same
-- function for the other tables; a test keeps the three equal (tests/schema/families.rs), so change facts_found first.
--
-- Each leg works in two steps, because reading a row's columns behind its vector costs more than comparing the vector:
-- 1. Take a few more candidates than needed by the indexed columns alone (facts_candidates.sql).
-- 2. Check validity, confidence and model version of those candidates, rank them, and read the columns to show.
-- Only when too few candidates pass does a leg look again at every row.
--
-- A candidate is its place in the table (ctid). Within one statement a row does not move, and going to a place costs a
-- tenth of a lookup by id.
--
-- p_terms: the terms of the query, p_factors: below 1 for a guessed one. p_options: the request of memory_retrieve; for
-- facts with the entities that the query names (named, name_weights).
CREATE OR REPLACE FUNCTION facts_found(
    p_tenant text, p_scope text, p_at timestamptz, p_min double precision, p_version uuid, p_query vector,
    p_strict tsquery, p_broad tsquery, p_terms text[], p_factors double precision[], p_limit integer, p_pool jsonb,
    p_options jsonb)
RETURNS retrieved[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- A variable, because with the literal the planner would read the index of all tenants' active facts.
    active constant text := 'active';
    by_rank constant boolean := p_options ->> 'mode' = 'keyword';
    by_score constant boolean := p_options ->> 'mode' IN ('fused', 'deep');
    any_term constant boolean := (p_options ->> 'any_term')::boolean;
    background constant boolean := (p_options ->> 'background')::boolean;
    -- Texts share character pairs by chance, so a match of a few says little. The model hardly understands the scripts that
    -- are searched by pairs, so a row that is only near comes after those that also share a pair.
    is_pairs constant boolean := NOT by_rank AND is_paired(p_terms);
    least_part constant double precision := CASE WHEN is_pairs THEN 0.5 ELSE 0 END;
    -- A keyword score of this size is a good match; if the best is worse, words count less in the fused score. Pairs and
    -- guessed terms have no such scale.
    good_score constant double precision := CASE WHEN is_pairs OR p_options ? 'corrected' THEN 0.01 ELSE 5 END;
    terms constant tsquery[] := p_terms::tsquery[];
    -- Candidates of each leg, with room for rows that turn out not to be retrievable.
    take constant integer := 2 * p_limit + 20;
    tenant_rows constant double precision := (p_pool ->> 'rows')::double precision;
    table_rows constant double precision := (p_pool ->> 'total')::double precision;
    is_small constant boolean := tenant_rows <= small_store_rows();
    -- How many rows the keyword leg may rank, at about 1.5 µs each; a small store may rank all of its rows. The word index
    -- covers all tenants: finding and skipping a row of another tenant costs about half as much.
    budget constant double precision := CASE WHEN is_small THEN small_store_rows() ELSE 400 END
        * 2.2 / (1.5 + 0.7 * greatest(1, table_rows / greatest(1, tenant_rows)));
    newest constant integer := 250;
    most_joint constant integer := 200;
    whole_index boolean;
    probes integer;
    candidate_words tsquery;
    joint_words tsquery;
    joined record;
    vector_path text;
    keyword_path text;
    near tid[];
    distances double precision[];
    near_taken integer := 0;
    near_kept integer;
    matched tid[];
    ids uuid[];
    hits bigint[];
    lengths integer[];
    standings double precision[];
    scores double precision[];
    weights double precision[];
    -- The text of a JSON array of ids or numbers becomes that of an SQL array. A subquery would be a statement of its own.
    named constant uuid[] := coalesce(translate(p_options ->> 'named', '[]', '{}'), '{}');
    name_weights constant double precision[] := coalesce(translate(p_options ->> 'name_weights', '[]', '{}'), '{}');
    match_taken integer := 0;
    match_kept integer;
    time_filter constant jsonb := (p_options -> 'asked') || jsonb_build_object('holding', p_options -> 'holding');
    as_of constant timestamptz := time_filter ->> 'as_of';
    -- A large store has facts of all times in its indexes (facts_held.sql).
    by_held constant boolean := time_filter ?| '{first,as_of}' AND NOT is_small;
    -- what was asked for with a time: all of it is compared
    fits tid[] := CASE WHEN time_filter IS NOT NULL AND by_held IS NOT TRUE
                       THEN facts_fitting(p_tenant, p_scope, p_at, time_filter) END;
    holding constant timestamptz := CASE WHEN time_filter IS NULL AND (p_options ->> 'holding')::boolean THEN p_at END;
    answer retrieved[];
BEGIN
    -- The semantic leg: candidates.
    IF p_query IS NOT NULL AND p_version IS NOT NULL THEN
        -- A small store that is most of its table is compared completely by way of the index. Its vectors lie side by side;
        -- the rows around them in the table are twice as large. More probes than lists means all lists.
        whole_index := is_small AND tenant_rows * 2 >= table_rows AND p_scope IS NULL;
        probes := CASE WHEN whole_index THEN 0
                       ELSE vector_probes(tenant_rows, table_rows, (p_pool ->> 'lists')::integer, (p_pool ->> 'trained')::bigint) END;
        IF by_held THEN
            vector_path := 'held';
            PERFORM set_config('ivfflat.probes', greatest(1, probes)::text, true);
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM facts_near_held(p_tenant, p_scope, p_query, CASE WHEN probes > 0 THEN take ELSE 0 END, time_filter) n;
            -- few facts of that time, or no index yet
            fits := CASE WHEN near_taken < take THEN facts_fitting(p_tenant, p_scope, p_at, time_filter) END;
        END IF;
        IF fits IS NOT NULL THEN
            vector_path := 'fitting';
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT compared.place, compared.distance
                      FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
                            FROM unnest(fits) AS p (place) JOIN facts r ON r.ctid = p.place
                            WHERE r.embedding IS NOT NULL AND r.embedding_version_id = p_version OFFSET 0) compared
                      ORDER BY compared.distance, compared.id LIMIT take) n;
        ELSIF by_held THEN
            NULL;
        ELSIF whole_index OR probes > 0 THEN
            vector_path := CASE WHEN whole_index THEN 'exact' ELSE 'ann' END;
            PERFORM set_config('ivfflat.probes', CASE WHEN whole_index THEN '32768' ELSE probes::text END, true);
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM facts_near_probed(p_tenant, p_scope, p_query, take) n;
        -- All of the tenant's rows are compared. OFFSET 0 keeps the planner from ordering by the approximate index. Two
        -- statements, because a condition "p_scope IS NULL OR …" could not use an index.
        ELSIF p_scope IS NULL THEN
            vector_path := 'exact';
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT compared.place, compared.distance
                      FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
                            FROM facts r
                            WHERE r.tenant_id = p_tenant
                              AND r.validity = active
                              AND r.embedding IS NOT NULL OFFSET 0) compared
                      ORDER BY compared.distance, compared.id LIMIT take) n;
        ELSE
            vector_path := 'exact';
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT compared.place, compared.distance
                      FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
                            FROM facts r
                            WHERE r.tenant_id = p_tenant
                              AND r.validity = active
                              AND r.scope = ANY (ARRAY['global', p_scope])
                              AND r.embedding IS NOT NULL OFFSET 0) compared
                      ORDER BY compared.distance, compared.id LIMIT take) n;
        END IF;
    END IF;

    -- The keyword leg: candidates.
    IF p_broad IS NOT NULL THEN
        IF fits IS NOT NULL THEN
            keyword_path := 'fitting';
            SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                FROM facts_match_fitting(fits, terms, p_strict, p_broad, by_rank, named) m;
        ELSIF by_held THEN
            keyword_path := 'held';
            SELECT CASE WHEN any_term OR c.rare IS NULL THEN c.rare ELSE p_strict END INTO candidate_words
                FROM candidate_terms(p_terms, p_pool -> 'terms', greatest(tenant_rows, 1), budget) c;
            SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                FROM facts_match_held(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named, candidate_words, newest,
                                      time_filter) m;
        ELSIF is_small AND tenant_rows < table_rows / 8 THEN
            keyword_path := 'scan';
            SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                FROM facts_match_scan(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named) m;
        ELSE
            SELECT CASE WHEN any_term THEN c.rare WHEN coalesce(c.rare, c.joint) IS NOT NULL THEN p_strict END, c.joint
                INTO candidate_words, joint_words
                FROM candidate_terms(p_terms, p_pool -> 'terms', greatest(tenant_rows, 1), budget) c;
            IF candidate_words IS NOT NULL THEN
                keyword_path := 'index';
                SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                    FROM facts_match_index(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named,
                                           candidate_words, tenant_rows >= table_rows / 8, NULL, NULL) m;
            END IF;
            -- Too few rows contain a rare term: add rows that contain several frequent ones.
            IF any_term AND match_taken < p_limit AND joint_words IS NOT NULL AND tenant_rows >= table_rows / 8 THEN
                SELECT m.* INTO joined
                    FROM facts_match_index(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named,
                                           joint_words, true, candidate_words, most_joint) m;
                -- More rows than expected: read in the order of the table, the best are not among them. The newest are read instead.
                IF coalesce(cardinality(joined.places), 0) < most_joint THEN
                    keyword_path := concat_ws('+', keyword_path, 'joint');
                    matched := matched || joined.places;
                    ids := ids || joined.ids;
                    hits := hits || joined.hits;
                    lengths := lengths || joined.lengths;
                    standings := standings || joined.standings;
                    match_taken := match_taken + coalesce(cardinality(joined.places), 0);
                    candidate_words := coalesce(candidate_words || joint_words, joint_words);
                END IF;
            END IF;
            -- Still too few: add the newest rows that contain a single frequent term.
            IF match_taken < p_limit
               AND (candidate_words IS NULL OR joint_words IS NOT NULL OR numnode(candidate_words) < numnode(p_broad)) THEN
                keyword_path := concat_ws('+', keyword_path, 'newest');
                SELECT matched || n.more_places, ids || n.more_ids, hits || n.more_hits, lengths || n.more_lengths,
                       standings || n.more_standings, match_taken + coalesce(cardinality(n.more_places), 0)
                    INTO matched, ids, hits, lengths, standings, match_taken
                    FROM facts_match_newest(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named, newest, candidate_words)
                         AS n (more_places, more_ids, more_hits, more_lengths, more_standings);
            END IF;
            IF named <> '{}' THEN
                keyword_path := concat_ws('+', keyword_path, 'names');
                SELECT matched || array_agg(u.place), ids || array_agg(u.id), hits || array_agg(u.bits),
                       lengths || array_agg(u.length), standings || array_agg(u.standing), match_taken + count(*)
                    INTO matched, ids, hits, lengths, standings, match_taken
                    FROM (SELECT DISTINCT u.* FROM facts_match_named(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named) n,
                               unnest(n.places, n.ids, n.hits, n.lengths, n.standings) AS u (place, id, bits, length, standing)) u
                    LEFT JOIN unnest(matched) AS m (place) ON m.place = u.place
                    WHERE m.place IS NULL;
            END IF;
        END IF;
        weights := term_weights(p_terms, p_factors, hits, p_pool -> 'terms', greatest(tenant_rows, match_taken)) || name_weights;
        SELECT b.places, b.scores INTO matched, scores
            FROM best_matches(matched, ids, hits, lengths, standings, weights, near, distances, least_part, take) b;
    END IF;

    -- Both legs together: check, rank, show. Repeated at most twice, when a leg looks again at every row.
    LOOP
        WITH checked AS (
            SELECT r.id, r.ctid AS place, r.created_at, n.place IS NOT NULL AS is_near,
                   CASE WHEN r.embedding_version_id = p_version THEN coalesce(n.distance, r.embedding <=> p_query) END AS distance,
                   CASE WHEN m.score IS NOT NULL THEN m.score
                        WHEN by_score AND any_term THEN keyword_score(r.search_vector, terms, r.entity_id, r.object_entity_id, named, weights)
                   END AS score
            FROM unnest(near, distances) AS n (place, distance)
            FULL JOIN unnest(matched, scores) AS m (place, score) ON m.place = n.place
            JOIN facts r ON r.ctid = coalesce(n.place, m.place)
            WHERE (time_filter IS NOT NULL OR fact_is_active(r.validity))
              AND fact_holds(r.holds_from, r.holds_to, holding)
              AND (p_min <= 0 OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)
        ),
        -- the distance to a vector of zeros is not a number; a score of 0 is no match
        judged AS (
            SELECT c.id, c.place, c.created_at, c.is_near,
                   CASE WHEN c.distance <= 2 THEN c.distance END AS distance,
                   nullif(c.score, 0) AS score
            FROM checked c),
        standing AS (SELECT j.*, j.score AS standing FROM judged j),
        -- ties: the nearer first, then newer, then id
        placed AS (
            SELECT s.*,
                   row_number() OVER (ORDER BY is_pairs AND s.score IS NULL, s.distance, s.created_at DESC, s.id) AS near_place,
                   row_number() OVER (ORDER BY s.standing DESC NULLS LAST, s.distance, s.created_at DESC, s.id) AS match_place
            FROM standing s),
        ranked AS (
            SELECT p.place, p.distance, p.score,
                   count(*) FILTER (WHERE p.is_near AND p.distance IS NOT NULL) OVER () AS near_kept,
                   count(p.score) OVER () AS match_kept,
                   CASE WHEN p.distance IS NOT NULL AND p.near_place <= p_limit THEN p.near_place::integer END AS semantic_rank,
                   CASE WHEN p.score IS NOT NULL AND p.match_place <= p_limit THEN p.match_place::integer END AS keyword_rank
            FROM placed p),
        -- The fused score, unless the mode ranks by place. Both parts are scaled to 0..1: nearness among the candidates, the
        -- keyword score by the best one.
        scaled AS (
            SELECT s.*,
                   coalesce((max(s.distance) OVER () - s.distance) / nullif(max(s.distance) OVER () - min(s.distance) OVER (), 0),
                            (s.distance IS NOT NULL)::integer) AS nearness,
                   power(coalesce(s.score, 0) / greatest(max(s.score) OVER (), good_score), 1.5) AS wording
            FROM standing s
            WHERE by_score),
        summed AS (SELECT s.*, 0.5 * s.nearness + 0.5 * s.wording AS sum FROM scaled s),
        fused AS (SELECT s.*, s.sum AS fused, NULL::double precision AS session_part FROM summed s),
        best AS (SELECT f.* FROM fused f ORDER BY f.fused DESC, f.distance, f.created_at DESC, f.id LIMIT p_limit)
        SELECT array_agg(ROW(
                   'fact',
                   r.id,
                   1 - k.distance,
                   k.semantic_rank,
                   CASE WHEN k.keyword_rank IS NOT NULL
                        THEN ts_rank(r.search_vector, CASE WHEN r.search_vector @@ p_strict THEN p_strict ELSE p_broad END) END,
                   CASE WHEN k.keyword_rank IS NOT NULL THEN r.search_vector @@ p_strict END,
                   k.keyword_rank,
                   r.content,
                   r.subject,
                   r.predicate,
                   r.scope,
                   r.importance,
                   r.confidence,
                   r.decay_rate,
                   r.last_confirmed_at,
                   r.last_referenced_at,
                   r.created_at,
                   NULL::text,
                   NULL::double precision,
                   r.entity_id,
                   e.canonical_name::text,
                   NULL::uuid,
                   memory_is_fading(r.metadata),
                   jsonb_build_object('vector', vector_path, 'probes', probes, 'keyword', keyword_path, 'keyword_score', k.score,
                                      'named', ARRAY[r.entity_id, r.object_entity_id] && named,
                                      'dates', fact_dates_then(r.id, r.valid_from, r.valid_to, r.observed_at, r.dates, r.holds_from, r.holds_to, as_of),
                                      'parts', CASE WHEN by_score THEN jsonb_build_object(
                                          'score', b.fused, 'keyword', b.wording, 'semantic', b.nearness, 'session', b.session_part) END,
                                      'terms', CASE WHEN background THEN terms_in(r.search_vector, p_strict) END,
                                      'sharing', CASE WHEN background THEN fact_named(
                                          r.tenant_id, r.subject, r.entity_id, e.canonical_name, e.aliases, p_options ->> 'query') END)
               )::retrieved),
               coalesce(max(k.near_kept), 0),
               coalesce(max(k.match_kept), 0)
            INTO answer, near_kept, match_kept
            FROM ranked k
            LEFT JOIN best b ON b.place = k.place
            JOIN facts r ON r.ctid = k.place
            LEFT JOIN entities e ON e.id = r.entity_id
            WHERE CASE WHEN by_score THEN b.place IS NOT NULL
                       ELSE k.semantic_rank IS NOT NULL OR k.keyword_rank IS NOT NULL END;

        -- Too few candidates passed although there were more: test every row, whatever it costs.
        IF near_kept < p_limit AND vector_path IN ('exact', 'ann')
           AND (near_taken = take OR (probes > 0 AND near_taken < tenant_rows)) THEN
            vector_path := vector_path || '+all';
            SELECT array_agg(n.place), array_agg(n.distance) INTO near, distances
                FROM facts_near_all(p_tenant, p_scope, p_at, p_min, holding, p_version, p_query, take) n;
            CONTINUE;
        END IF;
        IF time_filter IS NULL AND match_kept < p_limit AND match_taken > take AND cardinality(matched) = take AND keyword_path NOT LIKE '%+all' THEN
            keyword_path := keyword_path || '+all';
            SELECT b.places, b.scores INTO matched, scores
                FROM facts_match_all(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named, p_at, p_min, holding) a,
                     best_matches(a.places, a.ids, a.hits, a.lengths, a.standings, weights, near, distances, least_part, take) b;
            CONTINUE;
        END IF;
        RETURN answer;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION facts_found FROM PUBLIC;
COMMENT ON FUNCTION facts_found IS 'The best p_limit facts of the semantic and of the keyword leg, with what a reader shows of them.';
