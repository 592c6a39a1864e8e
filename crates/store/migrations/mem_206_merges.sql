-- A merge records what it changed, so that it can be undone. Merges from before this cannot.

CREATE TABLE merges (
    id            uuid PRIMARY KEY,
    tenant_id     text NOT NULL DEFAULT 'default',
    source_id     uuid NOT NULL,
    target_id     uuid NOT NULL,
    facts         uuid[] NOT NULL,
    edges         uuid[] NOT NULL,
    superseded    jsonb NOT NULL,
    aliases       text[] NOT NULL,
    metadata_keys text[] NOT NULL,
    merged_at     timestamptz NOT NULL,
    undone_at     timestamptz,
    CONSTRAINT merges_source_same_tenant FOREIGN KEY (tenant_id, source_id) REFERENCES entities (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT merges_target_same_tenant FOREIGN KEY (tenant_id, target_id) REFERENCES entities (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT merges_superseded_list CHECK (jsonb_typeof(superseded) = 'array'),
    CONSTRAINT merges_times_plausible CHECK (time_is_plausible(merged_at) AND time_is_plausible(undone_at))
);
COMMENT ON TABLE merges IS 'What each merge of two entities changed, so that it can be undone (unmerge_facts).';
COMMENT ON COLUMN merges.facts IS 'The facts about the source that were moved.';
COMMENT ON COLUMN merges.edges IS 'The relations to the source that were moved.';
COMMENT ON COLUMN merges.superseded IS 'Of facts that met on one key: winner, loser, and what the winner superseded before.';
COMMENT ON COLUMN merges.aliases IS 'The names that the target got.';
COMMENT ON COLUMN merges.metadata_keys IS 'The keys that the target''s metadata got.';
CREATE UNIQUE INDEX merges_source ON merges (tenant_id, source_id) WHERE undone_at IS NULL;
CREATE INDEX merges_target ON merges (tenant_id, target_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON merges TO butler_app;
ALTER TABLE merges ENABLE ROW LEVEL SECURITY;
ALTER TABLE merges FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON merges TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON merges TO CURRENT_USER USING (true) WITH CHECK (true);
