-- A wrong clock must not destroy memory, and one unreadable time must not stop everybody.

-- 1. The latest time that was trusted. A jump of the clock puts jobs that delete on hold.
-- The program cannot hold every time that PostgreSQL can, and reading one such row would fail all reads of its tenant.
CREATE FUNCTION time_is_plausible(at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT at IS NULL
        OR isfinite(at) AND at >= timestamptz '0001-01-01 00:00:00+00' AND at < timestamptz '10000-01-01 00:00:00+00'
$$;
COMMENT ON FUNCTION time_is_plausible IS 'Whether a time is finite and in the years 1 to 9999. NULL is plausible.';

CREATE TABLE butler_clock (
    only_row boolean PRIMARY KEY DEFAULT true,
    latest   timestamptz,
    hold     text,
    CONSTRAINT butler_clock_one_row CHECK (only_row),
    CONSTRAINT butler_clock_times_plausible CHECK (time_is_plausible(latest))
);
COMMENT ON TABLE butler_clock IS 'Whether the clock can be trusted with jobs that delete. At most one row.';
COMMENT ON COLUMN butler_clock.only_row IS 'Always true, so the primary key allows one row.';
COMMENT ON COLUMN butler_clock.latest IS 'The latest time that was trusted.';
COMMENT ON COLUMN butler_clock.hold IS 'Why jobs that delete wait; NULL: they do not.';

-- 2. Times that the program cannot read. None of these rows is lost: what is unknown becomes the time of the migration,
-- "never" becomes NULL, and an unlearned or unconfirmed memory gets its full time again.
UPDATE embedding_versions SET created_at = now() WHERE NOT time_is_plausible(created_at);
UPDATE entities SET created_at = now() WHERE NOT time_is_plausible(created_at);
UPDATE entities SET updated_at = now() WHERE NOT time_is_plausible(updated_at);
UPDATE episodes SET created_at = now() WHERE NOT time_is_plausible(created_at);
UPDATE episodes SET next_consolidation_retry_at = NULL WHERE NOT time_is_plausible(next_consolidation_retry_at);
UPDATE episodes SET lease_token = NULL, leased_until = NULL WHERE NOT time_is_plausible(leased_until);
UPDATE episodes SET last_referenced_at = NULL WHERE NOT time_is_plausible(last_referenced_at);
UPDATE episodes SET expires_at = CASE WHEN expires_at < now() THEN now() + interval '7 days' END
    WHERE NOT time_is_plausible(expires_at);
UPDATE facts SET created_at = now() WHERE NOT time_is_plausible(created_at);
UPDATE facts SET last_referenced_at = NULL WHERE NOT time_is_plausible(last_referenced_at);
UPDATE facts SET last_confirmed_at = now() WHERE NOT time_is_plausible(last_confirmed_at);
UPDATE rules SET created_at = now() WHERE NOT time_is_plausible(created_at);
UPDATE rules SET last_applied_at = NULL WHERE NOT time_is_plausible(last_applied_at);
UPDATE rules SET last_evaluated_at = NULL WHERE NOT time_is_plausible(last_evaluated_at);
UPDATE rules SET last_referenced_at = NULL WHERE NOT time_is_plausible(last_referenced_at);
UPDATE rules SET last_confirmed_at = now() WHERE NOT time_is_plausible(last_confirmed_at);
UPDATE rule_applications SET applied_at = now() WHERE NOT time_is_plausible(applied_at);
UPDATE memory_links SET created_at = now() WHERE NOT time_is_plausible(created_at);
-- An event is not changed otherwise; one without a readable time could not be shown.
ALTER TABLE memory_events DISABLE TRIGGER memory_events_append_only;
UPDATE memory_events SET created_at = now() WHERE NOT time_is_plausible(created_at);
ALTER TABLE memory_events ENABLE TRIGGER memory_events_append_only;
UPDATE tokens SET created_at = now() WHERE NOT time_is_plausible(created_at);
-- A token that had expired or was revoked stays so.
UPDATE tokens SET expires_at = CASE WHEN expires_at < now() THEN now() END WHERE NOT time_is_plausible(expires_at);
UPDATE tokens SET revoked_at = now() WHERE NOT time_is_plausible(revoked_at);
UPDATE tokens SET last_used_at = NULL WHERE NOT time_is_plausible(last_used_at);
UPDATE idempotency_keys SET created_at = now() WHERE NOT time_is_plausible(created_at);
UPDATE schedules SET last_run_at = NULL WHERE NOT time_is_plausible(last_run_at);
UPDATE schedules SET next_run_at = NULL WHERE NOT time_is_plausible(next_run_at);
UPDATE schedules SET updated_at = now() WHERE NOT time_is_plausible(updated_at);
UPDATE job_runs SET started_at = now() WHERE NOT time_is_plausible(started_at);
UPDATE job_runs SET finished_at = now() WHERE NOT time_is_plausible(finished_at);

ALTER TABLE embedding_versions ADD CONSTRAINT embedding_versions_times_plausible CHECK (time_is_plausible(created_at));
ALTER TABLE entities ADD CONSTRAINT entities_times_plausible CHECK (time_is_plausible(created_at) AND time_is_plausible(updated_at));
ALTER TABLE episodes ADD CONSTRAINT episodes_times_plausible
    CHECK (time_is_plausible(next_consolidation_retry_at) AND time_is_plausible(leased_until)
           AND time_is_plausible(created_at) AND time_is_plausible(last_referenced_at)
           AND time_is_plausible(expires_at));
ALTER TABLE facts ADD CONSTRAINT facts_times_plausible
    CHECK (time_is_plausible(created_at) AND time_is_plausible(last_referenced_at)
           AND time_is_plausible(last_confirmed_at));
ALTER TABLE rules ADD CONSTRAINT rules_times_plausible
    CHECK (time_is_plausible(created_at) AND time_is_plausible(last_applied_at)
           AND time_is_plausible(last_evaluated_at) AND time_is_plausible(last_confirmed_at)
           AND time_is_plausible(last_referenced_at));
-- A score that is no number was imported: PostgreSQL reads the text NaN.
UPDATE rule_applications SET effectiveness_score = 0 WHERE NOT (effectiveness_score >= 0 AND effectiveness_score <= 1);
ALTER TABLE rule_applications ADD CONSTRAINT rule_applications_effectiveness_range
    CHECK (effectiveness_score >= 0 AND effectiveness_score <= 1);
ALTER TABLE rule_applications ADD CONSTRAINT rule_applications_times_plausible CHECK (time_is_plausible(applied_at));
ALTER TABLE memory_links ADD CONSTRAINT memory_links_times_plausible CHECK (time_is_plausible(created_at));
ALTER TABLE memory_events ADD CONSTRAINT memory_events_times_plausible CHECK (time_is_plausible(created_at));
ALTER TABLE tokens ADD CONSTRAINT tokens_times_plausible
    CHECK (time_is_plausible(created_at) AND time_is_plausible(expires_at) AND time_is_plausible(revoked_at)
           AND time_is_plausible(last_used_at) AND time_is_plausible(rotated_at) AND time_is_plausible(previous_until));
ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_times_plausible CHECK (time_is_plausible(created_at));
ALTER TABLE schedules ADD CONSTRAINT schedules_times_plausible
    CHECK (time_is_plausible(last_run_at) AND time_is_plausible(next_run_at) AND time_is_plausible(updated_at));
ALTER TABLE job_runs ADD CONSTRAINT job_runs_times_plausible CHECK (time_is_plausible(started_at) AND time_is_plausible(finished_at));
