-- Candidates of facts_legs that only facts have: those of the entities that the query names (named_entities), and edges
-- to them.
CREATE OR REPLACE FUNCTION facts_match_named(
    p_tenant text, p_scope text, p_terms tsquery[], p_strict tsquery, p_broad tsquery, p_by_rank boolean, p_named uuid[],
    OUT places tid[], OUT ids uuid[], OUT hits bigint[], OUT lengths integer[], OUT standings double precision[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    active constant text := 'active';
    -- The maximum number of facts read of an entity. The name of a larger entity says too little about which fact is meant.
    most constant integer := 400;
BEGIN
    SELECT array_agg(m.place), array_agg(m.id),
           array_agg(term_hits(m.words, p_terms) | name_hit(m.entity_id, m.object_entity_id, p_named, cardinality(p_terms))),
           array_agg(length(m.words)), array_agg(CASE WHEN p_by_rank THEN match_standing(m.search_vector, p_strict, p_broad) END)
        INTO places, ids, hits, lengths, standings
        FROM unnest(p_named) AS e (id),
             LATERAL ((SELECT r.ctid AS place, r.id, r.entity_id, r.object_entity_id, r.search_vector, unpacked(r.search_vector) AS words
                       FROM facts r
                       WHERE r.entity_id = e.id
                         AND r.tenant_id || '' = p_tenant
                         AND r.validity = active
                         AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                       LIMIT most)
                      UNION ALL
                      -- an edge to it
                      (SELECT r.ctid, r.id, r.entity_id, r.object_entity_id, r.search_vector, unpacked(r.search_vector)
                       FROM facts r
                       WHERE r.object_entity_id = e.id
                         AND r.tenant_id || '' = p_tenant
                         AND r.validity = active
                         AND (p_scope IS NULL OR r.scope = ANY (ARRAY['global', p_scope]))
                       LIMIT most)) m;
END $$;
REVOKE EXECUTE ON FUNCTION facts_match_named FROM PUBLIC;
COMMENT ON FUNCTION facts_match_named IS 'Facts of the entities that the query names.';
