-- How many lists of the vector index to read.
--
-- Measured on real sentences: 37 of 250 lists hold recall@20 at 0.985, 43 of 790 at 0.996. The nearest rows of a part of the
-- table lie in the same lists as those of the whole: down to a sixteenth of the table recall differs by at most 0.02, so
-- only a smaller share reads more lists (docs/adr/0005-lists-and-probes.md).
--
-- Comparing every row costs about 0.4 µs a row of the tenant, probing about 0.25 µs a row of the table in the lists read.
CREATE OR REPLACE FUNCTION vector_probes(p_rows double precision, p_total double precision, p_lists integer, p_trained bigint)
RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    share double precision := p_rows / greatest(1, p_total);
    probes double precision;
BEGIN
    -- With few rows exact is as fast. An index built on less than a quarter of the rows has lists that no longer fit.
    IF p_rows <= small_store_rows() OR coalesce(p_lists, 0) < 2 OR p_trained * 4 < p_total THEN
        RETURN 0;
    END IF;
    probes := least(p_lists, ceil((34 + 0.012 * p_lists) / least(1, 16 * share) ^ 0.25));
    RETURN CASE WHEN probes / p_lists * p_total * 0.25 + 200 < p_rows * 0.4 THEN probes ELSE 0 END;
END $$;
COMMENT ON FUNCTION vector_probes IS 'How many lists of the vector index to read; 0: compare every row of the tenant.';
