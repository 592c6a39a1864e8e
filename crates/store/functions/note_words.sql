-- The vocabulary of a tenant (schema/55_words.sql): which words a text has, and keeping those that are new.

CREATE OR REPLACE FUNCTION memory_words(body text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    -- The beginning of a long text is enough, and its tsvector fits. Words of 3 letters have too many neighbours to be
    -- corrected. The ranges are the alphabets; scripts without spaces have no words to misspell.
    RETURN ARRAY(SELECT w.word FROM unnest(tsvector_to_array(to_tsvector('pg_catalog.simple', left(body, 65536)))) AS w (word)
                 WHERE length(w.word) BETWEEN 4 AND 40 AND w.word !~ '[^a-z\u00aa-\u0dff\u1e00-\u1fff]'
                   -- the stop words of the english configuration, which no search finds
                   AND w.word <> ALL ('{
                       myself,ours,ourselves,your,yours,yourself,yourselves,himself,hers,herself,itself,they,
                       them,their,theirs,themselves,what,which,whom,this,that,these,those,were,been,being,
                       have,having,does,doing,because,until,while,with,about,against,between,into,through,
                       during,before,after,above,below,from,down,over,under,again,further,then,once,here,
                       there,when,where,both,each,more,most,other,some,such,only,same,than,very,will,just,
                       should}'::text[]));
END $$;
COMMENT ON FUNCTION memory_words IS 'The distinct words of a text in lower case, without stop words and those shorter than 4 letters.';

-- Most letters with an accent decompose into a letter and a mark. The others are listed.
CREATE OR REPLACE FUNCTION folded_word(word text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF octet_length(word) = length(word) OR getdatabaseencoding() <> 'UTF8' THEN
        RETURN word;
    END IF;
    RETURN replace(replace(replace(replace(
        regexp_replace(normalize(translate(word, 'øłđðħıŧ', 'olddhit'), NFD), '[\u0300-\u036f]', '', 'g'),
        'æ', 'ae'), 'œ', 'oe'), 'ß', 'ss'), 'þ', 'th');
END $$;
COMMENT ON FUNCTION folded_word IS 'A lower-case word without accents: grønning becomes gronning.';

-- Runs in every transaction that stores a memory, so it never waits for another one (see the table). One text is the usual
-- case, and most of its words are known.
CREATE OR REPLACE FUNCTION note_words(p_tenant text, p_texts text[]) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    of_texts text[];
    known text[];
BEGIN
    IF cardinality(p_texts) = 1 THEN
        of_texts := memory_words(p_texts[1]);
    ELSE
        of_texts := ARRAY(SELECT DISTINCT w.word FROM unnest(p_texts) AS t (body), unnest(memory_words(t.body)) AS w (word));
    END IF;
    known := ARRAY(SELECT DISTINCT w.word FROM words w WHERE w.tenant_id = p_tenant AND w.word = ANY (of_texts));
    IF cardinality(known) < cardinality(of_texts) THEN
        INSERT INTO words (tenant_id, word, folded)
            SELECT p_tenant, n.word, folded_word(n.word) FROM (SELECT unnest(of_texts) EXCEPT SELECT unnest(known)) AS n (word);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION note_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_words TO butler_app;
COMMENT ON FUNCTION note_words IS 'Adds the words of these texts to the tenant''s vocabulary.';

-- Words of deleted memories usually stay. They find nothing, but a query that contains one is not corrected. Only an erasure removes
-- them, because it has to read all texts of the tenant. Runs as the owner: nobody else deletes words.
CREATE OR REPLACE FUNCTION drop_words(p_tenant text, p_words text[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
    gone text[] := p_words;
    -- for a cheap look at a text; longer lists are slow to compile
    pattern text;
    body text;
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'words of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- Common words are found in the first few memories; then only rare ones are looked for.
    FOR body IN
        SELECT e.lower_names FROM entities e WHERE e.tenant_id = p_tenant
        UNION ALL SELECT concat_ws(' ', f.subject, f.predicate, f.content) FROM facts f WHERE f.tenant_id = p_tenant
        UNION ALL SELECT r.content FROM rules r WHERE r.tenant_id = p_tenant
        UNION ALL SELECT e.content FROM episodes e WHERE e.tenant_id = p_tenant
    LOOP
        EXIT WHEN gone = '{}';
        CONTINUE WHEN lower(body) !~ pattern;
        gone := ARRAY(SELECT unnest(gone) EXCEPT SELECT unnest(memory_words(body)));
        pattern := CASE WHEN cardinality(gone) < 200 THEN array_to_string(gone, '|') END;
    END LOOP;
    DELETE FROM words w WHERE w.tenant_id = p_tenant AND (p_words IS NULL OR w.word = ANY (gone));
END $$;
REVOKE EXECUTE ON FUNCTION drop_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drop_words TO butler_app;
COMMENT ON FUNCTION drop_words IS
    'Removes those of these words that no memory or entity of the tenant contains; NULL: all words of the tenant.';
