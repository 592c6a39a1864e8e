-- The clock's time, unless it is long after the latest trusted time (butler_clock, which a server renews every ten minutes).
-- What ends at a given time must not come back when a wrong clock is corrected.
CREATE OR REPLACE FUNCTION plausible_now(p_at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
    latest constant timestamptz := (SELECT c.latest FROM butler_clock c);
BEGIN
    RETURN CASE WHEN p_at > latest + interval '1 hour' THEN latest ELSE p_at END;
END $$;
REVOKE EXECUTE ON FUNCTION plausible_now FROM PUBLIC;
GRANT EXECUTE ON FUNCTION plausible_now TO butler_app;
COMMENT ON FUNCTION plausible_now IS 'The given time, or the latest trusted one if the given one is long after it.';
