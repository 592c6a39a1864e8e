-- Called at each start, since pg_trgm may be installed later than the schema.
CREATE OR REPLACE FUNCTION create_entity_trigrams() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regprocedure('word_similarity(text, text)') IS NOT NULL THEN
        CREATE INDEX IF NOT EXISTS entities_name_trigrams ON entities USING gin (lower_names gin_trgm_ops)
            WITH (gin_pending_list_limit = 128) WHERE entity_is_live(metadata);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION create_entity_trigrams FROM PUBLIC;
COMMENT ON FUNCTION create_entity_trigrams IS 'Creates the index for similar names where pg_trgm is installed.';
