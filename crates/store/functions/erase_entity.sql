-- Deletes an entity: all versions of its facts, the relations to it, the memories that name it as far as the caller chose
-- them, and every trace of their text in other tables. Only ids, times and counts remain, in events.

-- The caller holds the entity's row, so nobody stores a fact about it meanwhile. p_kept: the memories that name it and stay.
CREATE OR REPLACE FUNCTION erase_entity(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_entity uuid,
    p_facts uuid[], p_rules uuid[], p_episodes uuid[], p_kept uuid[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    family constant uuid[] := entity_family(p_tenant, p_entity);
    ids constant uuid[] := p_facts || p_rules || p_episodes || family;
    names record;
    freed text[];
    events record;
    erased_words text[];
BEGIN
    PERFORM end_leases(p_tenant);
    SELECT * INTO names FROM entity_patterns(p_tenant, family);
    -- in the order in which memory_bump locks them
    PERFORM FROM facts f WHERE f.tenant_id = p_tenant AND f.id = ANY (p_facts) ORDER BY f.id FOR UPDATE;
    erased_words := ARRAY(
        SELECT w FROM facts f, unnest(memory_words(concat_ws(' ', f.subject, f.predicate, f.content))) AS w
            WHERE f.tenant_id = p_tenant AND f.id = ANY (p_facts)
        UNION SELECT w FROM rules r, unnest(memory_words(r.content)) AS w WHERE r.tenant_id = p_tenant AND r.id = ANY (p_rules)
        UNION SELECT w FROM episodes e, unnest(memory_words(e.content)) AS w WHERE e.tenant_id = p_tenant AND e.id = ANY (p_episodes)
        UNION SELECT w FROM entities e, unnest(memory_words(e.lower_names)) AS w WHERE e.tenant_id = p_tenant AND e.id = ANY (family));

    freed := ARRAY(
        SELECT n FROM entities e, unnest(string_to_array(e.lower_names, E'\n')) AS n
        WHERE e.tenant_id = p_tenant AND e.id = ANY (family) AND entity_is_live(e.metadata));

    PERFORM leave_tombstones(p_tenant, p_at, p_facts, p_rules);
    DELETE FROM proposals p
        WHERE p.tenant_id = p_tenant
          AND (text_names(concat_ws(' ', p.memory ->> 'subject', p.memory ->> 'predicate', p.memory ->> 'content', p.memory ->> 'object',
                                    json_words(p.memory -> 'tags'), json_words(p.memory -> 'metadata')), names.whole, names.parts)
               OR (p.memory ->> 'entity_id')::uuid = ANY (family) OR (p.memory ->> 'object_entity_id')::uuid = ANY (family));
    DELETE FROM memory_links l WHERE l.tenant_id = p_tenant AND (l.source_id = ANY (ids) OR l.target_id = ANY (ids));
    DELETE FROM facts f WHERE f.tenant_id = p_tenant AND f.id = ANY (p_facts);
    DELETE FROM rules r WHERE r.tenant_id = p_tenant AND r.id = ANY (p_rules);
    DELETE FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = ANY (p_episodes);
    DELETE FROM entities e WHERE e.tenant_id = p_tenant AND e.id = ANY (family);
    PERFORM link_freed_names(p_tenant, p_actor, p_request_id, p_at, freed);

    DELETE FROM idempotency_keys k
        WHERE k.tenant_id = p_tenant
          AND (text_names(concat_ws(' ', k.key, json_values(k.response)), names.whole, names.parts)
               OR EXISTS (SELECT FROM jsonb_path_query(k.response, '$.**') v
                          WHERE jsonb_typeof(v) = 'string' AND v #>> '{}' = ANY (ids::text[])));
    -- A rule is not about the entity only because the reason of a mark names it. The rule stays and loses that reason.
    UPDATE rules r SET metadata = jsonb_set(r.metadata, '{harmful_reasons}', coalesce(
            (SELECT jsonb_agg(v) FROM jsonb_array_elements(r.metadata -> 'harmful_reasons') v
             WHERE NOT text_names(v #>> '{}', names.whole, names.parts)), '[]'))
        WHERE r.tenant_id = p_tenant AND r.id <> ALL (p_kept) AND jsonb_typeof(r.metadata -> 'harmful_reasons') = 'array'
          AND text_names(json_words(r.metadata -> 'harmful_reasons'), names.whole, names.parts);
    UPDATE rule_applications a SET reason = NULL, context = '{}'
        WHERE a.tenant_id = p_tenant AND a.rule_id <> ALL (p_kept)
          AND text_names(concat_ws(' ', a.reason, json_words(a.context)), names.whole, names.parts);
    UPDATE episodes e SET last_error = 'removed by an erasure'
        WHERE e.tenant_id = p_tenant AND e.id <> ALL (p_kept) AND text_names(e.last_error, names.whole, names.parts);
    -- The conflicts of the erased facts are gone. A model may have named the entity when it judged others.
    UPDATE conflicts c SET reason = 'removed by an erasure'
        WHERE c.tenant_id = p_tenant AND c.fact_a <> ALL (p_kept) AND c.fact_b <> ALL (p_kept)
          AND text_names(c.reason, names.whole, names.parts);
    -- The record of what was served keeps an empty place for each erased memory. The query may have named the entity, so its
    -- hash is removed, too.
    UPDATE injections i SET query_hash = NULL, (memory_ids, scores) = (
            SELECT array_agg(CASE WHEN m.id <> ALL (ids) THEN m.id END ORDER BY m.rank),
                   array_agg(CASE WHEN m.id <> ALL (ids) THEN m.score END ORDER BY m.rank)
            FROM unnest(i.memory_ids, i.scores) WITH ORDINALITY AS m (id, score, rank))
        WHERE i.tenant_id = p_tenant AND i.memory_ids && ids;
    PERFORM redact_runs(p_tenant, names.whole, names.parts);
    SELECT * INTO events FROM redact_events(p_tenant, ids, names.whole, names.parts, p_kept, false);
    PERFORM drop_words(p_tenant, erased_words || events.words);
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'entity_erased', 'entity', p_entity,
        jsonb_build_object('facts', cardinality(p_facts), 'rules', cardinality(p_rules), 'episodes', cardinality(p_episodes),
                           'entities', cardinality(family), 'events_redacted', events.redacted));
    RETURN events.redacted;
END $$;
REVOKE EXECUTE ON FUNCTION erase_entity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_entity TO butler_app;
COMMENT ON FUNCTION erase_entity IS
    'Deletes an entity, those merged into it and these memories, removes their text from all other tables, and returns how many '
    'past events lost text.';
