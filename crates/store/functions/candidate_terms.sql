-- The terms of a query that are searched in the word index. rare: any of the rarest terms, as many as find no more rows than
-- the keyword leg can rank in a few milliseconds (p_budget). joint: several of the remaining, more frequent terms in the same
-- row; such rows are few, and the best matches of frequent terms. p_shares holds the frequent terms of the store; any other term is rare.
-- plpgsql, because an SQL function that cannot be inlined is prepared again in each statement that calls it.
CREATE OR REPLACE FUNCTION candidate_terms(
    p_terms text[], p_shares jsonb, p_rows double precision, p_budget double precision, OUT rare tsquery, OUT joint tsquery)
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    WITH expected AS (
        SELECT e.term, e.share,
               sum(e.share * p_rows) OVER (ORDER BY e.share, e.term) AS found,
               row_number() OVER (ORDER BY e.share, e.term) AS place
        FROM (SELECT term, coalesce((p_shares ->> term_lexeme(term))::double precision, 0.001) AS share
              FROM unnest(p_terms) AS term) e),
    chosen AS (SELECT e.*, e.found <= CASE WHEN e.place = 1 THEN 1.5 * p_budget ELSE p_budget END AS is_rare FROM expected e),
    -- How many rows contain this term and the rarer ones of the others, if terms were independent. Terms of one text are
    -- not, so there are usually more.
    others AS (
        SELECT c.term, row_number() OVER by_place AS number, p_rows * exp(sum(ln(c.share)) OVER by_place) AS found
        -- intersecting longer lists of rows takes the index too long
        FROM chosen c WHERE NOT c.is_rare AND c.share * p_rows <= 10 * p_budget
        WINDOW by_place AS (ORDER BY c.place)),
    enough AS (SELECT min(o.number) AS number FROM others o WHERE o.number > 1 AND o.found <= p_budget / 4)
    SELECT (SELECT string_agg(c.term, ' | ')::tsquery FROM chosen c WHERE c.is_rare),
           (SELECT string_agg(o.term, ' & ')::tsquery FROM others o, enough WHERE o.number <= enough.number)
        INTO rare, joint;
END $$;
COMMENT ON FUNCTION candidate_terms IS
    'Queries for the rarest terms and for several frequent terms in one row; NULL where they would find too many rows.';
