-- Several statements, because each is served by another index: episodes that the filter names are found by id, all others in
-- the order of the index on time. That index also counts them, if no filter but the time is set.
--
-- p_filter: store::browse::EpisodeFilter. (p_after_at, p_after_id): the last episode of the page before.
CREATE OR REPLACE FUNCTION browse_episodes(
    p_tenant text, p_filter jsonb, p_after_at timestamptz, p_after_id uuid, p_limit bigint, p_offset bigint,
    OUT ids uuid[], OUT total bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
    filter record;
BEGIN
    SELECT * INTO filter FROM jsonb_to_record(p_filter) AS given (
        butler text, session_id uuid, status text, stored_from timestamptz, stored_to timestamptz, since timestamptz,
        until timestamptz, words text, ids uuid[]);

    IF filter.ids IS NOT NULL THEN
        WITH matching AS MATERIALIZED (
            SELECT e.id, named.place
            FROM unnest(filter.ids) WITH ORDINALITY AS named (id, place)
            JOIN episodes e ON e.id = named.id
            WHERE e.tenant_id = p_tenant AND (filter.butler IS NULL OR e.butler = filter.butler)
              AND (filter.status IS NULL OR e.consolidation_status = filter.status)
              AND e.created_at >= coalesce(filter.stored_from, '-infinity') AND e.created_at <= coalesce(filter.stored_to, 'infinity')
              AND (filter.session_id IS NULL OR e.session_id = filter.session_id)
              AND (filter.since IS NULL OR e.occurred_at >= filter.since) AND (filter.until IS NULL OR e.occurred_at < filter.until)
        )
        SELECT (SELECT count(*) FROM matching),
               ARRAY(SELECT m.id FROM matching m ORDER BY m.place LIMIT p_limit OFFSET p_offset) INTO total, ids;
        RETURN;
    END IF;

    IF num_nonnulls(filter.butler, filter.session_id, filter.status, filter.since, filter.until, filter.words) = 0 THEN
        SELECT count(*) INTO total
        FROM episodes e
        WHERE e.tenant_id = p_tenant
          AND e.created_at >= coalesce(filter.stored_from, '-infinity') AND e.created_at <= coalesce(filter.stored_to, 'infinity');
    ELSE
        SELECT count(*) INTO total
        FROM episodes e
        WHERE e.tenant_id = p_tenant AND (filter.butler IS NULL OR e.butler = filter.butler)
          AND (filter.status IS NULL OR e.consolidation_status = filter.status)
          AND e.created_at >= coalesce(filter.stored_from, '-infinity') AND e.created_at <= coalesce(filter.stored_to, 'infinity')
          AND (filter.words IS NULL OR e.search_vector @@ (SELECT browse_query(p_tenant, filter.words))
               OR ((SELECT browse_query(p_tenant, filter.words)) IS NULL AND strpos(lower(e.content), lower(filter.words)) > 0))
          AND (filter.session_id IS NULL OR e.session_id = filter.session_id)
          AND (filter.since IS NULL OR e.occurred_at >= filter.since) AND (filter.until IS NULL OR e.occurred_at < filter.until);
    END IF;
    ids := ARRAY(
        SELECT e.id FROM episodes e
        WHERE e.tenant_id = p_tenant AND (filter.butler IS NULL OR e.butler = filter.butler)
          AND (filter.status IS NULL OR e.consolidation_status = filter.status)
          AND e.created_at >= coalesce(filter.stored_from, '-infinity') AND e.created_at <= coalesce(filter.stored_to, 'infinity')
          AND (filter.words IS NULL OR e.search_vector @@ (SELECT browse_query(p_tenant, filter.words))
               -- Only punctuation and words too common to be indexed.
               OR ((SELECT browse_query(p_tenant, filter.words)) IS NULL AND strpos(lower(e.content), lower(filter.words)) > 0))
          AND (filter.session_id IS NULL OR e.session_id = filter.session_id)
          AND (filter.since IS NULL OR e.occurred_at >= filter.since) AND (filter.until IS NULL OR e.occurred_at < filter.until)
          AND (p_after_at IS NULL OR (e.created_at <= p_after_at AND (e.created_at < p_after_at OR e.id > p_after_id)))
        ORDER BY e.created_at DESC, e.id LIMIT p_limit OFFSET p_offset);
END $$;
REVOKE EXECUTE ON FUNCTION browse_episodes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION browse_episodes TO butler_app;
COMMENT ON FUNCTION browse_episodes IS
    'ids: one page of episodes, newest first or in the order of the ids that the filter names. total: how many episodes match.';
