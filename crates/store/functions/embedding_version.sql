-- Part of each statement that stores a vector. The loop: another call may record the same version between the SELECT
-- and the INSERT.
CREATE OR REPLACE FUNCTION embedding_version(of_tenant text, of_model text, of_version text, of_dimensions integer, seen_at timestamptz)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    found_id uuid;
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
COMMENT ON FUNCTION embedding_version IS 'The id of an embedding model''s version, recorded when it is first seen.';
