-- The date of an event that a query names, as in "before the move": the date of the only fact about it.
--
-- p_words: the words of the event, the most telling first. With p_all a fact has to contain all of them. Otherwise it has to
-- contain the first, and the others choose among several facts, as do the subjects that the query names. Runs as the owner,
-- see browse_facts.
CREATE OR REPLACE FUNCTION named_date(p_tenant text, p_scope text, p_query text, p_words text[], p_all boolean)
RETURNS TABLE (valid_from timestamptz, given text) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET client_min_messages = warning
AS $$
DECLARE
    terms constant text[] := query_terms(plainto_tsquery('pg_catalog.english', array_to_string(p_words, ' ')));
    -- More facts than this name no single date.
    most constant integer := 1000;
    found uuid[];
    fewer uuid[];
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'facts of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    found := ARRAY(
        SELECT f.id FROM facts f
        WHERE f.tenant_id = p_tenant AND f.valid_from IS NOT NULL AND f.validity IN ('active', 'superseded') AND NOT f.corrected
          AND f.holds_from < f.holds_to AND (p_scope IS NULL OR f.scope IN ('global', p_scope))
          AND f.search_vector @@ CASE WHEN p_all THEN all_of(terms) ELSE all_of(terms[1:1]) END
        LIMIT most);
    IF cardinality(found) >= most THEN
        RETURN;
    END IF;
    FOR place IN 2 .. cardinality(terms) LOOP
        EXIT WHEN cardinality(found) <= 1;
        fewer := ARRAY(SELECT f.id FROM facts f WHERE f.id = ANY (found) AND f.search_vector @@ terms[place]::tsquery);
        found := CASE WHEN fewer = '{}' THEN found ELSE fewer END;
    END LOOP;
    IF cardinality(found) > 1 THEN
        fewer := ARRAY(
            SELECT f.id FROM facts f LEFT JOIN entities e ON e.tenant_id = p_tenant AND e.id = f.entity_id
            WHERE f.id = ANY (found)
              AND (strpos(spaced_words(p_query), spaced_words(f.subject)) > 0
                   OR strpos(spaced_words(p_query), spaced_words(e.canonical_name)) > 0));
        found := CASE WHEN fewer = '{}' THEN found ELSE fewer END;
    END IF;
    RETURN QUERY
        SELECT f.valid_from, min(f.dates ->> 'valid_from') FROM facts f WHERE f.id = ANY (found) GROUP BY f.valid_from LIMIT 2;
END $$;
REVOKE EXECUTE ON FUNCTION named_date FROM PUBLIC;
GRANT EXECUTE ON FUNCTION named_date TO butler_app;
COMMENT ON FUNCTION named_date IS 'The dates of the facts that tell an event: one row if there is a single date, two if there are more.';
