-- mem_111: the mark of what fades, put on and taken off in one place. A status of the user's own is set aside meanwhile
-- instead of being overwritten, and comes back with the mark's end.
CREATE FUNCTION fading_marked(metadata jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN memory_is_fading(metadata) THEN metadata
                WHEN metadata ? 'status'
                THEN metadata || jsonb_build_object('status', 'fading', 'status_before_fading', metadata -> 'status')
                ELSE metadata || '{"status": "fading"}' END
$$;

CREATE FUNCTION fading_unmarked(metadata jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN NOT memory_is_fading(metadata) THEN metadata
                WHEN metadata ? 'status_before_fading'
                THEN (metadata - 'status_before_fading') || jsonb_build_object('status', metadata -> 'status_before_fading')
                ELSE metadata - 'status' END
$$;
