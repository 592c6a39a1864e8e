-- Bookkeeping of these files themselves (store::functions). Applied before all others.
--
-- A function belongs to the files if this transaction created or replaced it (xmin), so no file has to list its
-- signatures. Functions that butler_functions does not name are the user's or schema/'s, and are left alone.

CREATE OR REPLACE FUNCTION drop_recorded_functions(p_names text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    recorded regprocedure;
BEGIN
    FOR recorded IN
        SELECT p.oid FROM pg_proc p, butler_functions f
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace
          AND p.proname = ANY (p_names)
          AND p.proname || '(' || oidvectortypes(p.proargtypes) || ')' = ANY (f.signatures) LOOP
        EXECUTE format('DROP FUNCTION %s', recorded);
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION drop_recorded_functions FROM PUBLIC;
COMMENT ON FUNCTION drop_recorded_functions IS 'Drops the functions of these names, so that they can be created with another signature.';

CREATE OR REPLACE FUNCTION record_functions(p_revision integer, p_hash text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    leftover regprocedure;
BEGIN
    FOR leftover IN
        SELECT p.oid FROM pg_proc p, butler_functions f
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace
          AND p.proname || '(' || oidvectortypes(p.proargtypes) || ')' = ANY (f.signatures)
          AND p.xmin <> pg_current_xact_id()::xid LOOP
        EXECUTE format('DROP FUNCTION %s', leftover);
    END LOOP;
    INSERT INTO butler_functions (revision, hash, signatures)
        SELECT p_revision, p_hash,
               coalesce(array_agg(p.proname || '(' || oidvectortypes(p.proargtypes) || ')' ORDER BY p.proname), '{}')
        FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.xmin = pg_current_xact_id()::xid
        ON CONFLICT (only_row) DO UPDATE
            SET revision = excluded.revision, hash = excluded.hash, signatures = excluded.signatures, applied_at = excluded.applied_at;
END $$;
REVOKE EXECUTE ON FUNCTION record_functions FROM PUBLIC;
COMMENT ON FUNCTION record_functions IS
    'Records the functions this transaction created, and drops recorded ones that it did not: their file is gone or their signature changed.';
