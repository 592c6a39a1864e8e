-- A language model may judge the pairs that were found. Facts that an import brings are compared by the next run of the job,
-- whatever their age.

ALTER TABLE conflicts
    ADD COLUMN verdict   text,
    ADD COLUMN reason    text,
    ADD COLUMN judged_at timestamptz,
    ADD CONSTRAINT conflicts_verdict_known CHECK (verdict IN ('contradiction', 'duplicate', 'both_true', 'unrelated')),
    ADD CONSTRAINT conflicts_verdict_whole CHECK (num_nonnulls(verdict, reason, judged_at) IN (0, 3)),
    ADD CONSTRAINT conflicts_judged_plausible CHECK (time_is_plausible(judged_at));
COMMENT ON COLUMN conflicts.verdict IS 'What the language model says the pair is. NULL: it was not judged.';
COMMENT ON COLUMN conflicts.reason IS 'Why, in the words of the language model.';

CREATE TABLE conflicts_due (
    tenant_id text NOT NULL DEFAULT 'default',
    fact_id   uuid NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    CONSTRAINT conflicts_due_pkey PRIMARY KEY (tenant_id, fact_id)
);
COMMENT ON TABLE conflicts_due IS 'Facts of an import that the job has not compared with the others yet.';
-- the reverse of the foreign key
CREATE INDEX conflicts_due_fact ON conflicts_due (fact_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON conflicts_due TO butler_app;
ALTER TABLE conflicts_due ENABLE ROW LEVEL SECURITY;
ALTER TABLE conflicts_due FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON conflicts_due TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON conflicts_due TO CURRENT_USER USING (true) WITH CHECK (true);
