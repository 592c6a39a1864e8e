CREATE OR REPLACE FUNCTION store_episode(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_episode jsonb, p_embedding real[], p_request jsonb)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    episode record;
BEGIN
    SELECT * INTO episode FROM jsonb_to_record(p_episode) AS given (
        id uuid, butler text, session_id uuid, content text, search_text text, importance double precision,
        expires_at timestamptz, occurred_at timestamptz, source text, held_for jsonb, metadata jsonb, model text, model_version text, dimensions integer, event_id uuid, event jsonb);

    INSERT INTO episodes (tenant_id, id, butler, session_id, content, embedding, search_vector, importance, created_at,
                          occurred_at, expires_at, metadata, embedding_version_id, source, held_for)
        VALUES (p_tenant, episode.id, episode.butler, episode.session_id, episode.content, p_embedding::vector,
                memory_search_vector(episode.search_text), episode.importance, p_at, coalesce(episode.occurred_at, p_at), episode.expires_at, episode.metadata,
                embedding_version(p_tenant, episode.model, episode.model_version, episode.dimensions, p_at), episode.source,
                nullif(episode.held_for, 'null'));
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, episode.event_id, 'episode_created', 'episode', episode.id,
        episode.event);
    -- expires_at as the program wrote it: a retry gets the response of the first call, character for character.
    PERFORM keep_response(p_tenant, p_at, p_request,
        jsonb_build_object('id', episode.id, 'expires_at', p_episode -> 'expires_at')
        || CASE WHEN nullif(episode.held_for, 'null') IS NOT NULL THEN '{"held": true}' ELSE '{}' END::jsonb);
END $$;
REVOKE EXECUTE ON FUNCTION store_episode FROM PUBLIC;
GRANT EXECUTE ON FUNCTION store_episode TO butler_app;
COMMENT ON FUNCTION store_episode IS 'Stores an episode.';
