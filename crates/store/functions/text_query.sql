-- Text search queries: a query as typed, taken apart into terms and put together again.
--
-- A term is the text of a tsquery with one lexeme ('peanut'). query_terms, any_of and all_of are plpgsql: an SQL function that
-- cannot be inlined is prepared again in each statement that calls it.

-- The text of a tsquery quotes its lexemes, and no lexeme contains a space, so only ' & ' separates.
CREATE OR REPLACE FUNCTION query_terms(strict tsquery) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$ BEGIN RETURN ARRAY(
        SELECT t.term FROM unnest(CASE WHEN numnode(strict) > 0 THEN string_to_array(strict::text, ' & ') END)
                           WITH ORDINALITY AS t (term, n) GROUP BY t.term ORDER BY min(t.n)); END $$;
COMMENT ON FUNCTION query_terms IS 'The distinct terms of a query that requires all of them.';

CREATE OR REPLACE FUNCTION term_lexeme(term text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT replace(replace(substr(term, 2, length(term) - 2), '''''', ''''), '\\', '\') $$;
COMMENT ON FUNCTION term_lexeme IS 'The lexeme of a term, without its quotes.';

CREATE OR REPLACE FUNCTION any_of(terms text[]) RETURNS tsquery LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$ BEGIN RETURN CASE WHEN cardinality(terms) > 0 THEN array_to_string(terms, ' | ')::tsquery END; END $$;
COMMENT ON FUNCTION any_of IS 'A query that any of the terms satisfies; NULL without terms.';

CREATE OR REPLACE FUNCTION all_of(terms text[]) RETURNS tsquery LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$ BEGIN RETURN CASE WHEN cardinality(terms) > 0 THEN array_to_string(terms, ' & ')::tsquery END; END $$;
COMMENT ON FUNCTION all_of IS 'A query that requires all of the terms; NULL without terms.';

CREATE OR REPLACE FUNCTION terms_in(search_vector tsvector, strict tsquery) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(term_lexeme(t)), '[]') FROM unnest(query_terms(strict)) AS t WHERE search_vector @@ t::tsquery
$$;
COMMENT ON FUNCTION terms_in IS 'The terms of the query that a memory contains.';

CREATE OR REPLACE FUNCTION typed_query(words text) RETURNS tsquery LANGUAGE sql STABLE AS $$
    SELECT string_agg(term || ':*', ' & ')::tsquery
    FROM unnest(query_terms(plainto_tsquery('pg_catalog.english', script_pairs(words)))) t (term)
$$;
COMMENT ON FUNCTION typed_query IS 'What a person has typed so far: each word is a prefix, all are required. NULL if nothing of it is a word.';

CREATE OR REPLACE FUNCTION spaced_words(words text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT ' ' || trim(regexp_replace(lower(words), '[^[:alnum:]]+', ' ', 'g')) || ' ' $$;
COMMENT ON FUNCTION spaced_words IS 'Lower-case words with single spaces between and around them, so that strpos finds whole words.';

-- Thai, Lao, Myanmar, Khmer, Kana and Han are written without spaces; their words are indexed as pairs of characters
-- (domain::scripts).
CREATE OR REPLACE FUNCTION is_paired(terms text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    joined constant text := array_to_string(terms, '');
BEGIN
    -- Most queries are ASCII, which takes no query to tell.
    IF octet_length(joined) = length(joined) THEN
        RETURN false;
    END IF;
    RETURN terms <> '{}' AND NOT EXISTS (
        SELECT FROM unnest(terms) AS t WHERE t !~ '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3040-\u30FF\u3400-\u9FFF]');
END $$;
COMMENT ON FUNCTION is_paired IS 'Whether a query consists of character pairs only.';
