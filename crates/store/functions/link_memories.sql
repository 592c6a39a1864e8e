CREATE OR REPLACE FUNCTION create_link(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid,
    p_source_type text, p_source_id uuid, p_target_type text, p_target_id uuid, p_relation text)
RETURNS TABLE (outcome text, relation text) LANGUAGE plpgsql AS $$
BEGIN
    IF NOT memory_exists(p_tenant, p_source_type, p_source_id) THEN
        outcome := 'no_source';
    ELSIF NOT memory_exists(p_tenant, p_target_type, p_target_id) THEN
        outcome := 'no_target';
    ELSE
        relation := p_relation;
        INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
            VALUES (p_tenant, p_source_type, p_source_id, p_target_type, p_target_id, p_relation, p_at)
            ON CONFLICT DO NOTHING;
        IF FOUND THEN
            outcome := 'created';
            PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'link_created', p_source_type, p_source_id,
                jsonb_build_object('after', jsonb_build_object(
                    'relation', p_relation, 'target_type', p_target_type, 'target_id', p_target_id)));
        ELSE
            outcome := 'exists';
            SELECT l.relation INTO relation FROM memory_links l
                WHERE l.tenant_id = p_tenant AND l.source_type = p_source_type AND l.source_id = p_source_id
                  AND l.target_type = p_target_type AND l.target_id = p_target_id;
        END IF;
    END IF;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION create_link FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_link TO butler_app;
COMMENT ON FUNCTION create_link IS
    'Links two memories. outcome: created, exists (relation is that of the existing link), no_source or no_target.';

-- Part of the functions that store or confirm a memory; their event names the links.
CREATE OR REPLACE FUNCTION link_episodes(
    p_tenant text, p_at timestamptz, p_relation text, p_memory_type text, p_memory_id uuid, p_episodes uuid[])
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    links jsonb;
BEGIN
    IF array_remove(p_episodes, NULL) = '{}' THEN
        RETURN '[]';
    END IF;
    IF p_relation = 'supports' THEN
        WITH link AS (
            INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
                SELECT p_tenant, 'episode', e.id, p_memory_type, p_memory_id, p_relation, p_at
                FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = ANY (p_episodes)
                ON CONFLICT DO NOTHING
                RETURNING source_id)
        SELECT jsonb_agg(jsonb_build_object('relation', p_relation, 'source_type', 'episode', 'source_id', link.source_id))
            INTO links FROM link;
    ELSE
        WITH link AS (
            INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
                SELECT p_tenant, p_memory_type, p_memory_id, 'episode', e.id, p_relation, p_at
                FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = ANY (p_episodes)
                ON CONFLICT DO NOTHING
                RETURNING target_id)
        SELECT jsonb_agg(jsonb_build_object('relation', p_relation, 'target_type', 'episode', 'target_id', link.target_id))
            INTO links FROM link;
    END IF;
    RETURN coalesce(links, '[]');
END $$;
REVOKE EXECUTE ON FUNCTION link_episodes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION link_episodes TO butler_app;
COMMENT ON FUNCTION link_episodes IS
    'Links a memory to the episodes that it is derived_from or that support it, and returns the new links; '
    'episodes that no longer exist are left out.';

CREATE OR REPLACE FUNCTION with_links(payload jsonb, links jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN links = '[]' THEN payload ELSE payload || jsonb_build_object('links', links) END
$$;
COMMENT ON FUNCTION with_links IS 'The payload of an event with the links that were written together with the memory.';
