-- Before each statement that writes to a table, PostgreSQL reads the constraints of that table from their stored text. Those of
-- facts took a sixth of storing one. Functions stay parsed, and a constraint that calls one is short; a list of values is
-- shorter as one constant.
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

CREATE FUNCTION fact_kinds_are_known(validity text, permanence text, source text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN validity IN ('active', 'superseded', 'expired', 'retracted')
        AND permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')
        AND source IN ('person', 'agent', 'session', 'import', 'untrusted');
END $$;
COMMENT ON FUNCTION fact_kinds_are_known IS 'Constraint: the values that validity, permanence and source of a fact may have.';

CREATE FUNCTION fact_numbers_are_in_range(importance double precision, confidence double precision, decay_rate double precision)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN importance >= 0 AND importance <= 10 AND confidence >= 0 AND confidence <= 1
        AND decay_rate >= 0 AND decay_rate < 'infinity';
END $$;
COMMENT ON FUNCTION fact_numbers_are_in_range IS 'Constraint: importance from 0 to 10, confidence from 0 to 1, a finite decay rate from 0.';

CREATE FUNCTION fact_documents_are_shaped(tags jsonb, metadata jsonb, dates jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN jsonb_typeof(tags) = 'array' AND jsonb_typeof(metadata) = 'object' AND jsonb_typeof(dates) = 'object';
END $$;
COMMENT ON FUNCTION fact_documents_are_shaped IS 'Constraint: tags are a list, metadata and dates are objects.';

ALTER TABLE facts
    DROP CONSTRAINT facts_validity_known,
    DROP CONSTRAINT facts_permanence_known,
    DROP CONSTRAINT facts_source_known,
    ADD CONSTRAINT facts_kinds_known CHECK (fact_kinds_are_known(validity, permanence, source)),
    DROP CONSTRAINT facts_importance_range,
    DROP CONSTRAINT facts_confidence_range,
    DROP CONSTRAINT facts_decay_range,
    ADD CONSTRAINT facts_numbers_in_range CHECK (fact_numbers_are_in_range(importance, confidence, decay_rate)),
    DROP CONSTRAINT facts_tags_list,
    DROP CONSTRAINT facts_metadata_object,
    DROP CONSTRAINT facts_dates_object,
    ADD CONSTRAINT facts_documents_shaped CHECK (fact_documents_are_shaped(tags, metadata, dates)),
    DROP CONSTRAINT facts_times_plausible,
    DROP CONSTRAINT facts_valid_dates_plausible,
    ADD CONSTRAINT facts_times_plausible
        CHECK (times_are_plausible(created_at, last_referenced_at, last_confirmed_at, valid_from, valid_to, observed_at,
                                   placed_at, ended_at)),
    DROP CONSTRAINT facts_holds_plausible,
    ADD CONSTRAINT facts_holds_plausible CHECK (bounds_are_plausible(holds_from, holds_to));
ALTER TABLE fact_beliefs
    DROP CONSTRAINT fact_beliefs_holds_plausible,
    ADD CONSTRAINT fact_beliefs_holds_plausible CHECK (bounds_are_plausible(holds_from, holds_to));
ALTER TABLE memory_links
    DROP CONSTRAINT memory_links_types_known,
    ADD CONSTRAINT memory_links_types_known CHECK (ARRAY[source_type, target_type] <@ '{episode,fact,rule}');
ALTER TABLE memory_events
    DROP CONSTRAINT memory_events_memory_type_known,
    ADD CONSTRAINT memory_events_memory_type_known CHECK (memory_type = ANY ('{episode,fact,rule,entity}'));
