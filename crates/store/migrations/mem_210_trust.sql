-- Where memories come from, what waits for approval, and what must not be learned again.

ALTER TABLE episodes
    ADD COLUMN source   text NOT NULL DEFAULT 'session',
    ADD COLUMN held_for jsonb,
    ADD CONSTRAINT episodes_source_known CHECK (source IN ('person', 'agent', 'session', 'import', 'untrusted')),
    ADD CONSTRAINT episodes_held_for_list CHECK (jsonb_typeof(held_for) = 'array');
COMMENT ON COLUMN episodes.source IS 'Where it comes from: person, agent, session, import or untrusted. Facts and rules inherit the least trusted.';
COMMENT ON COLUMN episodes.held_for IS 'Why consolidation leaves it out until somebody releases it: what in it looks like an instruction. NULL: not held.';
ALTER TABLE facts
    ADD COLUMN source text NOT NULL DEFAULT 'agent',
    ADD CONSTRAINT facts_source_known CHECK (source IN ('person', 'agent', 'session', 'import', 'untrusted'));
COMMENT ON COLUMN facts.source IS 'The least trusted of who stored it and the episodes it is derived from.';
ALTER TABLE rules
    ADD COLUMN source text NOT NULL DEFAULT 'agent',
    ADD CONSTRAINT rules_source_known CHECK (source IN ('person', 'agent', 'session', 'import', 'untrusted'));
COMMENT ON COLUMN rules.source IS 'The least trusted of who stored it and the episodes it is derived from.';
CREATE INDEX rules_forgotten ON rules (tenant_id) WHERE metadata -> 'forgotten' = 'true';
-- What is known of the past.
UPDATE episodes SET source = 'untrusted' WHERE metadata ->> 'source' = 'untrusted';
UPDATE facts f SET source = 'session' FROM memory_links l
    WHERE l.tenant_id = f.tenant_id AND l.source_type = 'fact' AND l.source_id = f.id AND l.relation = 'derived_from' AND l.target_type = 'episode';
UPDATE rules r SET source = 'session' FROM memory_links l
    WHERE l.tenant_id = r.tenant_id AND l.source_type = 'rule' AND l.source_id = r.id AND l.relation = 'derived_from' AND l.target_type = 'episode';

CREATE TABLE proposals (
    id            uuid PRIMARY KEY,
    tenant_id     text NOT NULL DEFAULT 'default',
    memory_type   text NOT NULL,
    memory        jsonb NOT NULL,
    statement_key text NOT NULL,
    source        text NOT NULL,
    proposed_by   text,
    created_at    timestamptz NOT NULL,
    state         text NOT NULL DEFAULT 'open',
    decided_at    timestamptz,
    decided_by    text,
    CONSTRAINT proposals_type_known CHECK (memory_type IN ('fact', 'rule')),
    CONSTRAINT proposals_state_known CHECK (state IN ('open', 'approved', 'rejected')),
    CONSTRAINT proposals_source_known CHECK (source IN ('person', 'agent', 'session', 'import', 'untrusted')),
    CONSTRAINT proposals_memory_object CHECK (jsonb_typeof(memory) = 'object'),
    CONSTRAINT proposals_times_plausible CHECK (time_is_plausible(created_at) AND time_is_plausible(decided_at))
);
COMMENT ON TABLE proposals IS 'Facts and rules that take effect only after a person approves them, because their source is not trusted.';
COMMENT ON COLUMN proposals.id IS 'Also the id of the memory once it is approved.';
COMMENT ON COLUMN proposals.memory IS 'The argument for store_fact or store_rule.';
COMMENT ON COLUMN proposals.statement_key IS 'A hash of what is stated about what. The same statement is proposed once.';
CREATE UNIQUE INDEX proposals_statement ON proposals (tenant_id, statement_key);
CREATE INDEX proposals_open ON proposals (tenant_id, created_at, id) WHERE state = 'open';

CREATE TABLE tombstones (
    id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id       text NOT NULL DEFAULT 'default',
    memory_type     text NOT NULL,
    memory_id       uuid,
    hash            bytea,
    created_at      timestamptz NOT NULL,
    suppressed      integer NOT NULL DEFAULT 0,
    suppressed_at   timestamptz,
    allowed_at      timestamptz,
    allowed_by      text,
    CONSTRAINT tombstones_type_known CHECK (memory_type IN ('fact', 'rule')),
    CONSTRAINT tombstones_of_one CHECK (num_nonnulls(memory_id, hash) = 1),
    CONSTRAINT tombstones_times_plausible
        CHECK (time_is_plausible(created_at) AND time_is_plausible(suppressed_at) AND time_is_plausible(allowed_at))
);
COMMENT ON TABLE tombstones IS
    'What must not be learned again. A forgotten fact or rule is its own tombstone: it has a row here once it was suppressed or '
    'allowed again. What was erased leaves a hash only.';
COMMENT ON COLUMN tombstones.memory_id IS 'The forgotten fact or rule. NULL: it was erased.';
COMMENT ON COLUMN tombstones.hash IS 'Of the erased statement, keyed with the tenant''s key (statement_hash).';
COMMENT ON COLUMN tombstones.suppressed IS 'How often the statement came again and was not stored.';
COMMENT ON COLUMN tombstones.allowed_at IS 'Since when it may be stored again. NULL: it must not.';
CREATE UNIQUE INDEX tombstones_memory ON tombstones (tenant_id, memory_id) WHERE memory_id IS NOT NULL;
CREATE UNIQUE INDEX tombstones_hash ON tombstones (tenant_id, hash) WHERE hash IS NOT NULL;

CREATE TABLE tombstone_keys (
    tenant_id text PRIMARY KEY,
    key       bytea NOT NULL
);
COMMENT ON TABLE tombstone_keys IS 'The secret key of each tenant''s hashes, so that nobody can test what was erased without the database.';
GRANT SELECT, INSERT, UPDATE, DELETE ON proposals, tombstones, tombstone_keys TO butler_app;
ALTER TABLE proposals ENABLE ROW LEVEL SECURITY;
ALTER TABLE proposals FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON proposals TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON proposals TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE tombstones FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON tombstones TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON tombstones TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE tombstone_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE tombstone_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON tombstone_keys TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON tombstone_keys TO CURRENT_USER USING (true) WITH CHECK (true);
