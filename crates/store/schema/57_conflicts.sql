-- Pairs of facts that contradict or repeat each other, until somebody resolves them.

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
    verdict     text,
    reason      text,
    judged_at   timestamptz,
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
    CONSTRAINT conflicts_times_plausible CHECK (time_is_plausible(found_at) AND time_is_plausible(resolved_at)),
    CONSTRAINT conflicts_verdict_known CHECK (verdict IN ('contradiction', 'duplicate', 'both_true', 'unrelated')),
    CONSTRAINT conflicts_verdict_whole CHECK (num_nonnulls(verdict, reason, judged_at) IN (0, 3)),
    CONSTRAINT conflicts_judged_plausible CHECK (time_is_plausible(judged_at))
);
COMMENT ON TABLE conflicts IS
    'Pairs of facts that contradict or repeat each other. A pair is shown while it is open and both facts are active.';
COMMENT ON COLUMN conflicts.fact_a IS 'The fact with the lesser id, so that a pair is recorded once.';
COMMENT ON COLUMN conflicts.why IS 'In what the facts differ or agree (domain::conflicts).';
COMMENT ON COLUMN conflicts.score IS 'The cosine similarity of the two statements. NULL: they were not compared.';
COMMENT ON COLUMN conflicts.resolved_by IS 'The actor of the call that resolved it.';
COMMENT ON COLUMN conflicts.verdict IS 'What the language model says the pair is. NULL: it was not judged.';
COMMENT ON COLUMN conflicts.reason IS 'Why, in the words of the language model.';
CREATE UNIQUE INDEX conflicts_pair ON conflicts (tenant_id, fact_a, fact_b);
CREATE INDEX conflicts_state ON conflicts (tenant_id, state, found_at DESC, id);
-- the reverse of the foreign keys, and what a fact is in conflict with
CREATE INDEX conflicts_fact_a ON conflicts (fact_a);
CREATE INDEX conflicts_fact_b ON conflicts (fact_b);

CREATE TABLE conflicts_due (
    tenant_id text NOT NULL DEFAULT 'default',
    fact_id   uuid NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    CONSTRAINT conflicts_due_pkey PRIMARY KEY (tenant_id, fact_id)
);
COMMENT ON TABLE conflicts_due IS 'Facts of an import that the job has not compared with the others yet.';
-- the reverse of the foreign key
CREATE INDEX conflicts_due_fact ON conflicts_due (fact_id);
