-- Per schema, since each butler runs its own jobs.
CREATE OR REPLACE FUNCTION job_lock(job text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT hashtextextended(concat_ws(E'\x1f', current_schema(), job), 30)
$$;
COMMENT ON FUNCTION job_lock IS 'The number under which a job is locked.';
