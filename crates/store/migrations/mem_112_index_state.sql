-- mem_112: how large a table is, told by statistics where counting it would read all of it.
--
-- Exactness matters near the size from which an index is trained at all (store::search::train), not beyond: a large table
-- is measured as the planner does it, by rows a page as of the last ANALYZE and the pages there are now. A table that was
-- never analysed is counted.
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
    trained := coalesce((obj_description(to_regclass(p_relation || '_embedding'), 'pg_class')::jsonb ->> 'rows')::bigint, 0);
END $$;
