-- In SQL, the function was parsed and inlined anew for each time of each inserted or updated row. PL/pgSQL keeps it parsed,
-- which takes a quarter off the cost of inserting a fact.
CREATE OR REPLACE FUNCTION time_is_plausible(at timestamptz) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN at IS NULL
        OR isfinite(at) AND at >= timestamptz '0001-01-01 00:00:00+00' AND at < timestamptz '10000-01-01 00:00:00+00';
END $$;
