-- As an SQL function it was parsed again, once for each time of the row, by each statement that writes.
CREATE OR REPLACE FUNCTION time_is_plausible(at timestamptz) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN at IS NULL OR at >= timestamptz '0001-01-01 00:00:00+00' AND at < timestamptz '10000-01-01 00:00:00+00';
END $$;
