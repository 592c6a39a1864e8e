-- mem_141: a tenant with a sixteenth of the table or more reads as many lists as one that is all of it.
--
-- As in mem_130, but for the share. What was measured there showed no difference down to a sixteenth, so only a smaller share
-- reads more: by the fourth root of what it lacks of a sixteenth.
CREATE OR REPLACE FUNCTION vector_probes(p_rows double precision, p_total double precision, p_lists integer, p_trained bigint)
    RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    share double precision := p_rows / greatest(1, p_total);
    probes double precision;
BEGIN
    -- few rows: exact is as fast; an index that knows less than a quarter of the rows: its lists no longer fit
    IF p_rows <= 1500 OR coalesce(p_lists, 0) < 2 OR p_trained * 4 < p_total THEN
        RETURN 0;
    END IF;
    probes := least(p_lists, ceil((34 + 0.012 * p_lists) / least(1, 16 * share) ^ 0.25));
    RETURN CASE WHEN probes / p_lists * p_total * 0.25 + 200 < p_rows * 0.4 THEN probes ELSE 0 END;
END $$;
