-- mem_004: per-application outcomes of rules, which model embedded what, and the answers kept for idempotent retries.

CREATE TABLE rule_applications (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id  text NOT NULL DEFAULT 'default',
    rule_id    uuid NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
    outcome    text NOT NULL,
    reason     text,
    -- the rule as this mark left it, so that effectiveness over time is a list of rows
    effectiveness_score double precision NOT NULL,
    maturity   text NOT NULL,
    actor      text,
    request_id text,
    context    jsonb NOT NULL DEFAULT '{}',
    applied_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT rule_applications_outcome_known CHECK (outcome IN ('helpful', 'harmful')),
    CONSTRAINT rule_applications_context_object CHECK (jsonb_typeof(context) = 'object')
);
CREATE INDEX rule_applications_rule ON rule_applications (tenant_id, rule_id, applied_at DESC);
CREATE INDEX rule_applications_rule_fk ON rule_applications (rule_id);

CREATE TABLE embedding_versions (
    id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id    text NOT NULL DEFAULT 'default',
    model        text NOT NULL,
    version      text NOT NULL,
    dimensions   integer NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT embedding_versions_unique UNIQUE (tenant_id, model, version),
    CONSTRAINT embedding_versions_dimensions_positive CHECK (dimensions > 0)
);

-- Each row knows the version that embedded it: vectors of two models are never compared, and the re-embed job finds
-- what is left by an index scan.
ALTER TABLE episodes ADD COLUMN embedding_version_id integer REFERENCES embedding_versions (id);
ALTER TABLE facts ADD COLUMN embedding_version_id integer REFERENCES embedding_versions (id);
ALTER TABLE rules ADD COLUMN embedding_version_id integer REFERENCES embedding_versions (id);
CREATE INDEX episodes_embedding_version ON episodes (embedding_version_id, id);
CREATE INDEX facts_embedding_version ON facts (embedding_version_id, id);
CREATE INDEX rules_embedding_version ON rules (embedding_version_id, id);

-- The id of a version, recorded when it is first seen. Part of the statement that stores the vector.
CREATE FUNCTION embedding_version(of_tenant text, of_model text, of_version text, of_dimensions integer, seen_at timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    found_id integer;
BEGIN
    LOOP
        SELECT id INTO found_id FROM embedding_versions
            WHERE tenant_id = of_tenant AND model = of_model AND version = of_version;
        IF found_id IS NOT NULL THEN
            RETURN found_id;
        END IF;
        INSERT INTO embedding_versions (tenant_id, model, version, dimensions, created_at)
            VALUES (of_tenant, of_model, of_version, of_dimensions, seen_at)
            ON CONFLICT DO NOTHING
            RETURNING id INTO found_id;
        IF found_id IS NOT NULL THEN
            RETURN found_id;
        END IF;
    END LOOP;
END $$;

CREATE TABLE idempotency_keys (
    tenant_id  text NOT NULL DEFAULT 'default',
    key        text NOT NULL,
    tool       text NOT NULL,
    -- a digest of the arguments: the same key with other arguments is a mistake of the caller, not a retry
    request    bytea NOT NULL,
    response   jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
