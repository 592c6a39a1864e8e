-- How good a keyword match is.
--
-- The keyword leg is ordered by the keyword score: the rarity of the terms that a memory contains, divided by its length.
--
--     sum of ln((N + 1) / (df + 0.5)) over the terms it contains / sqrt(max(1, words / 40))
--
-- N is the number of the tenant's memories, df the number of those that contain the term. How often a memory repeats a
-- term does not count. Mode `keyword` is ordered by ts_rank instead (match_standing).
--
-- The hits of a row are a bit mask: one bit for each term of the query that it contains, then one for each entity that the
-- query names (named_entities). So rows with the same hits are weighed once.

-- A search vector that is stored apart or compressed would be unpacked again for every term. STABLE, like pg_column_size:
-- otherwise PostgreSQL would not inline it.
CREATE OR REPLACE FUNCTION unpacked(vector tsvector) RETURNS tsvector LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN pg_column_size(vector) > 1900 THEN strip(vector) ELSE vector END $$;
COMMENT ON FUNCTION unpacked IS 'The search vector, unpacked if it is large. The positions of its words may be lost.';

-- Written out, because a subquery per row takes five times as long. PostgreSQL inlines it, and term_hits.
CREATE OR REPLACE FUNCTION eight_hits(vector tsvector, terms tsquery[], first integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN terms[first] IS NULL THEN 0 ELSE
               CASE WHEN vector @@ terms[first] THEN 1 ELSE 0 END
             + CASE WHEN vector @@ terms[first + 1] THEN 2 ELSE 0 END
             + CASE WHEN vector @@ terms[first + 2] THEN 4 ELSE 0 END
             + CASE WHEN vector @@ terms[first + 3] THEN 8 ELSE 0 END
             + CASE WHEN vector @@ terms[first + 4] THEN 16 ELSE 0 END
             + CASE WHEN vector @@ terms[first + 5] THEN 32 ELSE 0 END
             + CASE WHEN vector @@ terms[first + 6] THEN 64 ELSE 0 END
             + CASE WHEN vector @@ terms[first + 7] THEN 128 ELSE 0 END END::bigint
$$;
COMMENT ON FUNCTION eight_hits IS 'Which of eight terms a search vector contains, as bits.';

CREATE OR REPLACE FUNCTION further_hits(vector tsvector, terms tsquery[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$ BEGIN RETURN (SELECT coalesce(bit_or(1::bigint << (n - 1)::integer), 0)
                    FROM unnest(terms) WITH ORDINALITY AS t (term, n) WHERE n > 16 AND vector @@ t.term); END $$;
COMMENT ON FUNCTION further_hits IS 'Which of the terms from the 17th on a search vector contains, as bits.';

CREATE OR REPLACE FUNCTION term_hits(vector tsvector, terms tsquery[]) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT eight_hits(vector, terms, 1)
         | (eight_hits(vector, terms, 9) << 8)
         | CASE WHEN terms[17] IS NULL THEN 0 ELSE further_hits(vector, terms) END
$$;
COMMENT ON FUNCTION term_hits IS 'Which terms a search vector contains, as bits.';

CREATE OR REPLACE FUNCTION name_hit(entity uuid, object uuid, named uuid[], terms integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN entity IS NULL THEN 0 ELSE coalesce(1::bigint << (terms - 1 + array_position(named, entity)), 0) END
         | CASE WHEN object IS NULL THEN 0 ELSE coalesce(1::bigint << (terms - 1 + array_position(named, object)), 0) END
$$;
COMMENT ON FUNCTION name_hit IS 'The bits of the named entities at both ends of a fact; 0 if it is about none of them.';

-- A frequent term is found in a sample (p_shares, see memory_pool). All rows with a rare term are among the candidates, so
-- it is counted there.
--
-- A guessed term (near_words) weighs less than every term that some candidate contains as typed: what was typed is certain. A
-- term that most rows contain says nothing, so it limits no guess.
CREATE OR REPLACE FUNCTION term_weights(
    p_terms text[], p_factors double precision[], p_hits bigint[], p_shares jsonb, p_rows double precision)
RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    -- the factor of words that only phrase a question (memory_retrieve); a guess has a larger one
    asking constant double precision := 0.1;
BEGIN
    RETURN ARRAY(
        WITH counted AS MATERIALIZED (SELECT h.hits, count(*) AS rows FROM unnest(p_hits) AS h (hits) GROUP BY h.hits)
        SELECT t.factor * CASE WHEN t.factor > asking AND t.factor < 1
                               THEN least(t.rarity, min(t.rarity) FILTER (WHERE t.factor = 1 AND t.found > 0
                                                                                AND t.rows <= p_rows / 2) OVER ())
                               ELSE t.rarity END
        FROM (SELECT r.n, p_factors[r.n] AS factor, r.found, r.rows,
                     greatest(0.01, ln((p_rows + 1) / (0.5 + r.rows))) AS rarity
              FROM (SELECT n, c.found,
                           greatest(c.found, p_rows * coalesce((p_shares ->> term_lexeme(p_terms[n]))::double precision, 0)) AS rows
                    FROM generate_series(1, cardinality(p_terms)) AS n,
                         LATERAL (SELECT coalesce(sum(c.rows), 0)::double precision AS found FROM counted c
                                  WHERE c.hits & (1::bigint << (n - 1)) <> 0) c) r) t
        ORDER BY t.n);
END $$;
COMMENT ON FUNCTION term_weights IS
    'What each term of the query adds to a keyword score. p_factors: less than 1 for a guessed term. p_hits: of all candidates.';

-- p_standings replace the scores in mode `keyword`. Of rows with equal scores the nearer comes first: what is not among
-- the nearest of the semantic leg is further away than all of those. p_is_pairs: the query consists of pairs of characters.
-- Texts share a few of those by chance, so a row needs half of the best score.
CREATE OR REPLACE FUNCTION best_matches(
    p_places tid[], p_ids uuid[], p_hits bigint[], p_lengths integer[], p_standings double precision[],
    p_weights double precision[], p_near tid[], p_distances double precision[], p_is_pairs boolean, p_take integer,
    OUT places tid[], OUT scores double precision[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    standings constant double precision[] := CASE WHEN p_standings[1] IS NOT NULL THEN p_standings END;
BEGIN
    -- Few rows differ in their hits, so each combination is weighed once. Subscripts, because unnest copies every array.
    SELECT array_agg(b.place), array_agg(b.score) INTO places, scores
    FROM (SELECT p_places[m.i] AS place, m.score
          FROM (SELECT i, coalesce(standings[i], k.weight
                                   / CASE WHEN p_lengths[i] > 40 THEN sqrt(p_lengths[i] / 40.0::double precision) ELSE 1 END) AS score
                FROM generate_subscripts(p_places, 1) AS i
                LEFT JOIN (SELECT h.hits, sum(w.weight) AS weight
                           FROM (SELECT DISTINCT hits FROM unnest(p_hits) AS u (hits)) h
                           JOIN unnest(p_weights) WITH ORDINALITY AS w (weight, n)
                                ON h.hits & (1::bigint << (w.n - 1)::integer) <> 0
                           GROUP BY h.hits) k ON k.hits = p_hits[i]) m
          LEFT JOIN unnest(p_near, p_distances) AS n (place, distance) ON n.place = p_places[m.i]
          ORDER BY m.score DESC NULLS LAST, n.distance, p_ids[m.i] DESC LIMIT p_take) b;
    IF p_is_pairs THEN
        SELECT array_agg(b.place), array_agg(b.score) INTO places, scores
        FROM unnest(places, scores) AS b (place, score) WHERE b.score >= 0.5 * scores[1];
    END IF;
END $$;
COMMENT ON FUNCTION best_matches IS 'The best p_take keyword matches with their scores.';

CREATE OR REPLACE FUNCTION keyword_score(
    p_vector tsvector, p_terms tsquery[], p_entity uuid, p_object uuid, p_named uuid[], p_weights double precision[])
RETURNS double precision LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    hits constant bigint := term_hits(p_vector, p_terms) | name_hit(p_entity, p_object, p_named, cardinality(p_terms));
BEGIN
    RETURN (SELECT coalesce(sum(w.weight), 0)
            FROM unnest(p_weights) WITH ORDINALITY AS w (weight, n) WHERE hits & (1::bigint << (w.n - 1)::integer) <> 0)
           / sqrt(greatest(1, length(p_vector) / 40.0));
END $$;
COMMENT ON FUNCTION keyword_score IS 'The keyword score of a single row, for one that the keyword leg did not take.';

CREATE OR REPLACE FUNCTION match_standing(vector tsvector, strict tsquery, broad tsquery) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN vector @@ strict THEN 2 + ts_rank(vector, strict) ELSE ts_rank(vector, broad) END::double precision
$$;
COMMENT ON FUNCTION match_standing IS
    'The order of mode `keyword`: matches of all terms (2 + ts_rank, which stays below 1) before matches of some (ts_rank).';
