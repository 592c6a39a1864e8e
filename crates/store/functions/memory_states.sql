-- The states of a memory, each defined once. Functions of this form are inlined, so an index sees through them.
-- entity_is_live and memory_is_fading are part of indexes and therefore in schema/.

CREATE OR REPLACE FUNCTION fact_is_active(validity text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT validity = 'active' $$;
COMMENT ON FUNCTION fact_is_active IS 'Whether a fact is neither superseded, expired nor retracted.';

CREATE OR REPLACE FUNCTION fact_is_believed(validity text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT validity IN ('active', 'superseded') $$;
COMMENT ON FUNCTION fact_is_believed IS 'Whether a fact is neither forgotten nor expired: it is true, or was.';

CREATE OR REPLACE FUNCTION fact_holds(holds_from timestamptz, holds_to timestamptz, at timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT at IS NULL OR holds_from <= at AND at < holds_to $$;
COMMENT ON FUNCTION fact_holds IS 'Whether a fact is true at a moment; NULL asks for no moment.';

-- NULL for most facts: nobody gave a date, and it holds.
CREATE OR REPLACE FUNCTION fact_dates(
    valid_from timestamptz, valid_to timestamptz, observed_at timestamptz, given jsonb, holds_from timestamptz, holds_to timestamptz)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN given IS NOT NULL OR isfinite(holds_from) OR isfinite(holds_to) OR holds_from >= holds_to
                THEN jsonb_build_object('valid_from', valid_from, 'valid_to', valid_to, 'observed_at', observed_at, 'given', given,
                                        'never', holds_from >= holds_to,
                                        'holds_from', CASE WHEN isfinite(holds_from) THEN holds_from END,
                                        'holds_to', CASE WHEN isfinite(holds_to) THEN holds_to END) END
$$;
COMMENT ON FUNCTION fact_dates IS 'When a fact is true, as far as there is something to say about it.';

CREATE OR REPLACE FUNCTION rule_is_remembered(metadata jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT (metadata -> 'forgotten') IS DISTINCT FROM 'true'::jsonb $$;
COMMENT ON FUNCTION rule_is_remembered IS 'Whether a rule is not forgotten.';

-- A fact that decayed has the validity `expired`. For a rule the events tell: those of the sweep name the confidence. Once a
-- person or an agent has forgotten a rule, it never counts as decayed, whatever a wrong clock makes of the order of the events.
CREATE OR REPLACE FUNCTION rule_has_decayed(of_tenant text, of_id uuid, metadata jsonb)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT rule_is_remembered(metadata) AND coalesce((
        SELECT bool_and(e.payload ? 'effective_confidence') FROM memory_events e
        WHERE e.tenant_id = of_tenant AND e.memory_id = of_id AND e.event_type = 'rule_forgotten'), false)
$$;
COMMENT ON FUNCTION rule_has_decayed IS 'Whether the decay sweep, not a person or an agent, forgot a rule.';

CREATE OR REPLACE FUNCTION episode_is_alive(expires_at timestamptz, at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT expires_at IS NULL OR expires_at > at $$;
COMMENT ON FUNCTION episode_is_alive IS 'Whether an episode has not expired.';

-- A forgotten episode ends at once, too; nobody may learn from it any more.
CREATE OR REPLACE FUNCTION episode_is_learnable(of_tenant text, of_id uuid, expires_at timestamptz, at timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT episode_is_alive(expires_at, at)
        OR NOT EXISTS (SELECT FROM memory_events e
                       WHERE e.tenant_id = of_tenant AND e.memory_id = of_id AND e.event_type = 'episode_forgotten')
$$;
COMMENT ON FUNCTION episode_is_learnable IS 'Whether consolidation may read an episode: alive, or expired before it was consolidated.';

-- Leases last minutes, and retries wait for minutes to days. A later time was written by a wrong clock; believing it would
-- block the episodes until then.
CREATE OR REPLACE FUNCTION lease_holds(leased_until timestamptz, at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT leased_until > at AND leased_until < at + interval '1 hour' $$;
COMMENT ON FUNCTION lease_holds IS 'Whether a worker still has an episode.';

CREATE OR REPLACE FUNCTION retry_is_later(retry_at timestamptz, at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT retry_at > at AND retry_at < at + interval '30 days' $$;
COMMENT ON FUNCTION retry_is_later IS 'Whether the next attempt to consolidate an episode is not due yet.';
