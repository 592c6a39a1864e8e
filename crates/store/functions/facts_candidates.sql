-- The ways to find candidates. facts_legs chooses among them. Each returns the place (ctid) of a row and how near it is, or
-- how it matches. They test only what an index knows; the callers of facts_legs test the rest.
--
-- rules_candidates.sql and episodes_candidates.sql are the same for the other tables; a test keeps the three equal
-- (tests/schema/families.rs).

-- p_scope: facts of this scope and global ones; NULL: all. The caller sets ivfflat.probes. With sorting disabled,
-- only the approximate index gives the planner the required order.
CREATE OR REPLACE FUNCTION facts_near_probed(p_tenant text, p_scope text, p_query vector, p_take integer)
RETURNS TABLE (id uuid, place tid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 SET enable_sort = off AS $$
DECLARE
    active constant text := 'active';
BEGIN
    RETURN QUERY
        SELECT r.id, r.ctid, r.embedding <=> p_query
        FROM facts r
        WHERE r.tenant_id = p_tenant
          AND r.validity = active
          AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
        ORDER BY r.embedding <=> p_query LIMIT p_take;
END $$;
REVOKE EXECUTE ON FUNCTION facts_near_probed FROM PUBLIC;
COMMENT ON FUNCTION facts_near_probed IS 'The nearest facts by the approximate vector index.';

CREATE OR REPLACE FUNCTION facts_near_all(
    p_tenant text, p_scope text, p_at timestamptz, p_min double precision, p_holding timestamptz, p_version uuid, p_query vector,
    p_take integer)
RETURNS TABLE (place tid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $$
DECLARE
    active constant text := 'active';
BEGIN
    RETURN QUERY
        SELECT n.place, n.distance
        FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
              FROM facts r
              WHERE r.tenant_id = p_tenant
                AND r.validity = active
                AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                AND r.embedding IS NOT NULL
                AND r.embedding_version_id = p_version
                AND fact_is_active(r.validity)
                AND fact_holds(r.holds_from, r.holds_to, p_holding)
                AND (p_min <= 0 OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)
              OFFSET 0) n
        ORDER BY n.distance, n.id LIMIT p_take;
END $$;
REVOKE EXECUTE ON FUNCTION facts_near_all FROM PUBLIC;
COMMENT ON FUNCTION facts_near_all IS 'The nearest facts that pass every test, by comparing all of the tenant''s.';

-- The keyword matches, unordered: which terms each contains, how many distinct words it has, and in mode `keyword`
-- (p_by_rank) its standing. p_broad finds them.
-- IS TRUE keeps the planner from the word index, which covers all tenants: this is for a tenant with a small part of the table.
CREATE OR REPLACE FUNCTION facts_match_scan(
    p_tenant text, p_scope text, p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean, p_named uuid[],
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    active constant text := 'active';
BEGIN
    SELECT array_agg(m.place), array_agg(m.id),
           array_agg(term_hits(m.words, p_terms) | name_hit(m.entity_id, m.object_entity_id, p_named, cardinality(p_terms))),
           array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
        INTO places, ids, hits, lengths, standings
        FROM (SELECT r.ctid AS place, r.id, r.entity_id, r.object_entity_id, r.search_vector, unpacked(r.search_vector) AS words
              FROM facts r
              WHERE r.tenant_id = p_tenant
                AND r.validity = active
                AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                AND (r.search_vector @@ p_broad OR r.entity_id = ANY (p_named) OR r.object_entity_id = ANY (p_named)) IS TRUE
              OFFSET 0) m;
END $$;
REVOKE EXECUTE ON FUNCTION facts_match_scan FROM PUBLIC;
COMMENT ON FUNCTION facts_match_scan IS 'Keyword matches by reading all of the tenant''s facts.';

CREATE OR REPLACE FUNCTION facts_match_fitting(
    p_fits tid[], p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean, p_named uuid[],
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT array_agg(m.place), array_agg(m.id),
           array_agg(term_hits(m.words, p_terms) | name_hit(m.entity_id, m.object_entity_id, p_named, cardinality(p_terms))),
           array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
        INTO places, ids, hits, lengths, standings
        FROM (SELECT r.ctid AS place, r.id, r.entity_id, r.object_entity_id, r.search_vector, unpacked(r.search_vector) AS words
              FROM unnest(p_fits) AS p (place) JOIN facts r ON r.ctid = p.place
              WHERE (r.search_vector @@ p_broad OR r.entity_id = ANY (p_named) OR r.object_entity_id = ANY (p_named))
              OFFSET 0) m;
END $$;
REVOKE EXECUTE ON FUNCTION facts_match_fitting FROM PUBLIC;
COMMENT ON FUNCTION facts_match_fitting IS 'Keyword matches among the facts that fit the time asked for.';

-- p_candidates finds the rows. The word index covers all tenants. Where this tenant owns most of the table (p_most),
-- combining it with the tenant's B-tree gains nothing; IS TRUE keeps the planner from doing so. Only there p_found and p_rows
-- apply. p_found: matches of this query were found already and are left out. p_rows: read at most so many; NULL: all.
CREATE OR REPLACE FUNCTION facts_match_index(
    p_tenant text, p_scope text, p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean, p_named uuid[],
    p_candidates tsquery, p_most boolean, p_found tsquery, p_rows integer,
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    active constant text := 'active';
BEGIN
    IF p_most THEN
        SELECT array_agg(m.place), array_agg(m.id),
               array_agg(term_hits(m.words, p_terms) | name_hit(m.entity_id, m.object_entity_id, p_named, cardinality(p_terms))),
               array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
            INTO places, ids, hits, lengths, standings
            FROM (SELECT r.ctid AS place, r.id, r.entity_id, r.object_entity_id, r.search_vector, unpacked(r.search_vector) AS words
                  FROM facts r
                  WHERE r.search_vector @@ p_candidates
                    AND (r.search_vector @@ p_found) IS NOT TRUE
                    AND (r.tenant_id = p_tenant) IS TRUE
                    AND (r.validity = active) IS TRUE
                    AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                  LIMIT p_rows) m;
    ELSE
        SELECT array_agg(m.place), array_agg(m.id),
               array_agg(term_hits(m.words, p_terms) | name_hit(m.entity_id, m.object_entity_id, p_named, cardinality(p_terms))),
               array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
            INTO places, ids, hits, lengths, standings
            FROM (SELECT r.ctid AS place, r.id, r.entity_id, r.object_entity_id, r.search_vector, unpacked(r.search_vector) AS words
                  FROM facts r
                  WHERE r.search_vector @@ p_candidates
                    AND r.tenant_id = p_tenant
                    AND r.validity = active
                    AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                  OFFSET 0) m;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION facts_match_index FROM PUBLIC;
COMMENT ON FUNCTION facts_match_index IS 'Keyword matches by the word index.';

-- For queries whose terms are all so frequent that ranking every match is not worth its cost. p_found as in
-- facts_match_index.
CREATE OR REPLACE FUNCTION facts_match_newest(
    p_tenant text, p_scope text, p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean, p_named uuid[],
    p_newest integer, p_found tsquery,
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT array_agg(m.place), array_agg(m.id),
           array_agg(term_hits(m.words, p_terms) | name_hit(m.entity_id, m.object_entity_id, p_named, cardinality(p_terms))),
           array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
        INTO places, ids, hits, lengths, standings
        FROM (SELECT n.*, unpacked(n.search_vector) AS words
              FROM (SELECT r.ctid AS place, r.id, r.entity_id, r.object_entity_id, r.search_vector
                    FROM facts r
                    WHERE r.tenant_id = p_tenant
                      AND fact_is_active(r.validity || '')
                      AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                    ORDER BY r.created_at DESC, r.id LIMIT p_newest) n
              WHERE n.search_vector @@ p_broad AND (n.search_vector @@ p_found) IS NOT TRUE
              OFFSET 0) m;
END $$;
REVOKE EXECUTE ON FUNCTION facts_match_newest FROM PUBLIC;
COMMENT ON FUNCTION facts_match_newest IS 'Keyword matches among the newest p_newest facts.';

CREATE OR REPLACE FUNCTION facts_match_all(
    p_tenant text, p_scope text, p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean, p_named uuid[],
    p_at timestamptz, p_min double precision, p_holding timestamptz,
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    active constant text := 'active';
BEGIN
    SELECT array_agg(m.place), array_agg(m.id),
           array_agg(term_hits(m.words, p_terms) | name_hit(m.entity_id, m.object_entity_id, p_named, cardinality(p_terms))),
           array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
        INTO places, ids, hits, lengths, standings
        FROM (SELECT r.ctid AS place, r.id, r.entity_id, r.object_entity_id, r.search_vector, unpacked(r.search_vector) AS words
              FROM facts r
              WHERE r.tenant_id = p_tenant
                AND r.validity = active
                AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                AND (r.search_vector @@ p_broad OR r.entity_id = ANY (p_named) OR r.object_entity_id = ANY (p_named))
                AND fact_is_active(r.validity)
                AND fact_holds(r.holds_from, r.holds_to, p_holding)
                AND (p_min <= 0 OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)
              OFFSET 0) m;
END $$;
REVOKE EXECUTE ON FUNCTION facts_match_all FROM PUBLIC;
COMMENT ON FUNCTION facts_match_all IS 'Keyword matches that pass every test, by reading all of the tenant''s facts.';
