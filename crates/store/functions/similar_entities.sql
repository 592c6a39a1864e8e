-- Tier 4 of entity_candidates: names similar to the wanted one, without those found already (p_found).
--
-- The trigram index covers all tenants, so a tenant with few entities is read completely instead. Otherwise the index finds names
-- by their words (a text is at least as similar by words as its best line is as a whole), and each name is then compared.
-- Very similar names are searched first, by themselves: they must not be missed when more names are slightly similar
-- (everybody with the same first name) than can be read.
CREATE OR REPLACE FUNCTION similar_entities(
    p_tenant text, p_wanted text, p_type text, p_threshold real, p_known uuid[], p_found uuid[], p_limit integer)
RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    few constant integer := 500;
    read_at_most constant integer := 300;
    threshold real;
    result uuid[];
BEGIN
    IF (SELECT count(*) FROM (SELECT FROM entities e WHERE e.tenant_id = p_tenant AND entity_is_live(e.metadata) LIMIT few) c) < few THEN
        SELECT array_agg(b.id) INTO result FROM (
            SELECT s.id FROM (
                SELECT e.id, name_similarity(e.lower_names, p_wanted) AS nearness FROM entities e
                WHERE e.tenant_id = p_tenant AND entity_is_live(e.metadata)
                  AND (p_type IS NULL OR e.entity_type = p_type) OFFSET 0) s
            WHERE s.nearness >= p_threshold AND s.id <> ALL (p_found)
            ORDER BY s.id = ANY (p_known) DESC, s.nearness DESC, s.id LIMIT p_limit) b;
        RETURN result;
    END IF;
    FOREACH threshold IN ARRAY ARRAY[greatest(0.6, p_threshold), p_threshold] LOOP
        PERFORM set_config('pg_trgm.word_similarity_threshold', threshold::text, true);
        SELECT array_agg(b.id) INTO result FROM (
            SELECT s.id FROM (
                (SELECT e.id, name_similarity(e.lower_names, p_wanted) AS nearness FROM entities e
                 WHERE e.lower_names %> p_wanted AND entity_is_live(e.metadata)
                   AND e.tenant_id || '' = p_tenant AND (p_type IS NULL OR e.entity_type = p_type) LIMIT read_at_most)
                UNION
                SELECT e.id, name_similarity(e.lower_names, p_wanted)
                FROM (SELECT * FROM entities WHERE id = ANY (p_known || result) OFFSET 0) e
                WHERE e.tenant_id = p_tenant AND entity_is_live(e.metadata) AND (p_type IS NULL OR e.entity_type = p_type)) s
            WHERE s.nearness >= p_threshold AND s.id <> ALL (p_found)
            ORDER BY s.id = ANY (p_known) DESC, s.nearness DESC, s.id LIMIT p_limit) b;
        EXIT WHEN cardinality(result) >= p_limit;
    END LOOP;
    RETURN result;
END $$;
REVOKE EXECUTE ON FUNCTION similar_entities FROM PUBLIC;
COMMENT ON FUNCTION similar_entities IS 'The entities with a name similar to the wanted one, known ones first, then by similarity.';

CREATE OR REPLACE FUNCTION name_similarity(lower_names text, wanted text) RETURNS real LANGUAGE plpgsql STABLE AS $$
DECLARE
    best real := 0;
    name text;
BEGIN
    FOREACH name IN ARRAY string_to_array(lower_names, E'\n') LOOP
        best := greatest(best, similarity(name, wanted));
    END LOOP;
    RETURN best;
END $$;
REVOKE EXECUTE ON FUNCTION name_similarity FROM PUBLIC;
COMMENT ON FUNCTION name_similarity IS 'How similar the most similar of an entity''s names is.';
