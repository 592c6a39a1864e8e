-- When a fact is true, beside when it was believed; and when an episode happened, beside when it was stored (ADR 205).

ALTER TABLE facts
    ADD COLUMN valid_from  timestamptz,
    ADD COLUMN valid_to    timestamptz,
    ADD COLUMN observed_at timestamptz,
    ADD COLUMN dates       jsonb,
    ADD COLUMN holds_from  timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN holds_to    timestamptz NOT NULL DEFAULT 'infinity',
    ADD COLUMN placed_at   timestamptz,
    ADD COLUMN ended_at    timestamptz,
    ADD COLUMN corrected   boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT facts_valid_dates_plausible
        CHECK (time_is_plausible(valid_from) AND time_is_plausible(valid_to) AND time_is_plausible(observed_at)
               AND time_is_plausible(placed_at) AND time_is_plausible(ended_at)),
    ADD CONSTRAINT facts_holds_plausible
        CHECK ((NOT isfinite(holds_from) OR time_is_plausible(holds_from)) AND (NOT isfinite(holds_to) OR time_is_plausible(holds_to))),
    ADD CONSTRAINT facts_valid_interval CHECK (valid_from < valid_to),
    ADD CONSTRAINT facts_dates_object CHECK (jsonb_typeof(dates) = 'object');
COMMENT ON COLUMN facts.slot IS
    'Part of the key: empty for the present value of a predicate of one value; of several values, the object entity or a hash of the '
    'content. A fact of another time than the present adds @ and when it began to hold.';
COMMENT ON COLUMN facts.valid_from IS 'Since when it is true, as stated. NULL: unknown.';
COMMENT ON COLUMN facts.valid_to IS 'The first moment at which it is no longer true, as stated. NULL: unknown.';
COMMENT ON COLUMN facts.observed_at IS 'When the source said it. NULL: at created_at.';
COMMENT ON COLUMN facts.dates IS 'valid_from, valid_to and observed_at as they were given, in their precision: 2023-03.';
COMMENT ON COLUMN facts.holds_from IS 'Since when it holds, as far as all statements of its key tell (placed_facts).';
COMMENT ON COLUMN facts.holds_to IS 'The first moment at which it no longer holds. Equal to holds_from: it never held.';
COMMENT ON COLUMN facts.placed_at IS 'Since when holds_from and holds_to are believed. NULL: since created_at.';
COMMENT ON COLUMN facts.ended_at IS 'When it was forgotten or expired. NULL: it is believed for the time that it holds.';
COMMENT ON COLUMN facts.corrected IS 'Whether another fact took its place as a correction, so that it tells nothing about any time.';

CREATE TABLE fact_beliefs (
    tenant_id     text NOT NULL DEFAULT 'default',
    fact_id       uuid NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    believed_from timestamptz NOT NULL,
    believed_to   timestamptz NOT NULL,
    holds_from    timestamptz NOT NULL,
    holds_to      timestamptz NOT NULL,
    PRIMARY KEY (fact_id, believed_from),
    CONSTRAINT fact_beliefs_times_plausible CHECK (time_is_plausible(believed_from) AND time_is_plausible(believed_to)),
    CONSTRAINT fact_beliefs_holds_plausible
        CHECK ((NOT isfinite(holds_from) OR time_is_plausible(holds_from)) AND (NOT isfinite(holds_to) OR time_is_plausible(holds_to))),
    CONSTRAINT fact_beliefs_interval CHECK (believed_from < believed_to)
);
COMMENT ON TABLE fact_beliefs IS
    'What was believed earlier about when a fact holds. The present belief is in facts; a row is added when it changes.';
COMMENT ON COLUMN fact_beliefs.believed_to IS 'The first moment at which it was no longer believed.';
COMMENT ON COLUMN fact_beliefs.holds_to IS 'As in facts: the first moment at which the fact no longer held.';
CREATE INDEX fact_beliefs_then ON fact_beliefs (tenant_id, believed_to, believed_from, holds_to, holds_from);
GRANT SELECT, INSERT, DELETE ON fact_beliefs TO butler_app;
ALTER TABLE fact_beliefs ENABLE ROW LEVEL SECURITY;
ALTER TABLE fact_beliefs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON fact_beliefs TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON fact_beliefs TO CURRENT_USER USING (true) WITH CHECK (true);

-- What is known of the past: a superseded fact held until its successor was stored; a loser of a merge never held.
CREATE TEMPORARY TABLE successors ON COMMIT DROP AS
    SELECT o.id, coalesce(max(n.at), o.created_at) AS at
    FROM facts o
    LEFT JOIN LATERAL (
        SELECT s.created_at AS at FROM facts s WHERE s.tenant_id = o.tenant_id AND s.supersedes_id = o.id
        UNION ALL
        SELECT s.created_at FROM memory_links l JOIN facts s ON s.tenant_id = l.tenant_id AND s.id = l.source_id
        WHERE l.target_type = 'fact' AND l.target_id = o.id AND l.source_type = 'fact' AND l.relation = 'supersedes'
        UNION ALL
        SELECT e.created_at FROM memory_events e
        WHERE e.tenant_id = o.tenant_id AND e.memory_id = o.id AND e.event_type = 'fact_superseded') n ON true
    WHERE o.validity = 'superseded'
    GROUP BY o.id, o.created_at;
CREATE TEMPORARY TABLE losers ON COMMIT DROP AS
    SELECT DISTINCT (p.pair ->> 'loser')::uuid AS id, m.merged_at AS at
    FROM merges m, jsonb_array_elements(m.superseded) AS p (pair) WHERE m.undone_at IS NULL;
UPDATE facts f SET corrected = true, holds_from = 'infinity', placed_at = greatest(l.at, f.created_at)
    FROM losers l WHERE f.id = l.id AND f.validity = 'superseded';
UPDATE facts f SET holds_to = greatest(s.at, f.created_at), placed_at = greatest(s.at, f.created_at)
    FROM successors s WHERE f.id = s.id AND f.validity = 'superseded' AND NOT f.corrected;
CREATE TEMPORARY TABLE changes ON COMMIT DROP AS
    SELECT f.id FROM facts f JOIN facts o ON o.tenant_id = f.tenant_id AND o.id = f.supersedes_id AND NOT o.corrected
    UNION
    SELECT l.source_id FROM memory_links l JOIN facts o ON o.tenant_id = l.tenant_id AND o.id = l.target_id AND NOT o.corrected
    WHERE l.source_type = 'fact' AND l.target_type = 'fact' AND l.relation = 'supersedes';
UPDATE facts f SET holds_from = f.created_at
    FROM changes c WHERE f.id = c.id AND NOT f.corrected AND f.created_at <= f.holds_to;
INSERT INTO fact_beliefs (tenant_id, fact_id, believed_from, believed_to, holds_from, holds_to)
    SELECT f.tenant_id, f.id, f.created_at, f.placed_at, CASE WHEN f.corrected THEN '-infinity' ELSE f.holds_from END, 'infinity'
    FROM facts f WHERE f.placed_at > f.created_at;
UPDATE facts f SET ended_at = greatest(f.created_at, e.at)
    FROM (SELECT e.tenant_id, e.memory_id, max(e.created_at) AS at FROM memory_events e
          WHERE e.event_type IN ('fact_forgotten', 'fact_expired') GROUP BY e.tenant_id, e.memory_id) e
    WHERE f.tenant_id = e.tenant_id AND f.id = e.memory_id AND f.validity IN ('retracted', 'expired');
UPDATE facts f SET ended_at = f.created_at WHERE f.validity IN ('retracted', 'expired') AND f.ended_at IS NULL;

-- the statements of one key, in the order of time
CREATE INDEX facts_timeline ON facts (tenant_id, holder, predicate_key, holds_from);
-- what held at a moment, without reading a row
CREATE INDEX facts_held ON facts (tenant_id, holds_to, holds_from) INCLUDE (placed_at, ended_at, created_at, scope);
-- present values whose time ends, which a job moves to the past (settle_facts)
CREATE INDEX facts_ending ON facts (holds_to) WHERE validity = 'active' AND holds_to < 'infinity' AND strpos(slot, '@') = 0;

ALTER TABLE episodes ADD COLUMN occurred_at timestamptz;
UPDATE episodes SET occurred_at = created_at;
ALTER TABLE episodes
    ALTER COLUMN occurred_at SET NOT NULL, ALTER COLUMN occurred_at SET DEFAULT now(),
    ADD CONSTRAINT episodes_occurred_plausible CHECK (time_is_plausible(occurred_at));
COMMENT ON COLUMN episodes.occurred_at IS 'When it happened. An import or a transcript is stored later (created_at).';
CREATE INDEX episodes_tenant_occurred ON episodes (tenant_id, occurred_at DESC, id);
