-- The two roles beside the owner. Requests run as butler_app, which sees one tenant. butler_retention is the only role
-- that may delete events.
--
-- Roles belong to the whole cluster: another butler may have created them, or may be creating them now.

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
