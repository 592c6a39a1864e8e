-- mem_130: a tenant that is a part of a large table reads few more lists than one that is all of it.
--
-- As in mem_080, but for the share. The nearest rows of a part lie in the same lists as those of the whole: with 1000
-- lists of 200 000 rows and queries unlike the rows, recall@20 of a half, a quarter, an eighth and a sixteenth is at
-- most 0.02 below the whole's at every number of probes from 15 on (46 probes: 0.940, 0.933, 0.939, 0.946, 0.954), of a
-- thirty-second 0.917. Divided by the share, a tenant with a fifth of a million rows read a quarter of the table.
CREATE OR REPLACE FUNCTION vector_probes(p_rows double precision, p_total double precision, p_lists integer, p_trained bigint)
    RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    share double precision := least(1, p_rows / greatest(1, p_total));
    probes double precision;
BEGIN
    -- few rows: exact is as fast; an index that knows less than a quarter of the rows: its lists no longer fit
    IF p_rows <= 1500 OR coalesce(p_lists, 0) < 2 OR p_trained * 4 < p_total THEN
        RETURN 0;
    END IF;
    probes := least(p_lists, ceil((34 + 0.012 * p_lists) / share ^ 0.25));
    RETURN CASE WHEN probes / p_lists * p_total * 0.25 + 200 < p_rows * 0.4 THEN probes ELSE 0 END;
END $$;
