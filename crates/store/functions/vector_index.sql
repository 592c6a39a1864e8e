-- Training a vector index (store::search::train): an IVFFlat index keeps the centres of the data that it was built on.

-- A large table is measured as the planner does it: rows per page as of the last ANALYZE, times the pages there are now.
-- Exactness matters only near the size from which an index is trained at all; a small table is counted.
CREATE OR REPLACE FUNCTION vector_index_state(p_relation text, OUT rows bigint, OUT trained bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
    counted constant double precision := 20000;
BEGIN
    SELECT CASE WHEN c.reltuples >= 0 AND c.relpages > 0
                THEN c.reltuples / c.relpages * (pg_relation_size(c.oid) / current_setting('block_size')::double precision)
                     * (1 - coalesce((SELECT s.null_frac FROM pg_stats s
                                      WHERE s.schemaname = current_schema() AND s.tablename = p_relation AND s.attname = 'embedding'), 0))
           END
        INTO rows FROM pg_class c WHERE c.oid = p_relation::regclass;
    IF rows IS NULL OR rows < counted THEN
        EXECUTE format('SELECT count(embedding) FROM %I', p_relation) INTO rows;
    END IF;
    trained := coalesce((SELECT v.row_count FROM vector_indexes v WHERE v.relation = p_relation), 0);
END $$;
COMMENT ON FUNCTION vector_index_state IS 'rows: vectors in the table now, estimated for a large table. trained: vectors when its index was built.';

CREATE OR REPLACE FUNCTION set_vector_index_lists(p_relation text, p_lists integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- k-means looks at 50 vectors a list and keeps the distance of each to each centre: more than the default allows.
    PERFORM set_config('maintenance_work_mem', greatest(
        pg_size_bytes(current_setting('maintenance_work_mem')) / 1024,
        (50 * p_lists::bigint * (4 * p_lists + 4 * 384 + 100)) / 1024 + 32 * 1024) || 'kB', false);
    EXECUTE format('ALTER INDEX %I SET (lists = %s)', p_relation || '_embedding', p_lists);
END $$;
REVOKE EXECUTE ON FUNCTION set_vector_index_lists FROM PUBLIC;
COMMENT ON FUNCTION set_vector_index_lists IS 'Sets the lists of a vector index for its next build, and gives this session the memory to build it.';

CREATE OR REPLACE FUNCTION set_vector_index_state(p_relation text, p_lists integer, p_rows bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO vector_indexes (relation, lists, row_count) VALUES (p_relation, p_lists, p_rows)
        ON CONFLICT (relation) DO UPDATE SET lists = excluded.lists, row_count = excluded.row_count;
END $$;
REVOKE EXECUTE ON FUNCTION set_vector_index_state FROM PUBLIC;
COMMENT ON FUNCTION set_vector_index_state IS 'Records what a vector index was built on.';

CREATE OR REPLACE FUNCTION drop_invalid_vector_indexes() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    leftover regclass;
BEGIN
    FOR leftover IN SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid AND c.relnamespace = quote_ident(current_schema())::regnamespace
          AND c.relname ~ '^(episodes|facts|rules)_embedding_cc' LOOP
        EXECUTE format('DROP INDEX %s', leftover);
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION drop_invalid_vector_indexes FROM PUBLIC;
COMMENT ON FUNCTION drop_invalid_vector_indexes IS 'Removes what an interrupted REINDEX CONCURRENTLY left behind.';
