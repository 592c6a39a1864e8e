-- facts_found for episodes. facts_found.sql explains how it works; a test keeps the files equal (tests/schema/families.rs).
-- The scope of an episode is its butler, and an episode has no confidence. Its session counts by its three best episodes.

CREATE OR REPLACE FUNCTION episodes_found(
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
    match_kept integer;
    time_filter constant jsonb := (p_options -> 'asked') || jsonb_build_object('holding', p_options -> 'holding');
    legs record;
    answer retrieved[];
BEGIN
    legs := episodes_legs(p_tenant, p_scope, p_at, p_version, p_query, p_strict, p_broad, p_terms, p_factors, p_limit, p_pool,
                         p_options);
    LOOP
        WITH checked AS (
            SELECT r.id, r.ctid AS place, r.created_at, coalesce(r.session_id, r.id) AS session, n.place IS NOT NULL AS is_near,
                   CASE WHEN r.embedding_version_id = p_version THEN coalesce(n.distance, r.embedding <=> p_query) END AS distance,
                   CASE WHEN m.score IS NOT NULL THEN m.score
                        WHEN by_score AND any_term THEN keyword_score(r.search_vector, terms, NULL, NULL, NULL, legs.weights)
                   END AS score
            FROM unnest(legs.near, legs.distances) AS n (place, distance)
            FULL JOIN unnest(legs.matched, legs.scores) AS m (place, score) ON m.place = n.place
            JOIN episodes r ON r.ctid = coalesce(n.place, m.place)
            WHERE (time_filter IS NOT NULL OR episode_is_alive(r.expires_at, p_at))
        ),
        judged AS (
            SELECT c.id, c.place, c.created_at, c.session, c.is_near,
                   CASE WHEN c.distance <= 2 THEN c.distance END AS distance,
                   nullif(c.score, 0) AS score
            FROM checked c),
        standing AS (
            SELECT j.*, j.score + CASE WHEN by_rank THEN 0 ELSE
                       0.1 * sum(j.score) FILTER (WHERE j.score_place <= 3) OVER (PARTITION BY j.session) END AS standing
            FROM (SELECT i.*, row_number() OVER (PARTITION BY i.session ORDER BY i.score DESC NULLS LAST) AS score_place
                  FROM judged i) j),
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
        scaled AS (
            SELECT s.*,
                   coalesce((max(s.distance) OVER () - s.distance) / nullif(max(s.distance) OVER () - min(s.distance) OVER (), 0),
                            (s.distance IS NOT NULL)::integer) AS nearness,
                   power(coalesce(s.score, 0) / greatest(max(s.score) OVER (), legs.good_score), 1.5) AS wording
            FROM standing s
            WHERE by_score),
        summed AS (SELECT s.*, 0.5 * s.nearness + 0.5 * s.wording AS sum FROM scaled s),
        fused AS (
            SELECT s.*, (s.sum + 0.1 * s.session_sum) / 1.3 AS fused, s.session_sum / 3 AS session_part
            FROM (SELECT i.*, sum(i.sum) FILTER (WHERE i.sum_place <= 3) OVER (PARTITION BY i.session) AS session_sum
                  FROM (SELECT h.*, row_number() OVER (PARTITION BY h.session ORDER BY h.sum DESC) AS sum_place
                        FROM summed h) i) s),
        best AS (SELECT f.* FROM fused f ORDER BY f.fused DESC, f.distance, f.created_at DESC, f.id LIMIT p_limit)
        SELECT array_agg(ROW(
                   'episode',
                   r.id,
                   1 - k.distance,
                   k.semantic_rank,
                   CASE WHEN k.keyword_rank IS NOT NULL
                        THEN ts_rank(r.search_vector, CASE WHEN r.search_vector @@ p_strict THEN p_strict ELSE p_broad END) END,
                   CASE WHEN k.keyword_rank IS NOT NULL THEN r.search_vector @@ p_strict END,
                   k.keyword_rank,
                   r.content,
                   NULL::text,
                   NULL::text,
                   r.butler,
                   r.importance,
                   NULL::double precision,
                   NULL::double precision,
                   NULL::timestamptz,
                   r.last_referenced_at,
                   r.created_at,
                   NULL::text,
                   NULL::double precision,
                   NULL::uuid,
                   NULL::text,
                   r.session_id,
                   false,
                   json_build_object('vector', legs.vector_path, 'probes', legs.probes,
                                     'keyword', legs.keyword_path, 'keyword_score', k.score, 'occurred_at', r.occurred_at, 'held', r.held_for IS NOT NULL,
                                     'parts', CASE WHEN by_score THEN json_build_object(
                                         'score', b.fused, 'keyword', b.wording, 'semantic', b.nearness, 'session', b.session_part) END,
                                     'terms', CASE WHEN background THEN terms_in(r.search_vector, p_strict) END)
               )::retrieved),
               coalesce(max(k.near_kept), 0),
               coalesce(max(k.match_kept), 0)
            INTO answer, near_kept, match_kept
            FROM ranked k
            LEFT JOIN best b ON b.place = k.place
            JOIN episodes r ON r.ctid = k.place
            WHERE CASE WHEN by_score THEN b.place IS NOT NULL
                       ELSE k.semantic_rank IS NOT NULL OR k.keyword_rank IS NOT NULL END;

        IF near_kept < p_limit AND legs.vector_path IN ('exact', 'ann')
           AND (legs.near_taken = legs.take OR (legs.probes > 0 AND legs.near_taken < tenant_rows)) THEN
            legs.vector_path := legs.vector_path || '+all';
            SELECT array_agg(n.place), array_agg(n.distance) INTO legs.near, legs.distances
                FROM episodes_near_all(p_tenant, p_scope, p_at, p_min, p_version, p_query, legs.take) n;
            CONTINUE;
        END IF;
        IF time_filter IS NULL AND match_kept < p_limit AND legs.match_taken > legs.take AND cardinality(legs.matched) = legs.take AND legs.keyword_path NOT LIKE '%+all' THEN
            legs.keyword_path := legs.keyword_path || '+all';
            SELECT b.places, b.scores INTO legs.matched, legs.scores
                FROM episodes_match_all(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, p_at, p_min) a,
                     best_matches(a.places, a.ids, a.hits, a.lengths, a.standings, legs.weights, legs.near, legs.distances, legs.is_pairs, legs.take) b;
            CONTINUE;
        END IF;
        RETURN answer;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION episodes_found FROM PUBLIC;
COMMENT ON FUNCTION episodes_found IS 'The best p_limit episodes of the semantic and of the keyword leg, with what a reader shows of them.';
