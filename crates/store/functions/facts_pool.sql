-- What a search must know about a tenant's facts: how many there are, which terms are frequent, and what an unrelated
-- fact looks like. rules_pool.sql and episodes_pool.sql are the same for the other tables; a test keeps the three equal
-- (tests/schema/families.rs).

-- An index scan that stops at p_most. Two statements, because a condition "p_scope IS NULL OR …" could not use an index.
CREATE OR REPLACE FUNCTION facts_count(p_tenant text, p_scope text, p_most integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$
DECLARE
    active constant text := 'active';
BEGIN
    IF p_scope IS NULL THEN
        RETURN (SELECT count(*)
                FROM (SELECT
                      FROM facts r
                      WHERE r.tenant_id = p_tenant
                        AND r.validity = active
                      LIMIT p_most) counted);
    END IF;
    RETURN (SELECT count(*)
            FROM (SELECT
                  FROM facts r
                  WHERE r.tenant_id = p_tenant
                    AND r.validity = active
                    AND r.scope = ANY (ARRAY['global', p_scope])
                  LIMIT p_most) counted);
END $$;
REVOKE EXECUTE ON FUNCTION facts_count FROM PUBLIC;
COMMENT ON FUNCTION facts_count IS 'How many facts there are to search, at most p_most.';

-- Looks at some pages of the table (p_percent) and at the newest rows of the tenant.
CREATE OR REPLACE FUNCTION facts_sample(
    p_tenant text, p_scope text, p_percent double precision, p_newest integer, OUT share double precision, OUT terms jsonb)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT avg((r.tenant_id = p_tenant
                AND fact_is_active(r.validity || '')
                AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope])))::integer)
        INTO share FROM facts r TABLESAMPLE SYSTEM (p_percent) REPEATABLE (0);
    WITH sample AS MATERIALIZED (
        (SELECT r.search_vector
         FROM facts r TABLESAMPLE SYSTEM (p_percent) REPEATABLE (0)
         WHERE r.tenant_id = p_tenant
           AND fact_is_active(r.validity || '')
           AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope])))
        UNION ALL
        (SELECT r.search_vector
         FROM facts r
         WHERE r.tenant_id = p_tenant
           AND fact_is_active(r.validity || '')
           AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
         ORDER BY r.created_at DESC LIMIT p_newest)),
    counted AS (
        SELECT t.term, count(*) AS hits
        FROM sample, LATERAL unnest(tsvector_to_array(search_vector)) AS t (term)
        GROUP BY t.term HAVING count(*) >= 3 ORDER BY count(*) DESC, t.term LIMIT 400)
    SELECT coalesce(jsonb_object_agg(c.term, round(c.hits::numeric / greatest(1, (SELECT count(*) FROM sample)), 4)), '{}')
        INTO terms FROM counted c;
END $$;
REVOKE EXECUTE ON FUNCTION facts_sample FROM PUBLIC;
COMMENT ON FUNCTION facts_sample IS
    'share: the part of the table that is this tenant''s. terms: the frequent terms, each with the share of rows that contain it.';

-- What domain::relevance compares a match with: how similar the newest rows are to the query, and how many contain each
-- of its terms. p_rows: how many facts the tenant has, to which the sample is scaled up.
CREATE OR REPLACE FUNCTION facts_background(
    p_tenant text, p_scope text, p_at timestamptz, p_version uuid, p_query vector, p_strict tsquery, p_rows double precision)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        WITH sample AS MATERIALIZED (
            SELECT r.search_vector, cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version) AS cosine
            FROM facts r
            WHERE r.tenant_id = p_tenant
              AND fact_is_active(r.validity)
              AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
            ORDER BY r.created_at DESC, r.id LIMIT 2000),
        counted AS (
            SELECT term_lexeme(t.term) AS term,
                   count(s.search_vector) * greatest(1, p_rows / greatest(1, (SELECT count(*) FROM sample))) AS holders
            FROM unnest(query_terms(p_strict)) AS t (term)
            LEFT JOIN sample s ON s.search_vector @@ t.term::tsquery
            GROUP BY t.term)
        SELECT jsonb_build_object(
                   'rows', greatest(p_rows, (SELECT count(*) FROM sample)),
                   'compared', count(cosine),
                   'mean', avg(cosine),
                   'deviation', stddev_pop(cosine),
                   'terms', (SELECT coalesce(jsonb_object_agg(term, holders), '{}') FROM counted))
        FROM sample);
END $$;
REVOKE EXECUTE ON FUNCTION facts_background FROM PUBLIC;
COMMENT ON FUNCTION facts_background IS 'How similar the newest facts are to the query, and how many facts contain each of its terms.';
