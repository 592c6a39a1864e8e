-- Who may do what, and the second wall between tenants: every statement of the program filters by tenant, and row-level
-- security catches the one that would not.
--
-- The owner sees all tenants (migrations, workers, `butler db url`). butler_app sees the tenant that is set on its
-- connection (butler.tenant). The record tables, vector_indexes and oauth_clients hold no tenant's data, and butler_app has
-- no grant.

GRANT SELECT, INSERT, UPDATE, DELETE
    ON episodes, facts, rules, memory_links, conflicts, conflicts_due, entities, merges, predicates, rule_applications, embedding_versions,
       idempotency_keys
    TO butler_app;
GRANT SELECT, INSERT ON memory_events, words TO butler_app;
GRANT SELECT, INSERT, DELETE ON fact_beliefs TO butler_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON proposals, tombstones, tombstone_keys TO butler_app;
-- memory_bump adds the rows
GRANT SELECT, UPDATE, DELETE ON injections TO butler_app;
GRANT SELECT, DELETE ON memory_events TO butler_retention;

ALTER TABLE episodes ENABLE ROW LEVEL SECURITY;
ALTER TABLE episodes FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON episodes TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON episodes TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE facts ENABLE ROW LEVEL SECURITY;
ALTER TABLE facts FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON facts TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON facts TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE fact_beliefs ENABLE ROW LEVEL SECURITY;
ALTER TABLE fact_beliefs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON fact_beliefs TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON fact_beliefs TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE rules FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON rules TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON rules TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE memory_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_links FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON memory_links TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON memory_links TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE conflicts ENABLE ROW LEVEL SECURITY;
ALTER TABLE conflicts FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON conflicts TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON conflicts TO CURRENT_USER USING (true) WITH CHECK (true);
ALTER TABLE conflicts_due ENABLE ROW LEVEL SECURITY;
ALTER TABLE conflicts_due FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON conflicts_due TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON conflicts_due TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE entities ENABLE ROW LEVEL SECURITY;
ALTER TABLE entities FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON entities TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON entities TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE merges ENABLE ROW LEVEL SECURITY;
ALTER TABLE merges FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON merges TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON merges TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE predicates ENABLE ROW LEVEL SECURITY;
ALTER TABLE predicates FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON predicates TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON predicates TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE rule_applications ENABLE ROW LEVEL SECURITY;
ALTER TABLE rule_applications FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON rule_applications TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON rule_applications TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE embedding_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE embedding_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON embedding_versions TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON embedding_versions TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON idempotency_keys TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON idempotency_keys TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE words ENABLE ROW LEVEL SECURITY;
ALTER TABLE words FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON words TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON words TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE memory_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_events FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON memory_events TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON memory_events TO CURRENT_USER USING (true) WITH CHECK (true);

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
ALTER TABLE injections ENABLE ROW LEVEL SECURITY;
ALTER TABLE injections FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON injections TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON injections TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON tokens TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON tokens TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE oauth_logins ENABLE ROW LEVEL SECURITY;
ALTER TABLE oauth_logins FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON oauth_logins TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON oauth_logins TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE oauth_grants ENABLE ROW LEVEL SECURITY;
ALTER TABLE oauth_grants FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON oauth_grants TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON oauth_grants TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE oauth_refresh_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE oauth_refresh_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON oauth_refresh_tokens TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON oauth_refresh_tokens TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE schedules ENABLE ROW LEVEL SECURITY;
ALTER TABLE schedules FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON schedules TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON schedules TO CURRENT_USER USING (true) WITH CHECK (true);

ALTER TABLE job_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON job_runs TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON job_runs TO CURRENT_USER USING (true) WITH CHECK (true);

CREATE POLICY retention_all ON memory_events TO butler_retention USING (true);
