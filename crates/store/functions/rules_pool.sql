-- What a search must know about a tenant's rules. facts_pool.sql explains how it works; a test keeps the files equal (tests/schema/families.rs).

CREATE OR REPLACE FUNCTION rules_count(p_tenant text, p_scope text, p_most integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_scope IS NULL THEN
        RETURN (SELECT count(*)
                FROM (SELECT
                      FROM rules r
                      WHERE r.tenant_id = p_tenant
                      LIMIT p_most) counted);
    END IF;
    RETURN (SELECT count(*)
            FROM (SELECT
                  FROM rules r
                  WHERE r.tenant_id = p_tenant
                    AND r.scope = ANY (ARRAY['global', p_scope])
                  LIMIT p_most) counted);
END $$;
REVOKE EXECUTE ON FUNCTION rules_count FROM PUBLIC;
COMMENT ON FUNCTION rules_count IS 'How many rules there are to search, at most p_most.';

CREATE OR REPLACE FUNCTION rules_sample(
    p_tenant text, p_scope text, p_percent double precision, p_newest integer, OUT share double precision, OUT terms jsonb)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT avg((r.tenant_id = p_tenant
                AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope])))::integer)
        INTO share FROM rules r TABLESAMPLE SYSTEM (p_percent) REPEATABLE (0);
    WITH sample AS MATERIALIZED (
        (SELECT r.search_vector
         FROM rules r TABLESAMPLE SYSTEM (p_percent) REPEATABLE (0)
         WHERE r.tenant_id = p_tenant
           AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope])))
        UNION ALL
        (SELECT r.search_vector
         FROM rules r
         WHERE r.tenant_id = p_tenant
           AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
         ORDER BY r.created_at DESC LIMIT p_newest)),
    counted AS (
        SELECT t.term, count(*) AS hits
        FROM sample, LATERAL unnest(tsvector_to_array(search_vector)) AS t (term)
        GROUP BY t.term HAVING count(*) >= 3 ORDER BY count(*) DESC, t.term LIMIT 400)
    SELECT coalesce(jsonb_object_agg(c.term, round(c.hits::numeric / greatest(1, (SELECT count(*) FROM sample)), 4)), '{}')
        INTO terms FROM counted c;
END $$;
REVOKE EXECUTE ON FUNCTION rules_sample FROM PUBLIC;
COMMENT ON FUNCTION rules_sample IS
    'share: the part of the table that is this tenant''s. terms: the frequent terms, each with the share of rows that contain it.';

CREATE OR REPLACE FUNCTION rules_background(
    p_tenant text, p_scope text, p_at timestamptz, p_version uuid, p_query vector, p_strict tsquery, p_rows double precision)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        WITH sample AS MATERIALIZED (
            SELECT r.search_vector, cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version) AS cosine
            FROM rules r
            WHERE r.tenant_id = p_tenant
              AND rule_is_remembered(r.metadata)
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
REVOKE EXECUTE ON FUNCTION rules_background FROM PUBLIC;
COMMENT ON FUNCTION rules_background IS 'How similar the newest rules are to the query, and how many rules contain each of its terms.';
