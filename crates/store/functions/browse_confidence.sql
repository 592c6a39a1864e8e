-- The histogram of the overview: active facts by effective confidence, in 20 bins. An index on
-- decay_rank counts them, one range per decay rate and bin. Runs as the owner, for the reason that browse_facts gives.
CREATE OR REPLACE FUNCTION browse_confidence(p_tenant text, p_at timestamptz, p_scope text)
RETURNS TABLE (bin integer, facts bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET client_min_messages = warning
AS $$
#variable_conflict use_column
DECLARE
    rates double precision[];
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'facts of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    rates := decay_rates(p_tenant);
    IF rates IS NULL THEN
        RETURN QUERY
            SELECT least(19, floor(effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at) * 20))::integer, count(*)
            FROM facts f
            WHERE f.tenant_id = p_tenant AND f.validity = 'active' AND (p_scope IS NULL OR f.scope IN ('global', p_scope))
            GROUP BY 1;
        RETURN;
    END IF;
    -- The slack moves a rank that rounding put just below a bound to the bin it belongs to.
    RETURN QUERY
        SELECT b.bin, sum((
            SELECT count(*) FROM facts f
            WHERE f.tenant_id = p_tenant AND f.validity = 'active' AND f.decay_rate = r.rate
              AND (p_scope IS NULL OR f.scope IN ('global', p_scope))
              AND decay_rank(f.confidence, f.decay_rate, f.last_confirmed_at) >= b.from_rank + e.elapsed - s.slack
              AND decay_rank(f.confidence, f.decay_rate, f.last_confirmed_at) < b.to_rank + e.elapsed - s.slack))::bigint
        FROM unnest(rates) AS r (rate),
             LATERAL (SELECT decay_elapsed(r.rate, p_at) AS elapsed) e,
             LATERAL (SELECT 1e-9 * (1 + abs(e.elapsed)) AS slack) s,
             LATERAL (SELECT n AS bin,
                             CASE n WHEN 0 THEN '-Infinity' ELSE ln(n / 20.0::double precision) END AS from_rank,
                             CASE n WHEN 19 THEN 'Infinity' ELSE ln((n + 1) / 20.0::double precision) END AS to_rank
                      FROM generate_series(0, 19) n) b
        GROUP BY b.bin;
END $$;
REVOKE EXECUTE ON FUNCTION browse_confidence FROM PUBLIC;
GRANT EXECUTE ON FUNCTION browse_confidence TO butler_app;
COMMENT ON FUNCTION browse_confidence IS 'How many active facts have an effective confidence in each of 20 bins.';
