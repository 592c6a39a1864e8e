-- Which terms of a query the word index is asked for: the rarest, as long as together they find no more rows than the
-- keyword leg can rank in a few milliseconds. p_shares holds the frequent terms of the store; any other term is rare.
-- plpgsql, because an SQL function that cannot be inlined is prepared again in each statement that calls it.
CREATE OR REPLACE FUNCTION candidate_terms(p_terms text[], p_shares jsonb, p_rows double precision, p_budget double precision)
RETURNS tsquery LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (
        WITH expected AS (
            SELECT term, coalesce((p_shares ->> term_lexeme(term))::double precision, 0.001) * p_rows AS hits
            FROM unnest(p_terms) AS term),
        rarest_first AS (
            SELECT e.term,
                   sum(e.hits) OVER (ORDER BY e.hits, e.term) AS found,
                   row_number() OVER (ORDER BY e.hits, e.term) AS place
            FROM expected e)
        SELECT array_to_string(array_agg(r.term), ' | ')::tsquery
        FROM rarest_first r
        WHERE r.found <= CASE WHEN r.place = 1 THEN 1.5 * p_budget ELSE p_budget END);
END $$;
COMMENT ON FUNCTION candidate_terms IS 'A query for the rarest terms; NULL when even the rarest finds too many rows.';
