-- Up to this size comparing and ranking every row is as fast as any index, so a search of a small store is exact. The
-- program keeps the same number to decide how often it counts a store again (store::search::pools).
CREATE OR REPLACE FUNCTION small_store_rows() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 1500 $$;
COMMENT ON FUNCTION small_store_rows IS 'The number of rows up to which a store is searched exactly.';
