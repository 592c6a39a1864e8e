-- The mark of a fading memory is metadata.status. A status of the user's own is set aside meanwhile and comes back when
-- the mark is removed.

CREATE OR REPLACE FUNCTION fading_marked(metadata jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN memory_is_fading(metadata) THEN metadata
                WHEN metadata ? 'status'
                THEN metadata || jsonb_build_object('status', 'fading', 'status_before_fading', metadata -> 'status')
                ELSE metadata || '{"status": "fading"}' END
$$;
COMMENT ON FUNCTION fading_marked IS 'The metadata with the mark of a fading memory.';

CREATE OR REPLACE FUNCTION fading_unmarked(metadata jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN NOT memory_is_fading(metadata) THEN metadata
                WHEN metadata ? 'status_before_fading'
                THEN (metadata - 'status_before_fading') || jsonb_build_object('status', metadata -> 'status_before_fading')
                ELSE metadata - 'status' END
$$;
COMMENT ON FUNCTION fading_unmarked IS 'The metadata without the mark of a fading memory.';
