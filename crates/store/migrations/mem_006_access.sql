-- mem_006: the second wall between tenants. Every statement of the program filters by tenant; row-level security
-- catches the one that would not.
--
-- Three roles. The owner (whoever runs this migration) sees all tenants: migrations, workers, `butler db url`.
-- butler_app serves requests: only the rows of the tenant set on its connection (butler.tenant), and of memory_events
-- only reading and appending. butler_retention may remove old events, and nothing else may.
-- Roles belong to the whole cluster, so several butlers' migrations may race to create them.

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['butler_app', 'butler_retention'] LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
            WHEN insufficient_privilege THEN
                RAISE insufficient_privilege USING
                    MESSAGE = format('%I may not create the role %I', current_user, wanted),
                    HINT = format('As a superuser: CREATE ROLE butler_app NOLOGIN; CREATE ROLE butler_retention NOLOGIN; '
                                  'GRANT butler_app, butler_retention TO %I;', current_user);
        END;
        -- From PostgreSQL 16 on, creating a role does not by itself allow SET ROLE to it; granting does.
        BEGIN
            IF NOT pg_has_role(current_user, wanted, 'MEMBER') OR current_setting('server_version_num')::int >= 160000 THEN
                EXECUTE format('GRANT %I TO %I', wanted, current_user);
            END IF;
        EXCEPTION
            WHEN insufficient_privilege THEN
                IF NOT pg_has_role(current_user, wanted, 'MEMBER') THEN
                    RAISE insufficient_privilege USING
                        MESSAGE = format('%I may not take the role %I', current_user, wanted),
                        HINT = format('As a superuser: GRANT butler_app, butler_retention TO %I;', current_user);
                END IF;
        END;
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), wanted);
    END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE, DELETE
    ON episodes, facts, rules, memory_links, entities, rule_applications, embedding_versions, idempotency_keys
    TO butler_app;
GRANT SELECT, INSERT ON memory_events TO butler_app;
GRANT SELECT, DELETE ON memory_events TO butler_retention;

DO $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY ARRAY['episodes', 'facts', 'rules', 'memory_links', 'entities', 'memory_events',
                                    'rule_applications', 'embedding_versions', 'idempotency_keys',
                                    'tokens', 'schedules', 'job_runs'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', relation);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', relation);
        -- the sub-select makes it a parameter of the plan, computed once and not per row
        EXECUTE format(
            'CREATE POLICY tenant_isolation ON %I TO butler_app
                 USING (tenant_id = (SELECT current_setting(''butler.tenant'', true)))
                 WITH CHECK (tenant_id = (SELECT current_setting(''butler.tenant'', true)))', relation);
        EXECUTE format('CREATE POLICY owner_all ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', relation);
    END LOOP;
    CREATE POLICY retention_all ON memory_events TO butler_retention USING (true);
END $$;
