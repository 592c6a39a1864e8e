-- What the host keeps beside the memories: bearer tokens, answers for idempotent retries, schedules and job runs.

CREATE TABLE tokens (
    id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id      text NOT NULL DEFAULT 'default',
    butler         text,
    name           text NOT NULL DEFAULT '',
    token_hash     bytea NOT NULL,
    rights         text[] NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz,
    revoked_at     timestamptz,
    last_used_at   timestamptz,
    parent_id      uuid,
    rotated_at     timestamptz,
    previous_hash  bytea,
    previous_until timestamptz,
    CONSTRAINT tokens_hash_unique UNIQUE (token_hash),
    CONSTRAINT tokens_hash_length CHECK (octet_length(token_hash) = 32),
    -- The metrics count the calls of all tenants, so this right stands alone and its row's tenant means nothing.
    CONSTRAINT tokens_rights_known
        CHECK (cardinality(rights) > 0 AND (rights <@ ARRAY['read', 'write', 'admin'] OR rights = ARRAY['metrics'])),
    CONSTRAINT tokens_previous_length CHECK (octet_length(previous_hash) = 32),
    CONSTRAINT tokens_rotation_whole CHECK (num_nulls(rotated_at, previous_hash, previous_until) IN (0, 3)),
    CONSTRAINT tokens_times_plausible
        CHECK (time_is_plausible(created_at) AND time_is_plausible(expires_at) AND time_is_plausible(revoked_at)
               AND time_is_plausible(last_used_at) AND time_is_plausible(rotated_at) AND time_is_plausible(previous_until))
);
COMMENT ON TABLE tokens IS 'Bearer tokens for the HTTP endpoints.';
COMMENT ON COLUMN tokens.butler IS 'NULL: any butler of the host.';
COMMENT ON COLUMN tokens.token_hash IS 'SHA-256 of the token. The token itself is shown once and never stored.';
-- No foreign key: a token for all butlers may reach this database later than a token it made.
COMMENT ON COLUMN tokens.parent_id IS 'The token that created this one. Revoking a token revokes all its descendants.';
COMMENT ON COLUMN tokens.rotated_at IS 'When the token got its current secret; NULL: when it was created.';
COMMENT ON COLUMN tokens.previous_hash IS 'The secret before the last rotation, accepted until previous_until.';
CREATE INDEX tokens_tenant ON tokens (tenant_id, created_at DESC);

-- A server keeps the tokens in memory. The trigger guards that it refuses a revoked token within a second, whoever
-- revoked it: another process, or a person with psql.
CREATE FUNCTION tell_of_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- the channel is the database's: the payload says which butler's schema it was
    PERFORM pg_notify('butler_tokens', TG_TABLE_SCHEMA);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_of_tokens IS 'Trigger: notifies the servers that a token was created, changed or removed.';
-- last_used_at is left out: using a token changes nothing about who may enter
CREATE TRIGGER tokens_tell
    AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF tenant_id, butler, name, token_hash, rights, expires_at, revoked_at,
        parent_id, rotated_at, previous_hash, previous_until
    ON tokens FOR EACH STATEMENT EXECUTE FUNCTION tell_of_tokens();

CREATE TABLE idempotency_keys (
    tenant_id  text NOT NULL DEFAULT 'default',
    key        text NOT NULL,
    tool       text NOT NULL,
    request    bytea NOT NULL,
    response   jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key),
    CONSTRAINT idempotency_keys_times_plausible CHECK (time_is_plausible(created_at))
);
COMMENT ON TABLE idempotency_keys IS 'The answer to each call that carried an idempotency key, so that a retry gets the same answer.';
COMMENT ON COLUMN idempotency_keys.request IS
    'A digest of the arguments: the same key with other arguments is the caller''s mistake, not a retry.';
COMMENT ON COLUMN idempotency_keys.response IS 'The answer of the first call, which a retry gets. An erasure removes it.';
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

CREATE TABLE schedules (
    job         text PRIMARY KEY,
    tenant_id   text NOT NULL DEFAULT 'default',
    cron        text NOT NULL,
    time_zone   text NOT NULL DEFAULT 'UTC',
    enabled     boolean NOT NULL DEFAULT true,
    last_run_at timestamptz,
    next_run_at timestamptz,
    updated_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT schedules_times_plausible
        CHECK (time_is_plausible(last_run_at) AND time_is_plausible(next_run_at) AND time_is_plausible(updated_at))
);
COMMENT ON TABLE schedules IS 'When each job runs, and when it ran last.';

CREATE TABLE job_runs (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id   text NOT NULL DEFAULT 'default',
    job         text NOT NULL,
    trigger     text NOT NULL,
    status      text NOT NULL DEFAULT 'running',
    worker      text,
    started_at  timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    result      jsonb NOT NULL DEFAULT '{}',
    error       text,
    all_tenants boolean NOT NULL DEFAULT true,
    CONSTRAINT job_runs_status_known CHECK (status IN ('running', 'succeeded', 'failed')),
    CONSTRAINT job_runs_finished CHECK ((status = 'running') = (finished_at IS NULL)),
    CONSTRAINT job_runs_result_object CHECK (jsonb_typeof(result) = 'object'),
    CONSTRAINT job_runs_times_plausible CHECK (time_is_plausible(started_at) AND time_is_plausible(finished_at))
);
COMMENT ON TABLE job_runs IS 'Each run of a job.';
COMMENT ON COLUMN job_runs.trigger IS 'schedule, manual, wake or catch_up.';
COMMENT ON COLUMN job_runs.worker IS 'The process that runs it.';
COMMENT ON COLUMN job_runs.all_tenants IS
    'A scheduled run works for all tenants; each tenant sees only what it did for that tenant. Otherwise the run belongs to tenant_id.';
COMMENT ON COLUMN job_runs.result IS 'The report of the job; of a run that failed, what it did before.';
CREATE INDEX job_runs_job_started ON job_runs (job, started_at DESC);
CREATE INDEX job_runs_tenant ON job_runs (tenant_id, started_at DESC);
CREATE INDEX job_runs_running ON job_runs (job) WHERE status = 'running';
