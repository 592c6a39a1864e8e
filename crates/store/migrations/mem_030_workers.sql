-- mem_030: what the workers need the server itself to do.

-- The number under which a job is locked: per schema, since each butler runs its own.
CREATE FUNCTION job_lock(job text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT hashtextextended(concat_ws(E'\x1f', current_schema(), job), 30)
$$;

-- Whether consolidation may look at an episode: alive, or kept beyond its end because nobody learned from it yet. One
-- that was forgotten ends at once, too, and is nobody's business any more.
CREATE FUNCTION episode_is_learnable(of_tenant text, of_id uuid, expires_at timestamptz, at timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT episode_is_alive(expires_at, at)
        OR NOT EXISTS (SELECT FROM memory_events e
                       WHERE e.tenant_id = of_tenant AND e.memory_id = of_id AND e.event_type = 'episode_forgotten')
$$;

-- Cleanup takes expired episodes in order of their end, and the oldest consolidated ones of a tenant.
CREATE INDEX episodes_consolidated_oldest ON episodes (tenant_id, created_at, id) WHERE consolidated;
-- The dead letters of a tenant are few; nobody should have to look through all episodes for them.
CREATE INDEX episodes_dead_letters ON episodes (tenant_id, created_at) WHERE consolidation_status = 'dead_letter';
CREATE INDEX job_runs_running ON job_runs (job) WHERE status = 'running';
