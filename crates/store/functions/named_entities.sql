-- Names as a leg of the search: the facts of an entity that the query names are candidates, whatever words they contain.
-- A name weighs as much as a term that only the entity's facts contain, and a quarter more for each further word.
--
-- Everything in the query that may be a name (p_names, domain::query_names) is looked up by its hash in the index of names
-- without accents (entity_link_keys), which takes the same time among 100,000 entities. A name with a misspelled word
-- (p_typed) is also looked up with each word that it may stand for (p_near), and counts less by the factor of that word
-- (p_factors; near_words).
CREATE OR REPLACE FUNCTION named_entities(
    p_tenant text, p_names jsonb, p_typed text[], p_near text[], p_factors double precision[], p_rows double precision,
    OUT ids uuid[], OUT weights double precision[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    most_entities constant integer := 8;
    -- A name that more facts share says little; counting stops there.
    most_facts constant integer := 5000;
    -- A name with several misspelled words has many corrections.
    most_corrected constant integer := 1000;
    -- A name without its accents counts less than one as typed, like a word (near_words).
    unaccented constant double precision := 0.95;
    lowered text;
    as_typed text[];
    names text[];
    factors double precision[];
    typed_names integer;
    word text;
    near_word text;
BEGIN
    -- First, because it takes longer to read the names.
    IF NOT EXISTS (SELECT FROM entities e WHERE e.tenant_id = p_tenant) THEN
        RETURN;
    END IF;
    -- One text, because converting each name takes longer.
    lowered := lower((SELECT string_agg(n, E'\n') FROM jsonb_array_elements_text(p_names) AS n));
    as_typed := string_to_array(lowered, E'\n');
    names := ARRAY(SELECT n FROM unnest(string_to_array(folded_name(lowered), E'\n')) AS n WHERE length(n) > 1);
    typed_names := cardinality(names);
    IF cardinality(p_typed) > 0 THEN
        factors := array_fill(1::double precision, ARRAY[typed_names]);
        FOR i IN 1 .. cardinality(p_typed) LOOP
            EXIT WHEN cardinality(names) - typed_names >= most_corrected;
            word := folded_name(p_typed[i]);
            near_word := folded_name(p_near[i]);
            SELECT names || array_agg(c.name), factors || array_agg(c.factor) INTO names, factors
                FROM (SELECT array_to_string(array_replace(string_to_array(n.name, ' '), word, near_word), ' ') AS name,
                             n.factor * p_factors[i] AS factor
                      FROM unnest(names, factors) AS n (name, factor)
                      WHERE word <> near_word AND strpos(n.name, word) > 0 AND word = ANY (string_to_array(n.name, ' '))
                      LIMIT most_corrected) c;
        END LOOP;
    END IF;
    SELECT array_agg(f.id), array_agg(f.weight) INTO ids, weights
    FROM (SELECT e.id,
                 e.strength
                 * greatest(0.01, ln((p_rows + 1) / (0.5 + (
                       SELECT count(*) FROM (SELECT FROM facts f WHERE f.entity_id = e.id AND f.validity = 'active'
                                             LIMIT most_facts) counted)))) AS weight
          FROM (SELECT u.id, max(u.strength) AS strength
                FROM ((SELECT x.id,
                              -- the best of the names of the entity that are in the query
                              (SELECT max((0.75 + 0.25 * cardinality(string_to_array(m.name, ' ')))
                                          * CASE WHEN m.place > typed_names THEN factors[m.place]
                                                 WHEN m.lowered = ANY (as_typed) THEN 1
                                                 ELSE unaccented END)
                               FROM (SELECT btrim(n.lowered) AS lowered, btrim(n.folded) AS name,
                                            array_position(names, btrim(n.folded)) AS place
                                     FROM unnest(string_to_array(x.lower_names, E'\n'),
                                                 string_to_array(folded_name(x.lower_names), E'\n')) AS n (lowered, folded)) m
                               WHERE m.place IS NOT NULL) AS strength
                       -- apart, so that corrected names do not displace those that were typed
                       FROM (VALUES (name_hashes(p_tenant, names[: typed_names])),
                                    (name_hashes(p_tenant, names[typed_names + 1 :]))) AS k (hashes)
                       CROSS JOIN LATERAL (SELECT x.id, x.lower_names FROM entities x
                                           WHERE entity_link_keys(x.tenant_id, x.lower_names) && k.hashes
                                             AND entity_is_live(x.metadata)
                                             AND x.tenant_id || '' = p_tenant
                                           LIMIT 50) x
                       WHERE k.hashes <> '{}')
                      UNION ALL
                      SELECT x.id, 1
                      FROM entities x
                      -- "my sister" names the owner
                      WHERE as_typed && '{i,me,my,mine,myself}' AND x.tenant_id = p_tenant AND x.metadata -> 'owner' = 'true'
                        AND entity_is_live(x.metadata)) u
                GROUP BY u.id) e
          WHERE e.strength IS NOT NULL
          ORDER BY 2 DESC, e.id LIMIT most_entities) f;
END $$;
REVOKE EXECUTE ON FUNCTION named_entities FROM PUBLIC;
COMMENT ON FUNCTION named_entities IS 'The entities that a query names, and what each name adds to the keyword score of its facts.';

-- plpgsql: an SQL function that cannot be inlined is prepared again in each statement that calls it.
CREATE OR REPLACE FUNCTION name_hashes(p_tenant text, p_folded text[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$ BEGIN RETURN ARRAY(SELECT hashtextextended(p_tenant || E'\x1f' || n, 41) FROM unnest(p_folded) AS n); END $$;
COMMENT ON FUNCTION name_hashes IS 'The hashes of names without accents, as entity_link_keys has them.';
