-- Called at each start, since pg_trgm may be installed later than the schema.
CREATE OR REPLACE FUNCTION create_word_trigrams() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regprocedure('similarity(text, text)') IS NOT NULL THEN
        CREATE INDEX IF NOT EXISTS words_trigrams ON words USING gin (folded gin_trgm_ops) WITH (gin_pending_list_limit = 128);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION create_word_trigrams FROM PUBLIC;
COMMENT ON FUNCTION create_word_trigrams IS 'Creates the index for similar words where pg_trgm is installed.';
