-- mem_012: what hygiene needs to train a vector index on the data it holds by now (store::search::train).
-- Its comment keeps what an index was trained on, {"lists": …, "rows": …}: it goes with the index, also into a backup.

CREATE FUNCTION vector_index_state(p_relation text, OUT rows bigint, OUT trained bigint) LANGUAGE plpgsql STABLE AS $$
BEGIN
    EXECUTE format('SELECT count(embedding) FROM %I', p_relation) INTO rows;
    trained := coalesce((obj_description(to_regclass(p_relation || '_embedding'), 'pg_class')::jsonb ->> 'rows')::bigint, 0);
END $$;

CREATE FUNCTION set_vector_index_lists(p_relation text, p_lists integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- k-means looks at 50 vectors a list, and keeps a distance of each to each centre; more than the default allows
    PERFORM set_config('maintenance_work_mem', greatest(
        pg_size_bytes(current_setting('maintenance_work_mem')) / 1024,
        (50 * p_lists::bigint * (4 * p_lists + 4 * 384 + 100)) / 1024 + 32 * 1024) || 'kB', false);
    EXECUTE format('ALTER INDEX %I SET (lists = %s)', p_relation || '_embedding', p_lists);
END $$;

CREATE FUNCTION set_vector_index_state(p_relation text, p_lists integer, p_rows bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('COMMENT ON INDEX %I IS %L', p_relation || '_embedding', jsonb_build_object('lists', p_lists, 'rows', p_rows));
END $$;

CREATE FUNCTION drop_invalid_vector_indexes() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    leftover regclass;
BEGIN
    FOR leftover IN SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid AND c.relnamespace = quote_ident(current_schema())::regnamespace
          AND c.relname ~ '^(episodes|facts|rules)_embedding_cc' LOOP
        EXECUTE format('DROP INDEX %s', leftover);
    END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION set_vector_index_lists, set_vector_index_state, drop_invalid_vector_indexes FROM PUBLIC;
