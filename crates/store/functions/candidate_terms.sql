-- The terms of a query that are searched in the word index. rare: any of the rarest terms, as many as find no more rows than
-- the keyword leg can rank in a few milliseconds (p_budget). joint: several of the remaining, more frequent terms in the same
-- row; such rows are few, and the best matches of frequent terms. p_shares holds the frequent terms of the store; any other term
-- is rare. A small store has none: it ranks all matches.
CREATE OR REPLACE FUNCTION candidate_terms(
    p_terms text[], p_shares jsonb, p_rows double precision, p_budget double precision, OUT rare tsquery, OUT joint tsquery)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    next_term text;
    share double precision;
    expected double precision := 0;
    rare_terms text[] := '{}';
    others text[] := '{}';
    -- How many rows contain all of `others`, if terms were independent. Terms of one text are not, so there are usually more.
    together double precision := p_rows;
BEGIN
    IF coalesce(jsonb_typeof(p_shares), 'null') = 'null' THEN
        rare := any_of(p_terms);
        RETURN;
    END IF;
    FOR next_term, share IN
        SELECT t, coalesce((p_shares ->> term_lexeme(t))::double precision, 0.001) FROM unnest(p_terms) AS t ORDER BY 2, 1
    LOOP
        expected := expected + share * p_rows;
        IF expected <= (CASE WHEN rare_terms = '{}' AND others = '{}' THEN 1.5 ELSE 1 END) * p_budget THEN
            rare_terms := rare_terms || next_term;
        -- intersecting longer lists of rows takes the index too long
        ELSIF share * p_rows <= 10 * p_budget THEN
            others := others || next_term;
            together := together * share;
            IF cardinality(others) > 1 AND together <= p_budget / 4 THEN
                joint := all_of(others);
                EXIT;
            END IF;
        END IF;
    END LOOP;
    rare := any_of(rare_terms);
END $$;
COMMENT ON FUNCTION candidate_terms IS
    'Queries for the rarest terms and for several frequent terms in one row; NULL where they would find too many rows.';
