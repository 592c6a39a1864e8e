CREATE OR REPLACE FUNCTION create_entity(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_entity jsonb)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    entity record;
BEGIN
    SELECT * INTO entity FROM jsonb_to_record(p_entity) AS given (
        id uuid, canonical_name text, entity_type text, aliases text[], metadata jsonb);
    INSERT INTO entities AS e (tenant_id, id, canonical_name, entity_type, aliases, metadata, created_at, updated_at)
        VALUES (p_tenant, entity.id, entity.canonical_name, entity.entity_type, entity.aliases, entity.metadata, p_at, p_at)
        ON CONFLICT ON CONSTRAINT entities_unique_name DO UPDATE
            SET aliases = excluded.aliases, metadata = excluded.metadata, created_at = p_at, updated_at = p_at
            WHERE e.metadata ? 'forgotten_at'
        RETURNING e.id INTO entity.id;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'entity_created', 'entity', entity.id,
        jsonb_build_object('after', p_entity - 'id'));
    PERFORM link_named_facts(p_tenant, p_actor, p_request_id, p_at, entity.id);
    RETURN entity.id;
END $$;
REVOKE EXECUTE ON FUNCTION create_entity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_entity TO butler_app;
COMMENT ON FUNCTION create_entity IS
    'Creates an entity, or brings back a forgotten one, and links the facts that name it. Returns its id; NULL, and nothing '
    'changed, if one of this name and type exists.';
