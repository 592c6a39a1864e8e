-- Misspelled words: for each typed word that the tenant's memories do not contain, the words they do contain that are
-- written alike, best first. The caller leaves out words that it knows to be spelled correctly (Memory::unknown_words).
--
-- Candidates share trigrams with the typed word and are about as long. Then their typing errors are counted, without accents.
-- Needs pg_trgm; without it nothing is corrected. The functions run as the owner, inside memory_retrieve and browse_*.

CREATE OR REPLACE FUNCTION near_words(p_tenant text, p_words text[])
RETURNS TABLE (typed text, word text, factor double precision) LANGUAGE plpgsql STABLE ROWS 3 AS $$
#variable_conflict use_column
DECLARE
    -- A query with more unknown words is in another language.
    most_typed constant integer := 8;
    most_near constant integer := 3;
    lowered text;
    plain text;
    slips integer;
    threshold double precision;
    found_words text[];
    factors double precision[];
    closest integer;
BEGIN
    IF coalesce(cardinality(p_words), 0) = 0 OR to_regprocedure('similarity(text, text)') IS NULL THEN
        RETURN;
    END IF;
    FOREACH typed IN ARRAY p_words[1 : most_typed] LOOP
        lowered := lower(typed);
        plain := folded_word(lowered);
        CONTINUE WHEN length(plain) NOT BETWEEN 4 AND 40 OR vocabulary_has(p_tenant, lowered);
        slips := CASE WHEN length(plain) < 5 THEN 1 ELSE 2 END;
        -- An error changes up to three trigrams, a swap four, so a short word keeps few. But a low threshold matches ten times
        -- as many words, so it is used only if no word is one error away.
        FOREACH threshold IN ARRAY ARRAY[0.3, greatest(0.15, (length(plain) - 6.0) / (length(plain) + 8))] LOOP
            EXIT WHEN threshold > 0.3;
            -- The factor is below 1 and smaller for each error: a corrected word never counts as much as one found as typed.
            SELECT array_agg(n.word ORDER BY n.distance, n.likeness DESC, n.word),
                   array_agg(least(0.95, (1 - 0.25 * n.distance) * (0.7 + 0.3 * n.likeness)) ORDER BY n.distance, n.likeness DESC, n.word),
                   min(n.distance)
                INTO found_words, factors, closest
                FROM (SELECT c.word, c.likeness, edit_distance(plain, c.folded, slips) AS distance
                      FROM similar_words(p_tenant, plain, slips, threshold) c) n
                WHERE n.distance IS NOT NULL;
            EXIT WHEN closest <= 1;
        END LOOP;
        RETURN QUERY SELECT typed, f.word, f.factor FROM unnest(found_words[1 : most_near], factors[1 : most_near]) AS f (word, factor);
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION near_words FROM PUBLIC;
COMMENT ON FUNCTION near_words IS
    'For each typed word that the tenant''s memories do not contain, up to three that are written alike, with a factor below 1.';

-- A word that the caller knows to be spelled correctly may still lack accents (Memory::plain_words): "resume" is English, but
-- a memory may say "résumé". Runs for almost every query, so the usual case, no such word, is one look into a partial index.
CREATE OR REPLACE FUNCTION accented_words(p_tenant text, p_words text[])
RETURNS TABLE (typed text, word text, factor double precision) LANGUAGE plpgsql STABLE ROWS 1 AS $$
#variable_conflict use_column
DECLARE
    most_near constant integer := 24;
BEGIN
    RETURN QUERY
        SELECT DISTINCT w.folded, w.word, 0.95::double precision FROM words w
        WHERE w.tenant_id = p_tenant AND w.folded = ANY (p_words) AND w.word <> w.folded AND NOT vocabulary_has(p_tenant, w.folded)
        ORDER BY 1, 2 LIMIT most_near;
END $$;
REVOKE EXECUTE ON FUNCTION accented_words FROM PUBLIC;
COMMENT ON FUNCTION accented_words IS
    'For each typed word that the tenant''s memories do not contain, the words that only differ by accents, with a factor below 1.';

-- "marinated" is not misspelled where a memory says "marinating": both have the same stem, so keyword search finds it. The
-- last letter of a stem may differ from the word's (compani, company). A stop word has no stem, and every text has it.
CREATE OR REPLACE FUNCTION vocabulary_has(p_tenant text, p_word text) RETURNS boolean LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    stem constant text := (ts_lexize('pg_catalog.english_stem', p_word))[1];
    start constant text := left(stem, greatest(3, length(stem) - 1));
BEGIN
    RETURN stem IS NULL
        OR EXISTS (SELECT FROM words w WHERE w.tenant_id = p_tenant AND w.word = p_word)
        OR EXISTS (SELECT FROM words w
                   WHERE w.tenant_id = p_tenant AND w.word ~>=~ start AND w.word ~<~ (start || chr(1114111))
                     AND ts_lexize('pg_catalog.english_stem', w.word) = ARRAY[stem]);
END $$;
REVOKE EXECUTE ON FUNCTION vocabulary_has FROM PUBLIC;
COMMENT ON FUNCTION vocabulary_has IS 'Whether a memory of the tenant contains a word, in whatever form.';

-- The trigram index covers all tenants, so a small vocabulary is read completely instead. A letter that the other word lacks
-- is an error, and translate counts those faster than edit_distance.
CREATE OR REPLACE FUNCTION similar_words(p_tenant text, p_plain text, p_slips integer, p_threshold double precision)
RETURNS TABLE (word text, folded text, likeness double precision)
LANGUAGE plpgsql STABLE ROWS 30 SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    few constant integer := 1000;
    nearest constant integer := 30;
    shortest constant integer := length(p_plain) - p_slips;
    longest constant integer := length(p_plain) + p_slips;
    before constant text := current_setting('pg_trgm.similarity_threshold', true);
BEGIN
    IF (SELECT count(*) FROM (SELECT FROM words w WHERE w.tenant_id = p_tenant LIMIT few) c) < few THEN
        RETURN QUERY
            SELECT DISTINCT w.word, w.folded, similarity(w.folded, p_plain)::double precision AS likeness FROM words w
            WHERE w.tenant_id = p_tenant AND length(w.folded) BETWEEN shortest AND longest
              AND length(translate(w.folded, p_plain, '')) <= p_slips AND length(translate(p_plain, w.folded, '')) <= p_slips
            ORDER BY likeness DESC, w.word LIMIT nearest;
        RETURN;
    END IF;
    PERFORM set_config('pg_trgm.similarity_threshold', p_threshold::text, true);
    RETURN QUERY
        SELECT DISTINCT s.word, s.folded, s.likeness
        FROM (SELECT w.word, w.folded, similarity(w.folded, p_plain)::double precision AS likeness FROM words w
              WHERE w.folded % p_plain AND w.tenant_id || '' = p_tenant AND length(w.folded) BETWEEN shortest AND longest
                AND length(translate(w.folded, p_plain, '')) <= p_slips AND length(translate(p_plain, w.folded, '')) <= p_slips
              OFFSET 0) s
        ORDER BY s.likeness DESC, s.word LIMIT nearest;
    PERFORM set_config('pg_trgm.similarity_threshold', coalesce(before, '0.3'), true);
END $$;
REVOKE EXECUTE ON FUNCTION similar_words FROM PUBLIC;
COMMENT ON FUNCTION similar_words IS
    'The words of a tenant most similar to an unaccented word. p_threshold: of trigrams, in a large vocabulary.';
