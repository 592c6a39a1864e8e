-- How good a keyword match is, as one number: a match of all terms above a match of any term, then by ts_rank. ts_rank
-- stays below 1, so the whole part tells which it was and no digit of the rank is lost.

CREATE OR REPLACE FUNCTION match_standing(vector tsvector, strict tsquery, broad tsquery) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN vector @@ broad THEN
               CASE WHEN vector @@ strict THEN 2 + ts_rank(vector, strict) ELSE ts_rank(vector, broad) END::double precision END
$$;
COMMENT ON FUNCTION match_standing IS 'How good a keyword match is: 2 + ts_rank with all terms, ts_rank with some, NULL with none.';

CREATE OR REPLACE FUNCTION candidate_standing(vector tsvector, strict tsquery, broad tsquery) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN vector @@ strict THEN 2 + ts_rank(vector, strict) ELSE ts_rank(vector, broad) END::double precision
$$;
COMMENT ON FUNCTION candidate_standing IS 'match_standing of a row that is known to contain some term.';
