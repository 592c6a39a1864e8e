-- The search over facts: a semantic leg (nearest vectors) and a keyword leg (full-text matches), each with its best
-- p_limit rows; in the modes that fuse scores, the best p_limit rows of both. rules_found and episodes_found are the same
-- function for the other tables; a test keeps the three equal (tests/schema/families.rs), so change facts_found first.
--
-- Each leg works in two steps, because reading a row's columns behind its vector costs more than comparing the vector:
-- 1. Take a few more candidates than needed by the indexed columns alone (facts_legs.sql).
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
    by_rank constant boolean := p_options ->> 'mode' = 'keyword';
    by_score constant boolean := p_options ->> 'mode' IN ('fused', 'deep');
    any_term constant boolean := (p_options ->> 'any_term')::boolean;
    background constant boolean := (p_options ->> 'background')::boolean;
    terms constant tsquery[] := p_terms::tsquery[];
    tenant_rows constant double precision := (p_pool ->> 'rows')::double precision;
    near_kept integer;
    -- The text of a JSON array of ids or numbers becomes that of an SQL array. A subquery would be a statement of its own.
    named constant uuid[] := coalesce(translate(p_options ->> 'named', '[]', '{}'), '{}');
    match_kept integer;
    time_filter constant jsonb := (p_options -> 'asked') || jsonb_build_object('holding', p_options -> 'holding');
    as_of constant timestamptz := time_filter ->> 'as_of';
    holding constant timestamptz := CASE WHEN time_filter IS NULL AND (p_options ->> 'holding')::boolean THEN p_at END;
    legs record;
    answer retrieved[];
BEGIN
    legs := facts_legs(p_tenant, p_scope, p_at, p_version, p_query, p_strict, p_broad, p_terms, p_factors, p_limit, p_pool,
                      p_options);

    -- Both legs together: check, rank, show. Repeated at most twice, when a leg looks again at every row.
    LOOP
        WITH checked AS (
            SELECT r.id, r.ctid AS place, r.created_at, n.place IS NOT NULL AS is_near,
                   CASE WHEN r.embedding_version_id = p_version THEN coalesce(n.distance, r.embedding <=> p_query) END AS distance,
                   CASE WHEN m.score IS NOT NULL THEN m.score
                        WHEN by_score AND any_term THEN keyword_score(r.search_vector, terms, r.entity_id, r.object_entity_id, named, legs.weights)
                   END AS score
            FROM unnest(legs.near, legs.distances) AS n (place, distance)
            FULL JOIN unnest(legs.matched, legs.scores) AS m (place, score) ON m.place = n.place
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
        -- Ties: the nearer first, then newer, then id. The model hardly understands the scripts that are searched by pairs of
        -- characters, so a row that is only near comes after those that also share a pair.
        placed AS (
            SELECT s.*,
                   row_number() OVER (ORDER BY legs.is_pairs AND s.score IS NULL, s.distance, s.created_at DESC, s.id) AS near_place,
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
                   power(coalesce(s.score, 0) / greatest(max(s.score) OVER (), legs.good_score), 1.5) AS wording
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
                   json_build_object('vector', legs.vector_path, 'probes', legs.probes,
                                     'keyword', legs.keyword_path, 'keyword_score', k.score,
                                     'named', ARRAY[r.entity_id, r.object_entity_id] && named,
                                     'dates', fact_dates_then(r.id, r.valid_from, r.valid_to, r.observed_at, r.dates, r.holds_from, r.holds_to, as_of),
                                     'parts', CASE WHEN by_score THEN json_build_object(
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
        IF near_kept < p_limit AND legs.vector_path IN ('exact', 'ann')
           AND (legs.near_taken = legs.take OR (legs.probes > 0 AND legs.near_taken < tenant_rows)) THEN
            legs.vector_path := legs.vector_path || '+all';
            SELECT array_agg(n.place), array_agg(n.distance) INTO legs.near, legs.distances
                FROM facts_near_all(p_tenant, p_scope, p_at, p_min, holding, p_version, p_query, legs.take) n;
            CONTINUE;
        END IF;
        IF time_filter IS NULL AND match_kept < p_limit AND legs.match_taken > legs.take AND cardinality(legs.matched) = legs.take AND legs.keyword_path NOT LIKE '%+all' THEN
            legs.keyword_path := legs.keyword_path || '+all';
            SELECT b.places, b.scores INTO legs.matched, legs.scores
                FROM facts_match_all(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named, p_at, p_min, holding) a,
                     best_matches(a.places, a.ids, a.hits, a.lengths, a.standings, legs.weights, legs.near, legs.distances, legs.is_pairs, legs.take) b;
            CONTINUE;
        END IF;
        RETURN answer;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION facts_found FROM PUBLIC;
COMMENT ON FUNCTION facts_found IS 'The best p_limit facts of the semantic and of the keyword leg, with what a reader shows of them.';
