-- Names as a leg of the search: the facts of an entity that the query names are candidates, whatever words they contain.
-- A name weighs as much as a term that only the entity's facts contain, and a quarter more for each further word.
--
-- Every sequence of one to four words of the query is looked up by its hash in the index of names (entity_name_keys), which
-- takes the same time among 100,000 entities. In scripts without spaces, sequences of two to four characters are looked up
-- instead.
CREATE OR REPLACE FUNCTION named_entities(
    p_tenant text, p_query text, p_rows double precision, OUT ids uuid[], OUT weights double precision[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- A longer query is a text rather than a question.
    most_words constant integer := 64;
    most_entities constant integer := 8;
    -- A name that more facts share says little; counting stops there.
    most_facts constant integer := 5000;
    words text[];
    names text[];
    keys bigint[];
    is_owner boolean;
BEGIN
    IF NOT EXISTS (SELECT FROM entities e WHERE e.tenant_id = p_tenant) THEN
        RETURN;
    END IF;
    words := (regexp_split_to_array(trim(lower(p_query)), '\s+'))[:most_words];
    -- As typed ("yahoo!"), without the punctuation of a sentence ("c++", "mcdonald's"), without a genitive ("c++'s"), and
    -- without any punctuation around the sequence.
    names := ARRAY(
        SELECT DISTINCT n.name
        FROM generate_subscripts(words, 1) AS start, generate_series(0, 3) AS more,
             LATERAL (SELECT array_to_string(words[start:start + more], ' ') AS part) s,
             LATERAL (SELECT regexp_replace(s.part, '^["''(„“‘«¿¡\[]+|["'')”’».,;:!?…\]]+$', '', 'g') AS bare) b,
             LATERAL (VALUES (s.part), (b.bare), (regexp_replace(b.bare, '(''s|’s)$', '')),
                             (regexp_replace(s.part, '^[^[:alnum:]]+|(''s|’s)?[^[:alnum:]]*$', '', 'g'))) AS n (name)
        WHERE start + more <= cardinality(words));
    IF p_query ~ '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3040-\u30FF\u3400-\u9FFF]' THEN
        names := names || ARRAY(
            SELECT DISTINCT substr(p_query, start, size)
            FROM generate_series(1, least(length(p_query), 2 * most_words)) AS start, generate_series(2, 4) AS size);
    END IF;
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
