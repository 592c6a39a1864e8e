-- Confidence decays exponentially from the last confirmation. The same as domain::decay, which a test compares. The
-- branches keep exp() away from underflow and overflow.

-- Microseconds are whole numbers in a double; going through numeric would take five times as long.
CREATE OR REPLACE FUNCTION days_between(earlier timestamptz, later timestamptz)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT round(date_part('epoch', later - earlier) * 1000000) / 86400000000.0
$$;
COMMENT ON FUNCTION days_between IS 'Days, to the microsecond.';

CREATE OR REPLACE FUNCTION effective_confidence(
    confidence double precision, decay_rate double precision, confirmed_at timestamptz, at timestamptz)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN decay_rate = 0 THEN confidence
        WHEN confirmed_at IS NULL THEN 0
        WHEN at <= confirmed_at OR decay_rate < 1e-100 THEN confidence
        WHEN confidence < 1e-40 OR decay_rate > 600 / days_between(confirmed_at, at) THEN 0
        ELSE confidence * exp(-decay_rate * days_between(confirmed_at, at))
    END
$$;
COMMENT ON FUNCTION effective_confidence IS 'Confidence after the decay since the last confirmation.';

CREATE OR REPLACE FUNCTION decay_elapsed(decay_rate double precision, at timestamptz)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN decay_rate = 0 THEN 0
        ELSE least(decay_rate, 1e6) * (date_part('epoch', at - timestamptz '2020-01-01 00:00:00+00') / 86400) END
$$;
COMMENT ON FUNCTION decay_elapsed IS 'Decay between decay_rank''s fixed moment and at: effective_confidence = exp(decay_rank − decay_elapsed).';

-- Jumps from rate to rate in the index facts_by_confidence.
CREATE OR REPLACE FUNCTION decay_rates(p_tenant text) RETURNS double precision[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    most constant integer := 64;
    found double precision[] := '{}';
    rate double precision := -1;
BEGIN
    LOOP
        SELECT f.decay_rate INTO rate FROM facts f
            WHERE f.tenant_id = p_tenant AND f.validity = 'active' AND f.decay_rate > rate ORDER BY f.decay_rate LIMIT 1;
        IF rate IS NULL THEN
            RETURN found;
        END IF;
        IF cardinality(found) = most THEN
            RETURN NULL;
        END IF;
        found := found || rate;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION decay_rates FROM PUBLIC;
COMMENT ON FUNCTION decay_rates IS 'The decay rates of a tenant''s active facts; NULL if there are too many to look at each.';
