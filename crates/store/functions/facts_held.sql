-- The candidates of facts_legs for what was true, or believed, at another time, in a store that is too large to compare
-- everything that fits. The indexes hold the facts of all times, so this costs about as much as a search of the present.

CREATE OR REPLACE FUNCTION facts_near_held(p_tenant text, p_scope text, p_query vector, p_take integer, p_time_filter jsonb)
RETURNS TABLE (place tid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 SET enable_sort = off AS $$
DECLARE
    as_of constant timestamptz := p_time_filter ->> 'as_of';
    first constant timestamptz := coalesce((p_time_filter ->> 'first')::timestamptz, as_of);
    last constant timestamptz := coalesce((p_time_filter ->> 'last')::timestamptz, as_of);
    since constant timestamptz := coalesce((p_time_filter ->> 'since')::timestamptz, '-infinity');
    until constant timestamptz := coalesce((p_time_filter ->> 'until')::timestamptz, 'infinity');
BEGIN
    RETURN QUERY
        SELECT r.ctid, r.embedding <=> p_query
        FROM facts r
        WHERE r.tenant_id = p_tenant
          AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
          AND fact_held(r.id, r.holds_from, r.holds_to, r.created_at, r.placed_at, r.ended_at, first, last, as_of)
          AND coalesce(r.observed_at, r.created_at) >= since AND coalesce(r.observed_at, r.created_at) < until
        ORDER BY r.embedding <=> p_query LIMIT p_take;
END $$;
REVOKE EXECUTE ON FUNCTION facts_near_held FROM PUBLIC;
COMMENT ON FUNCTION facts_near_held IS 'The nearest facts that held at the time asked for, by the approximate vector index.';

-- p_candidates finds the rows by the word index. NULL: every term is frequent, and the latest facts of that time are read.
CREATE OR REPLACE FUNCTION facts_match_held(
    p_tenant text, p_scope text, p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean, p_named uuid[],
    p_candidates tsquery, p_newest integer, p_time_filter jsonb,
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    as_of constant timestamptz := p_time_filter ->> 'as_of';
    first constant timestamptz := coalesce((p_time_filter ->> 'first')::timestamptz, as_of);
    last constant timestamptz := coalesce((p_time_filter ->> 'last')::timestamptz, as_of);
    since constant timestamptz := coalesce((p_time_filter ->> 'since')::timestamptz, '-infinity');
    until constant timestamptz := coalesce((p_time_filter ->> 'until')::timestamptz, 'infinity');
    found tid[];
BEGIN
    -- IS TRUE keeps the planner from combining the word index with another one.
    found := ARRAY(
        SELECT r.ctid FROM facts r
        WHERE r.search_vector @@ p_candidates
          AND (r.tenant_id = p_tenant) IS TRUE
          AND fact_held(r.id, r.holds_from, r.holds_to, r.created_at, r.placed_at, r.ended_at, first, last, as_of));
    IF p_candidates IS NULL THEN
        found := ARRAY(
            SELECT r.ctid FROM facts r
            WHERE r.tenant_id = p_tenant AND r.created_at <= coalesce(as_of, last)
              AND fact_held(r.id, r.holds_from, r.holds_to, r.created_at, r.placed_at, r.ended_at, first, last, as_of)
            ORDER BY r.created_at DESC, r.id LIMIT p_newest);
    END IF;
    IF p_named <> '{}' THEN
        found := ARRAY(
            SELECT f.place FROM unnest(found) AS f (place)
            UNION
            SELECT r.ctid FROM facts r
            WHERE (r.entity_id = ANY (p_named) OR r.object_entity_id = ANY (p_named))
              AND r.tenant_id || '' = p_tenant
              AND fact_held(r.id, r.holds_from, r.holds_to, r.created_at, r.placed_at, r.ended_at, first, last, as_of));
    END IF;
    SELECT array_agg(m.place), array_agg(m.id),
           array_agg(term_hits(m.words, p_terms) | name_hit(m.entity_id, m.object_entity_id, p_named, cardinality(p_terms))),
           array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
        INTO places, ids, hits, lengths, standings
        FROM (SELECT r.ctid AS place, r.id, r.entity_id, r.object_entity_id, r.search_vector, unpacked(r.search_vector) AS words
              FROM unnest(found) AS f (place) JOIN facts r ON r.ctid = f.place
              WHERE (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                AND (r.search_vector @@ p_broad OR r.entity_id = ANY (p_named) OR r.object_entity_id = ANY (p_named))
                AND coalesce(r.observed_at, r.created_at) >= since AND coalesce(r.observed_at, r.created_at) < until
              OFFSET 0) m;
END $$;
REVOKE EXECUTE ON FUNCTION facts_match_held FROM PUBLIC;
COMMENT ON FUNCTION facts_match_held IS 'Keyword matches among the facts that held at the time asked for, by the word index.';
