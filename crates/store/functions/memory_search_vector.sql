-- A tsvector holds 1 MB with positions. A text within its own limit can have more distinct words than that; then its
-- beginning is indexed, rather than refusing the whole memory.
CREATE OR REPLACE FUNCTION memory_search_vector(body text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    -- A text this short always fits, and needs no subtransaction.
    IF octet_length(body) <= 131072 THEN
        RETURN to_tsvector('pg_catalog.english', body);
    END IF;
    LOOP
        BEGIN
            RETURN to_tsvector('pg_catalog.english', body);
        EXCEPTION
            WHEN program_limit_exceeded THEN body := left(body, length(body) / 2);
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION memory_search_vector IS 'The words of a memory, for keyword search.';
