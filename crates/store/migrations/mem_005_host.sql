-- mem_005: what the host keeps beside the memories: bearer tokens, schedules and the record of each job run.

CREATE TABLE tokens (
    id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id    text NOT NULL DEFAULT 'default',
    -- NULL: any butler of the host
    butler       text,
    name         text NOT NULL DEFAULT '',
    -- SHA-256 of the token; the token itself is shown once and never stored
    token_hash   bytea NOT NULL,
    rights       text[] NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz,
    CONSTRAINT tokens_hash_unique UNIQUE (token_hash),
    CONSTRAINT tokens_hash_length CHECK (octet_length(token_hash) = 32),
    CONSTRAINT tokens_rights_known CHECK (cardinality(rights) > 0 AND rights <@ ARRAY['read', 'write', 'admin'])
);
CREATE INDEX tokens_tenant ON tokens (tenant_id, created_at DESC);

CREATE TABLE schedules (
    job         text PRIMARY KEY,
    tenant_id   text NOT NULL DEFAULT 'default',
    cron        text NOT NULL,
    time_zone   text NOT NULL DEFAULT 'UTC',
    enabled     boolean NOT NULL DEFAULT true,
    last_run_at timestamptz,
    next_run_at timestamptz,
    updated_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE job_runs (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id   text NOT NULL DEFAULT 'default',
    job         text NOT NULL,
    -- schedule, manual, wake, catch_up
    trigger     text NOT NULL,
    status      text NOT NULL DEFAULT 'running',
    worker      text,
    started_at  timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    result      jsonb NOT NULL DEFAULT '{}',
    error       text,
    CONSTRAINT job_runs_status_known CHECK (status IN ('running', 'succeeded', 'failed')),
    CONSTRAINT job_runs_finished CHECK ((status = 'running') = (finished_at IS NULL)),
    CONSTRAINT job_runs_result_object CHECK (jsonb_typeof(result) = 'object')
);
CREATE INDEX job_runs_job_started ON job_runs (job, started_at DESC);
CREATE INDEX job_runs_tenant ON job_runs (tenant_id, started_at DESC);
