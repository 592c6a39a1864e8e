-- What a search must know about a store to choose its path. It changes slowly and takes a millisecond or two to measure,
-- so the program keeps the answer for a while and passes it back (store::search::pools).
CREATE OR REPLACE FUNCTION memory_pool(p_relation text, p_tenant text, p_scope text) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- Beyond this many rows a sample is accurate enough, and cheaper.
    counted constant integer := 20000;
    sampled constant double precision := 1500;
    newest constant integer := 500;
    tenant_rows double precision;
    table_rows double precision;
    share double precision;
    terms jsonb;
    index_lists integer;
    index_rows bigint;
BEGIN
    EXECUTE format('SELECT %I($1, $2, $3)', p_relation || '_count') INTO tenant_rows USING p_tenant, p_scope, counted;
    -- pages as they are now, rows per page as of the last ANALYZE
    SELECT greatest(tenant_rows, pg_relation_size(c.oid) / current_setting('block_size')::double precision
                                 * CASE WHEN c.reltuples > 0 AND c.relpages > 0 THEN c.reltuples / c.relpages ELSE 3 END)
        INTO table_rows FROM pg_class c WHERE c.oid = p_relation::regclass;
    IF tenant_rows > small_store_rows() THEN
        EXECUTE format('SELECT * FROM %I($1, $2, $3, $4)', p_relation || '_sample') INTO share, terms
            USING p_tenant, p_scope, least(100, 100 * sampled / table_rows), newest;
        IF tenant_rows >= counted THEN
            tenant_rows := greatest(tenant_rows, share * table_rows);
        END IF;
    END IF;
    SELECT v.lists, v.row_count INTO index_lists, index_rows FROM vector_indexes v WHERE v.relation = p_relation;
    RETURN jsonb_build_object(
        'rows', tenant_rows, 'total', table_rows, 'small', tenant_rows <= small_store_rows(),
        'lists', index_lists, 'trained', index_rows, 'terms', terms);
END $$;
REVOKE EXECUTE ON FUNCTION memory_pool FROM PUBLIC;
COMMENT ON FUNCTION memory_pool IS
    'rows: the tenant''s. total: the table''s. small: whether a search compares every row. '
    'lists, trained: what the vector index was built with. '
    'terms: the frequent terms with their shares.';

CREATE OR REPLACE FUNCTION pool_row(p_kind text, p_learned boolean, p_pool jsonb) RETURNS retrieved LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    result retrieved;
BEGIN
    result.kind := 'pool';
    result.content := p_kind;
    result.strict := p_learned;
    result.info := p_pool::json;
    RETURN result;
END $$;
COMMENT ON FUNCTION pool_row IS 'What is known about a store, as a row of memory_retrieve.';
