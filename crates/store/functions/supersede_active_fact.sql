-- Makes room for a new fact: waits for other writers of the same key, then supersedes the fact that is active now.
--
-- A statement sees the data as of its start, hence before such a wait. The statements inside a volatile function see what
-- was committed during it. So storing a fact needs no transaction block. Nothing happens unless `allowed`: the caller's
-- checks run in the same statement.
CREATE OR REPLACE FUNCTION supersede_active_fact(
    allowed boolean, of_tenant text, of_entity uuid, in_scope text, of_subject text, of_predicate text)
RETURNS TABLE (old_id uuid) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF NOT allowed THEN
        RETURN;
    END IF;
    PERFORM lock_fact_key(of_tenant, of_entity, in_scope, of_subject, of_predicate);
    IF of_entity IS NULL THEN
        RETURN QUERY
            UPDATE facts f SET validity = 'superseded'
            WHERE f.tenant_id = of_tenant AND f.scope = in_scope AND f.subject = of_subject
              AND f.predicate = of_predicate AND f.entity_id IS NULL AND f.validity = 'active'
            RETURNING f.id;
    ELSE
        RETURN QUERY
            UPDATE facts f SET validity = 'superseded'
            WHERE f.tenant_id = of_tenant AND f.entity_id = of_entity AND f.scope = in_scope
              AND f.predicate = of_predicate AND f.validity = 'active'
            RETURNING f.id;
    END IF;
END $$;
COMMENT ON FUNCTION supersede_active_fact IS 'Supersedes the active fact of a key and returns its id; no row if there was none.';
