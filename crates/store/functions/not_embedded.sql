-- The facts and rules that consolidation cannot compare by vector: never embedded (inserted by SQL), or embedded by
-- another model than the batch's episodes (while re-embedding runs). They are ranked by the words they share with the
-- batch. Of each model, at most 2000 rows are read.

CREATE OR REPLACE FUNCTION batch_words(p_tenant text, p_episodes uuid[]) RETURNS tsquery LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT any_of(array_agg(quote_literal(replace(word, '\', '\\'))))
        FROM (SELECT w.word FROM episodes e, LATERAL unnest(tsvector_to_array(memory_search_vector(script_pairs(e.content)))) AS w (word)
              WHERE e.tenant_id = p_tenant AND e.id = ANY (p_episodes) AND octet_length(w.word) > 2
              GROUP BY w.word ORDER BY count(*) DESC, w.word LIMIT 300) words);
END $$;
REVOKE EXECUTE ON FUNCTION batch_words FROM PUBLIC;
COMMENT ON FUNCTION batch_words IS 'A query for the most frequent words of the episodes; NULL if they have none.';

CREATE OR REPLACE FUNCTION batch_version(p_tenant text, p_episodes uuid[]) RETURNS uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT e.embedding_version_id FROM episodes e
            WHERE e.tenant_id = p_tenant AND e.id = ANY (p_episodes) AND e.embedding IS NOT NULL
            GROUP BY e.embedding_version_id ORDER BY count(*) DESC, e.embedding_version_id LIMIT 1);
END $$;
REVOKE EXECUTE ON FUNCTION batch_version FROM PUBLIC;
COMMENT ON FUNCTION batch_version IS 'The model that embedded most of the episodes; NULL if none is embedded.';

CREATE OR REPLACE FUNCTION facts_not_embedded(p_tenant text, p_scope text, p_version uuid, p_words tsquery, p_take integer)
RETURNS TABLE (id uuid, place bigint) LANGUAGE plpgsql STABLE ROWS 40 AS $$
BEGIN
    RETURN QUERY
        SELECT n.id, row_number() OVER (ORDER BY n.rank DESC, n.created_at DESC, n.id)
        FROM (SELECT r.id, r.created_at,
                     coalesce(ts_rank(coalesce(r.search_vector, memory_search_vector(script_pairs(concat_ws(' ', r.subject, r.predicate, r.content)))),
                                      p_words), 0) AS rank
              FROM ((SELECT f.* FROM facts f
                     WHERE f.embedding_version_id IS NULL
                       AND f.tenant_id = p_tenant AND fact_is_active(f.validity) AND f.scope = ANY (ARRAY['global', p_scope])
                     ORDER BY f.id DESC LIMIT 2000)
                    UNION ALL
                    SELECT other.* FROM embedding_versions v,
                    LATERAL (SELECT f.* FROM facts f
                             WHERE f.embedding_version_id = v.id
                               AND f.tenant_id = p_tenant AND fact_is_active(f.validity) AND f.scope = ANY (ARRAY['global', p_scope])
                             ORDER BY f.id DESC LIMIT 2000) other
                    WHERE v.tenant_id = p_tenant AND v.id IS DISTINCT FROM p_version) r) n
        ORDER BY 2 LIMIT p_take;
END $$;
REVOKE EXECUTE ON FUNCTION facts_not_embedded FROM PUBLIC;
COMMENT ON FUNCTION facts_not_embedded IS 'Active facts without a vector of this model, those with the words first.';

CREATE OR REPLACE FUNCTION rules_not_embedded(p_tenant text, p_scope text, p_version uuid, p_words tsquery, p_take integer)
RETURNS TABLE (id uuid, place bigint) LANGUAGE plpgsql STABLE ROWS 40 AS $$
BEGIN
    RETURN QUERY
        SELECT n.id, row_number() OVER (ORDER BY n.rank DESC, n.created_at DESC, n.id)
        FROM (SELECT r.id, r.created_at,
                     coalesce(ts_rank(coalesce(r.search_vector, memory_search_vector(script_pairs(r.content))), p_words), 0) AS rank
              FROM rules r
              WHERE r.tenant_id = p_tenant AND rule_is_remembered(r.metadata) AND r.scope = ANY (ARRAY['global', p_scope])
                AND (p_version IS NULL OR r.embedding_version_id IS DISTINCT FROM p_version)
              ORDER BY r.created_at DESC, r.id LIMIT 2000) n
        ORDER BY 2 LIMIT p_take;
END $$;
REVOKE EXECUTE ON FUNCTION rules_not_embedded FROM PUBLIC;
COMMENT ON FUNCTION rules_not_embedded IS 'Rules without a vector of this model, those with the words first.';
