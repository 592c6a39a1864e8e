-- Volatile: each step sees what was committed meanwhile, so a caller that waited for a merge gets its outcome.
CREATE OR REPLACE FUNCTION entity_survivor(p_tenant text, p_id uuid) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    here uuid := p_id;
    next text;
    seen uuid[] := '{}';
BEGIN
    LOOP
        SELECT e.metadata ->> 'merged_into' INTO next FROM entities e WHERE e.tenant_id = p_tenant AND e.id = here;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        -- A merge writes a valid id and creates no cycle; an edit by hand might do neither.
        IF next IS NULL OR next !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' OR next::uuid = ANY (seen) THEN
            RETURN here;
        END IF;
        seen := seen || here;
        here := next::uuid;
    END LOOP;
END $$;
COMMENT ON FUNCTION entity_survivor IS 'The entity that a merged one became, through any number of merges; a live entity is its own survivor.';
