-- What this schema already contains: the applied migrations and the applied functions; and what is known about time.
--
-- The files of this folder are the current state. A new database executes them in the order of their names. Names are
-- unqualified: the connection's search_path puts the butler's own schema first, so a butler can live in any schema.
-- Extensions exist beforehand (store::extensions), because a role that may not create them can still use them.

-- An earlier program may have created it and stopped before its first migration.
CREATE TABLE IF NOT EXISTS butler_migrations (
    version    text PRIMARY KEY,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE butler_migrations IS 'The migrations this schema contains, whether it was created with them or migrated.';
COMMENT ON COLUMN butler_migrations.checksum IS
    'SHA-256 of the migration''s text; ''schema'' for the versions that schema/ replaces.';

CREATE TABLE butler_functions (
    only_row   boolean PRIMARY KEY DEFAULT true,
    revision   integer NOT NULL,
    hash       text NOT NULL,
    signatures text[] NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT butler_functions_one_row CHECK (only_row)
);
COMMENT ON TABLE butler_functions IS 'Which version of the SQL functions (functions/*.sql) this schema has. One row.';
COMMENT ON COLUMN butler_functions.only_row IS 'Always true, so the primary key allows one row.';
COMMENT ON COLUMN butler_functions.revision IS 'The number in functions/REVISION. A program with a smaller one leaves the functions alone.';
COMMENT ON COLUMN butler_functions.hash IS 'SHA-256 of the function files.';
COMMENT ON COLUMN butler_functions.signatures IS
    'name(argument types) of each function the files created, so that a removed function can be dropped and a user''s own cannot.';

-- The program cannot hold every time that PostgreSQL can, and reading one such row would fail all reads of its tenant.
-- PL/pgSQL, because a constraint inlines a function in SQL for each statement, which costs more than the statement.
CREATE FUNCTION time_is_plausible(at timestamptz) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN at IS NULL
        OR isfinite(at) AND at >= timestamptz '0001-01-01 00:00:00+00' AND at < timestamptz '10000-01-01 00:00:00+00';
END $$;
COMMENT ON FUNCTION time_is_plausible IS 'Whether a time is finite and in the years 1 to 9999. NULL is plausible.';

-- These two do not call time_is_plausible: while a dump is restored, the search path does not find it.
CREATE FUNCTION times_are_plausible(VARIADIC times timestamptz[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    at timestamptz;
BEGIN
    FOREACH at IN ARRAY times LOOP
        IF at < timestamptz '0001-01-01 00:00:00+00' OR at >= timestamptz '10000-01-01 00:00:00+00' THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END $$;
COMMENT ON FUNCTION times_are_plausible IS 'Whether each of these times is plausible (time_is_plausible).';

CREATE FUNCTION bounds_are_plausible(lower_bound timestamptz, upper_bound timestamptz) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN (NOT isfinite(lower_bound)
            OR lower_bound >= timestamptz '0001-01-01 00:00:00+00' AND lower_bound < timestamptz '10000-01-01 00:00:00+00')
       AND (NOT isfinite(upper_bound)
            OR upper_bound >= timestamptz '0001-01-01 00:00:00+00' AND upper_bound < timestamptz '10000-01-01 00:00:00+00');
END $$;
COMMENT ON FUNCTION bounds_are_plausible IS 'Whether each bound is infinite or plausible (time_is_plausible).';

CREATE TABLE butler_clock (
    only_row boolean PRIMARY KEY DEFAULT true,
    latest   timestamptz,
    hold     text,
    CONSTRAINT butler_clock_one_row CHECK (only_row),
    CONSTRAINT butler_clock_times_plausible CHECK (time_is_plausible(latest))
);
COMMENT ON TABLE butler_clock IS 'Whether the clock can be trusted with jobs that delete. At most one row.';
COMMENT ON COLUMN butler_clock.only_row IS 'Always true, so the primary key allows one row.';
COMMENT ON COLUMN butler_clock.latest IS 'The latest time that was trusted.';
COMMENT ON COLUMN butler_clock.hold IS 'Why jobs that delete wait; NULL: they do not.';
