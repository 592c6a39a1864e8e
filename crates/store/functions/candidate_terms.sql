-- Which terms of a query the word index is asked for: the rarest, as long as together they find no more rows than the
-- keyword leg can rank in a few milliseconds (p_budget). Of the frequent terms that are left out, the index is asked for the
-- rows that contain several of them: they are the best matches, and far fewer. p_shares holds the frequent terms of the
-- store; any other term is rare.
-- plpgsql, because an SQL function that cannot be inlined is prepared again in each statement that calls it.
CREATE OR REPLACE FUNCTION candidate_terms(p_terms text[], p_shares jsonb, p_rows double precision, p_budget double precision)
RETURNS tsquery LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (
        WITH expected AS (
            SELECT e.term, e.share,
                   sum(e.share * p_rows) OVER (ORDER BY e.share, e.term) AS found,
                   row_number() OVER (ORDER BY e.share, e.term) AS place
            FROM (SELECT term, coalesce((p_shares ->> term_lexeme(term))::double precision, 0.001) AS share
                  FROM unnest(p_terms) AS term) e),
        chosen AS (SELECT e.*, e.found <= CASE WHEN e.place = 1 THEN 1.5 * p_budget ELSE p_budget END AS is_rare FROM expected e),
        -- how many rows contain this term and the rarer ones of those left out, if terms were independent
        joined AS (
            SELECT c.term, c.place, row_number() OVER terms AS number, p_rows * exp(sum(ln(c.share)) OVER terms) AS found
            FROM chosen c WHERE NOT c.is_rare AND c.share > 0
            WINDOW terms AS (ORDER BY c.place)),
        enough AS (SELECT min(j.number) AS number FROM joined j WHERE j.number > 1 AND j.found <= p_budget)
        SELECT concat_ws(' | ',
            (SELECT string_agg(c.term, ' | ') FROM chosen c WHERE c.is_rare),
            (SELECT '(' || string_agg(j.term, ' & ') || ')' FROM joined j, enough WHERE j.number <= enough.number))::tsquery
        WHERE EXISTS (SELECT FROM chosen c WHERE c.is_rare) OR (SELECT number FROM enough) IS NOT NULL);
END $$;
COMMENT ON FUNCTION candidate_terms IS
    'A query for the rarest terms, or for several frequent ones together; NULL when each of these finds too many rows.';
