-- The conversations whose episodes a context compares with the prompt (episodes_deep): those of the best p_limit candidates.
-- A candidate counts by the sum of its nearness and its wording, as in `fused`, but simpler: 0 for a leg that did not find it,
-- and nothing for its conversation. Unlike a search, this does not look again at every row if most candidates have expired or
-- have vectors of another model. The parameters are those of facts_found.
CREATE OR REPLACE FUNCTION related_sessions(
    p_tenant text, p_scope text, p_at timestamptz, p_version uuid, p_query vector, p_strict tsquery, p_broad tsquery,
    p_terms text[], p_factors double precision[], p_limit integer, p_pool jsonb, p_options jsonb)
RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    legs record;
BEGIN
    -- Mode `keyword` would order the matches by ts_rank. The mode of a context is for its facts and rules.
    legs := episodes_legs(p_tenant, p_scope, p_at, p_version, p_query, p_strict, p_broad, p_terms, p_factors, p_limit, p_pool,
                          p_options || '{"mode": "fused"}');
    RETURN coalesce((
        SELECT array_agg(DISTINCT b.session)
        FROM (SELECT c.session
              FROM (SELECT r.id, r.occurred_at, coalesce(r.session_id, r.id) AS session, m.score,
                           CASE WHEN r.embedding_version_id = p_version AND n.distance <= 2 THEN n.distance END AS distance
                    FROM unnest(legs.near, legs.distances) AS n (place, distance)
                    FULL JOIN unnest(legs.matched, legs.scores) AS m (place, score) ON m.place = n.place
                    JOIN episodes r ON r.ctid = coalesce(n.place, m.place)
                    WHERE episode_is_alive(r.expires_at, p_at)) c
              WHERE c.distance IS NOT NULL OR c.score > 0
              ORDER BY coalesce((max(c.distance) OVER () - c.distance)
                                / nullif(max(c.distance) OVER () - min(c.distance) OVER (), 0), (c.distance IS NOT NULL)::integer)
                       + power(coalesce(c.score, 0) / greatest(max(c.score) OVER (), legs.good_score), 1.5) DESC,
                       c.occurred_at DESC, c.id
              LIMIT p_limit) b), '{}');
END $$;
REVOKE EXECUTE ON FUNCTION related_sessions FROM PUBLIC;
COMMENT ON FUNCTION related_sessions IS 'The conversations whose episodes a context compares with the prompt.';
