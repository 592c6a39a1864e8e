-- Links outlive expired episodes on purpose, so no foreign key can check the ends of a link.
CREATE OR REPLACE FUNCTION memory_exists(of_tenant text, of_type text, of_id uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE of_type
        WHEN 'episode' THEN EXISTS (SELECT FROM episodes WHERE tenant_id = of_tenant AND id = of_id)
        WHEN 'fact' THEN EXISTS (SELECT FROM facts WHERE tenant_id = of_tenant AND id = of_id)
        WHEN 'rule' THEN EXISTS (SELECT FROM rules WHERE tenant_id = of_tenant AND id = of_id)
        ELSE false
    END
$$;
COMMENT ON FUNCTION memory_exists IS 'Whether the tenant has a memory of this type and id.';
