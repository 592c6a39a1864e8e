-- Contradictions and duplicates become visible instead of piling up. Pairs that exist already are found by the nightly job.

CREATE TABLE conflicts (
    id          uuid PRIMARY KEY,
    tenant_id   text NOT NULL DEFAULT 'default',
    fact_a      uuid NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    fact_b      uuid NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    kind        text NOT NULL,
    why         text NOT NULL,
    score       double precision,
    found_at    timestamptz NOT NULL,
    found_by    text NOT NULL,
    state       text NOT NULL DEFAULT 'open',
    resolution  text,
    resolved_at timestamptz,
    resolved_by text,
    CONSTRAINT conflicts_ordered CHECK (fact_a < fact_b),
    CONSTRAINT conflicts_kind_known CHECK (kind IN ('contradiction', 'duplicate')),
    CONSTRAINT conflicts_why_known
        CHECK (why IN ('number', 'date', 'negation', 'opposite', 'scopes', 'subjects', 'near_identical')),
    CONSTRAINT conflicts_found_by_known CHECK (found_by IN ('store', 'job', 'judge')),
    CONSTRAINT conflicts_state_known CHECK (state IN ('open', 'resolved')),
    CONSTRAINT conflicts_resolution_known
        CHECK (resolution IN ('keep_a', 'keep_b', 'keep_both', 'merge', 'forget_both')),
    CONSTRAINT conflicts_resolution_whole
        CHECK ((state = 'resolved') = (resolution IS NOT NULL) AND (state = 'resolved') = (resolved_at IS NOT NULL)),
    CONSTRAINT conflicts_times_plausible CHECK (time_is_plausible(found_at) AND time_is_plausible(resolved_at))
);
COMMENT ON TABLE conflicts IS
    'Pairs of facts that contradict or repeat each other. A pair is shown while it is open and both facts are active.';
COMMENT ON COLUMN conflicts.fact_a IS 'The fact with the lesser id, so that a pair is recorded once.';
COMMENT ON COLUMN conflicts.why IS 'In what the facts differ or agree (domain::conflicts).';
COMMENT ON COLUMN conflicts.score IS 'The cosine similarity of the two statements. NULL: they were not compared.';
COMMENT ON COLUMN conflicts.resolved_by IS 'The actor of the call that resolved it.';
CREATE UNIQUE INDEX conflicts_pair ON conflicts (tenant_id, fact_a, fact_b);
CREATE INDEX conflicts_state ON conflicts (tenant_id, state, found_at DESC, id);
-- the reverse of the foreign keys, and what a fact is in conflict with
CREATE INDEX conflicts_fact_a ON conflicts (fact_a);
CREATE INDEX conflicts_fact_b ON conflicts (fact_b);
GRANT SELECT, INSERT, UPDATE, DELETE ON conflicts TO butler_app;
ALTER TABLE conflicts ENABLE ROW LEVEL SECURITY;
ALTER TABLE conflicts FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON conflicts TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON conflicts TO CURRENT_USER USING (true) WITH CHECK (true);
