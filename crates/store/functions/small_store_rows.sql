-- Up to this size comparing and ranking every row is as fast as any index, so a search of a small store is exact.
-- memory_pool tells the program whether a store is small; the program counts a small one again more often.
CREATE OR REPLACE FUNCTION small_store_rows() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 1500 $$;
COMMENT ON FUNCTION small_store_rows IS 'The number of rows up to which a store is searched exactly.';
