-- Names as a leg of the search: the facts of an entity that the query names are candidates, whatever words they contain.
-- A name weighs as much as a term that only the entity's facts contain, and a quarter more for each further word.
--
-- Everything in the query that may be a name (p_names, domain::query_names) is looked up by its hash in the index of names
-- (entity_name_keys), which takes the same time among 100,000 entities.
CREATE OR REPLACE FUNCTION named_entities(
    p_tenant text, p_names text[], p_rows double precision, OUT ids uuid[], OUT weights double precision[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    most_entities constant integer := 8;
    -- A name that more facts share says little; counting stops there.
    most_facts constant integer := 5000;
    names text[];
    keys bigint[];
    is_owner boolean;
BEGIN
    IF NOT EXISTS (SELECT FROM entities e WHERE e.tenant_id = p_tenant) THEN
        RETURN;
    END IF;
    names := ARRAY(SELECT lower(n) FROM unnest(p_names) AS n);
    -- as entity_name_keys hashes a whole name
    keys := ARRAY(SELECT hashtextextended(p_tenant || E'\x1f\x1e' || n, 40) FROM unnest(names) AS n WHERE length(n) > 1);
    -- "my sister" names the owner
    is_owner := names && '{i,me,my,mine,myself}';
    SELECT array_agg(f.id), array_agg(f.weight) INTO ids, weights
    FROM (SELECT e.id,
                 (0.75 + 0.25 * e.words)
                 * greatest(0.01, ln((p_rows + 1) / (0.5 + (
                       SELECT count(*) FROM (SELECT FROM facts f WHERE f.entity_id = e.id AND f.validity = 'active'
                                             LIMIT most_facts) counted)))) AS weight
          FROM (SELECT u.id, max(u.words) AS words
                FROM ((SELECT x.id,
                              (SELECT max(cardinality(string_to_array(n, ' ')))
                               FROM unnest(string_to_array(x.lower_names, E'\n')) AS n WHERE n = ANY (names)) AS words
                       FROM entities x
                       WHERE entity_name_keys(x.tenant_id, x.lower_names, 1, 3, true) && keys
                         AND entity_is_live(x.metadata)
                         AND x.tenant_id || '' = p_tenant
                       LIMIT 50)
                      UNION ALL
                      SELECT x.id, 1
                      FROM entities x
                      WHERE is_owner AND x.tenant_id = p_tenant AND x.metadata -> 'owner' = 'true'
                        AND entity_is_live(x.metadata)) u
                GROUP BY u.id) e
          WHERE e.words IS NOT NULL
          ORDER BY 2 DESC, e.id LIMIT most_entities) f;
END $$;
REVOKE EXECUTE ON FUNCTION named_entities FROM PUBLIC;
COMMENT ON FUNCTION named_entities IS 'The entities that a query names, and what each name adds to the keyword score of its facts.';
