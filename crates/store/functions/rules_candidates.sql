-- The candidates of rules_legs. facts_candidates.sql explains how it works; a test keeps the files equal (tests/schema/families.rs).

CREATE OR REPLACE FUNCTION rules_near_probed(p_tenant text, p_scope text, p_query vector, p_take integer)
RETURNS TABLE (id uuid, place tid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 SET enable_sort = off AS $$
BEGIN
    RETURN QUERY
        SELECT r.id, r.ctid, r.embedding <=> p_query
        FROM rules r
        WHERE r.tenant_id = p_tenant
          AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
        ORDER BY r.embedding <=> p_query LIMIT p_take;
END $$;
REVOKE EXECUTE ON FUNCTION rules_near_probed FROM PUBLIC;
COMMENT ON FUNCTION rules_near_probed IS 'The nearest rules by the approximate vector index.';

CREATE OR REPLACE FUNCTION rules_near_all(
    p_tenant text, p_scope text, p_at timestamptz, p_min double precision, p_version uuid, p_query vector, p_take integer)
RETURNS TABLE (place tid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $$
BEGIN
    RETURN QUERY
        SELECT n.place, n.distance
        FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
              FROM rules r
              WHERE r.tenant_id = p_tenant
                AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                AND r.embedding IS NOT NULL
                AND r.embedding_version_id = p_version
                AND rule_is_remembered(r.metadata)
                AND (p_min <= 0 OR r.maturity = 'anti_pattern' OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)
              OFFSET 0) n
        ORDER BY n.distance, n.id LIMIT p_take;
END $$;
REVOKE EXECUTE ON FUNCTION rules_near_all FROM PUBLIC;
COMMENT ON FUNCTION rules_near_all IS 'The nearest rules that pass every test, by comparing all of the tenant''s.';

-- IS TRUE keeps the planner from the word index, which covers all tenants: this is for a tenant with a small part of the table.
CREATE OR REPLACE FUNCTION rules_match_scan(
    p_tenant text, p_scope text, p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean,
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT array_agg(m.place), array_agg(m.id),
           array_agg(term_hits(m.words, p_terms)),
           array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
        INTO places, ids, hits, lengths, standings
        FROM (SELECT r.ctid AS place, r.id, r.search_vector, unpacked(r.search_vector) AS words
              FROM rules r
              WHERE r.tenant_id = p_tenant
                AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                AND (r.search_vector @@ p_broad) IS TRUE
              OFFSET 0) m;
END $$;
REVOKE EXECUTE ON FUNCTION rules_match_scan FROM PUBLIC;
COMMENT ON FUNCTION rules_match_scan IS 'Keyword matches by reading all of the tenant''s rules.';

CREATE OR REPLACE FUNCTION rules_match_fitting(
    p_fits tid[], p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean,
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT array_agg(m.place), array_agg(m.id),
           array_agg(term_hits(m.words, p_terms)),
           array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
        INTO places, ids, hits, lengths, standings
        FROM (SELECT r.ctid AS place, r.id, r.search_vector, unpacked(r.search_vector) AS words
              FROM unnest(p_fits) AS p (place) JOIN rules r ON r.ctid = p.place
              WHERE r.search_vector @@ p_broad
              OFFSET 0) m;
END $$;
REVOKE EXECUTE ON FUNCTION rules_match_fitting FROM PUBLIC;
COMMENT ON FUNCTION rules_match_fitting IS 'Keyword matches among the rules that fit the time asked for.';

CREATE OR REPLACE FUNCTION rules_match_index(
    p_tenant text, p_scope text, p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean,
    p_candidates tsquery, p_most boolean, p_found tsquery, p_rows integer,
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_most THEN
        SELECT array_agg(m.place), array_agg(m.id),
               array_agg(term_hits(m.words, p_terms)),
               array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
            INTO places, ids, hits, lengths, standings
            FROM (SELECT r.ctid AS place, r.id, r.search_vector, unpacked(r.search_vector) AS words
                  FROM rules r
                  WHERE r.search_vector @@ p_candidates
                    AND (r.search_vector @@ p_found) IS NOT TRUE
                    AND (r.tenant_id = p_tenant) IS TRUE
                    AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                  LIMIT p_rows) m;
    ELSE
        SELECT array_agg(m.place), array_agg(m.id),
               array_agg(term_hits(m.words, p_terms)),
               array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
            INTO places, ids, hits, lengths, standings
            FROM (SELECT r.ctid AS place, r.id, r.search_vector, unpacked(r.search_vector) AS words
                  FROM rules r
                  WHERE r.search_vector @@ p_candidates
                    AND r.tenant_id = p_tenant
                    AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                  OFFSET 0) m;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION rules_match_index FROM PUBLIC;
COMMENT ON FUNCTION rules_match_index IS 'Keyword matches by the word index.';

CREATE OR REPLACE FUNCTION rules_match_newest(
    p_tenant text, p_scope text, p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean,
    p_newest integer, p_found tsquery,
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT array_agg(m.place), array_agg(m.id),
           array_agg(term_hits(m.words, p_terms)),
           array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
        INTO places, ids, hits, lengths, standings
        FROM (SELECT n.*, unpacked(n.search_vector) AS words
              FROM (SELECT r.ctid AS place, r.id, r.search_vector
                    FROM rules r
                    WHERE r.tenant_id = p_tenant
                      AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                    ORDER BY r.created_at DESC, r.id LIMIT p_newest) n
              WHERE n.search_vector @@ p_broad AND (n.search_vector @@ p_found) IS NOT TRUE
              OFFSET 0) m;
END $$;
REVOKE EXECUTE ON FUNCTION rules_match_newest FROM PUBLIC;
COMMENT ON FUNCTION rules_match_newest IS 'Keyword matches among the newest p_newest rules.';

CREATE OR REPLACE FUNCTION rules_match_all(
    p_tenant text, p_scope text, p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean,
    p_at timestamptz, p_min double precision,
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT array_agg(m.place), array_agg(m.id),
           array_agg(term_hits(m.words, p_terms)),
           array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
        INTO places, ids, hits, lengths, standings
        FROM (SELECT r.ctid AS place, r.id, r.search_vector, unpacked(r.search_vector) AS words
              FROM rules r
              WHERE r.tenant_id = p_tenant
                AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                AND r.search_vector @@ p_broad
                AND rule_is_remembered(r.metadata)
                AND (p_min <= 0 OR r.maturity = 'anti_pattern' OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)
              OFFSET 0) m;
END $$;
REVOKE EXECUTE ON FUNCTION rules_match_all FROM PUBLIC;
COMMENT ON FUNCTION rules_match_all IS 'Keyword matches that pass every test, by reading all of the tenant''s rules.';
