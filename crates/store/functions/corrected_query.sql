-- What a person has typed, with misspelled words corrected, for the dashboard. A typed word is corrected if no word of the
-- tenant's memories begins with it. First come words that begin with it without accents ("gronn"), else words written alike
-- (near_words). The typed word itself stays an alternative.
CREATE OR REPLACE FUNCTION corrected_query(
    p_tenant text, p_words text, OUT query tsquery, OUT words text, OUT factor double precision)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET client_min_messages = warning AS $$
DECLARE
    -- A query with more unknown words is in another language.
    most_corrected constant integer := 8;
    unknown integer := 0;
    typed text;
    stem text;
    plain text;
    near text[];
    near_factor double precision;
    term tsquery;
    corrected boolean := false;
BEGIN
    IF p_words IS NULL OR to_regprocedure('similarity(text, text)') IS NULL THEN
        RETURN;
    END IF;
    factor := 1;
    FOREACH typed IN ARRAY regexp_split_to_array(trim(p_words), '[\s[:punct:]]+') LOOP
        term := typed_query(typed);
        near := NULL;
        IF term IS NOT NULL AND length(typed) >= 4 AND lower(typed) !~ '[^a-z\u00aa-\u0dff\u1e00-\u1fff]' THEN
            stem := (ts_lexize('pg_catalog.english_stem', lower(typed)))[1];
            IF unknown < most_corrected AND NOT vocabulary_begins(p_tenant, lower(typed)) AND NOT vocabulary_begins(p_tenant, stem) THEN
                unknown := unknown + 1;
                plain := folded_word(lower(typed));
                near := ARRAY(SELECT DISTINCT w.word FROM words w
                              WHERE w.folded LIKE plain || '%' AND w.tenant_id || '' = p_tenant ORDER BY 1 LIMIT 3);
                near_factor := 0.95;
                IF cardinality(near) = 0 THEN
                    SELECT array_agg(n.word ORDER BY n.factor DESC, n.word), max(n.factor) INTO near, near_factor
                        FROM near_words(p_tenant, ARRAY[typed]) n;
                END IF;
            END IF;
        END IF;
        IF cardinality(near) > 0 THEN
            SELECT coalesce(term || t.alike, term) INTO term
                FROM (SELECT string_agg('(' || typed_query(n.word)::text || ')', ' | ')::tsquery AS alike FROM unnest(near) AS n (word)) t;
            factor := factor * near_factor;
            corrected := true;
        END IF;
        query := coalesce(query && term, query, term);
        words := concat_ws(' ', words, coalesce(near[1], typed));
    END LOOP;
    IF NOT corrected THEN
        query := NULL;
        words := NULL;
        factor := NULL;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION corrected_query FROM PUBLIC;
COMMENT ON FUNCTION corrected_query IS
    'query: like typed_query, with near words for misspelled ones. words: the text with the nearest. factor: below 1. All NULL if nothing is misspelled.';

CREATE OR REPLACE FUNCTION browse_query(p_tenant text, p_words text) RETURNS tsquery LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT AS $$
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'words of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN coalesce((corrected_query(p_tenant, p_words)).query, typed_query(p_words));
END $$;
REVOKE EXECUTE ON FUNCTION browse_query FROM PUBLIC;
GRANT EXECUTE ON FUNCTION browse_query TO butler_app;
COMMENT ON FUNCTION browse_query IS 'What a person has typed into a list, as a query: typed_query, or corrected_query where a word is misspelled.';

CREATE OR REPLACE FUNCTION vocabulary_begins(p_tenant text, p_start text) RETURNS boolean LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM words w
                   WHERE w.tenant_id = p_tenant AND w.word ~>=~ p_start AND w.word ~<~ (p_start || chr(1114111)));
END $$;
REVOKE EXECUTE ON FUNCTION vocabulary_begins FROM PUBLIC;
COMMENT ON FUNCTION vocabulary_begins IS 'Whether a word of the tenant''s memories begins with this text.';
