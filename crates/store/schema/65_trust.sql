-- What must not be learned (again): proposals that nobody has approved, and what was forgotten or erased.

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
COMMENT ON COLUMN proposals.statement_key IS
    'Two hashes: of the statement, and of the statement with its scope and dates. Keys of earlier versions have the second only.';
CREATE UNIQUE INDEX proposals_statement ON proposals (tenant_id, statement_key);
CREATE INDEX proposals_rejected ON proposals (tenant_id, statement_key COLLATE "C") WHERE state = 'rejected';
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
COMMENT ON COLUMN tombstones.suppressed_at IS 'When the statement last came again and was not stored. NULL: never.';
COMMENT ON COLUMN tombstones.allowed_by IS
    'The actor who allowed it to be stored again. NULL with allowed_at: an undo, which no list shows.';
CREATE UNIQUE INDEX tombstones_memory ON tombstones (tenant_id, memory_id) WHERE memory_id IS NOT NULL;
CREATE UNIQUE INDEX tombstones_hash ON tombstones (tenant_id, hash) WHERE hash IS NOT NULL;

CREATE TABLE tombstone_keys (
    tenant_id text PRIMARY KEY,
    key       bytea NOT NULL
);
COMMENT ON TABLE tombstone_keys IS 'The secret key of each tenant''s hashes, so that nobody can test what was erased without the database.';
