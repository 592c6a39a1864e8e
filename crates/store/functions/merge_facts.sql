-- What a merge of two entities does to their facts, and how it is undone (store::entities). The caller holds the row locks of
-- both entities, so nobody stores a fact about them meanwhile.

-- All facts of both entities are locked first, in the order of their ids: memory_bump locks them in the same order. A
-- winner names the loser as superseded even if it superseded another fact before; the links name both.
CREATE OR REPLACE FUNCTION merge_facts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_source uuid, p_target uuid)
RETURNS TABLE (facts uuid[], edges uuid[], superseded jsonb) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    pair record;
    edge record;
    other record;
    new_slot text;
    moved uuid[];
    moved_edges uuid[] := '{}';
    ended jsonb := '[]';
BEGIN
    PERFORM FROM facts f
        WHERE f.tenant_id = p_tenant
          AND (f.entity_id = ANY (ARRAY[p_source, p_target]) OR f.object_entity_id = ANY (ARRAY[p_source, p_target]))
        ORDER BY f.id FOR NO KEY UPDATE;
    FOR pair IN
        SELECT s.id AS source_id, t.id AS target_id,
               effective_confidence(s.confidence, s.decay_rate, s.last_confirmed_at, p_at)
               > effective_confidence(t.confidence, t.decay_rate, t.last_confirmed_at, p_at) AS source_wins
        FROM facts s JOIN facts t ON t.scope = s.scope AND t.predicate_key = s.predicate_key AND t.slot = s.slot
        WHERE s.tenant_id = p_tenant AND s.entity_id = p_source AND fact_is_active(s.validity)
          AND t.tenant_id = p_tenant AND t.entity_id = p_target AND fact_is_active(t.validity)
    LOOP
        ended := ended || end_weaker_fact(p_tenant, p_actor, p_request_id, p_at, pair.source_id, pair.target_id, pair.source_wins);
    END LOOP;

    WITH changed AS (
        UPDATE facts f SET entity_id = p_target WHERE f.tenant_id = p_tenant AND f.entity_id = p_source RETURNING f.id
    )
    SELECT coalesce(array_agg(c.id), '{}') INTO moved FROM changed c;
    PERFORM record_moves(p_tenant, p_actor, p_request_id, p_at, 'entity_id', moved, p_source, p_target);

    -- The object is part of the key of a relation, so two relations can meet on one key, too.
    FOR edge IN
        SELECT f.id, f.scope, f.holder, f.predicate_key, f.slot, fact_is_active(f.validity) AS is_active,
               effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at) AS effective
        FROM facts f WHERE f.tenant_id = p_tenant AND f.object_entity_id = p_source ORDER BY f.id
    LOOP
        new_slot := replace(edge.slot, p_source::text, p_target::text);
        SELECT o.id, effective_confidence(o.confidence, o.decay_rate, o.last_confirmed_at, p_at) AS effective INTO other
            FROM facts o
            WHERE edge.is_active AND o.tenant_id = p_tenant AND o.scope = edge.scope AND o.holder = edge.holder
              AND o.predicate_key = edge.predicate_key AND o.slot = new_slot AND fact_is_active(o.validity) AND o.id <> edge.id;
        IF FOUND THEN
            ended := ended || end_weaker_fact(p_tenant, p_actor, p_request_id, p_at, edge.id, other.id, edge.effective > other.effective);
        END IF;
        UPDATE facts f SET object_entity_id = p_target, slot = new_slot WHERE f.tenant_id = p_tenant AND f.id = edge.id;
        moved_edges := moved_edges || edge.id;
    END LOOP;
    PERFORM record_moves(p_tenant, p_actor, p_request_id, p_at, 'object_entity_id', moved_edges, p_source, p_target);

    PERFORM place_joined(p_tenant, p_actor, p_request_id, p_at, p_target::text);
    RETURN QUERY SELECT moved, moved_edges, ended;
END $$;
REVOKE EXECUTE ON FUNCTION merge_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION merge_facts TO butler_app;
COMMENT ON FUNCTION merge_facts IS
    'Moves all facts about one entity, and all relations to it, to another, whatever their validity. Of two active facts that meet '
    'on one key, supersedes the one that is less confident by now; the target''s stays if both are equally confident.';

CREATE OR REPLACE FUNCTION end_weaker_fact(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_one uuid, p_other uuid, p_one_wins boolean)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    winner constant uuid := CASE WHEN p_one_wins THEN p_one ELSE p_other END;
    loser constant uuid := CASE WHEN p_one_wins THEN p_other ELSE p_one END;
    before uuid;
BEGIN
    SELECT f.supersedes_id INTO before FROM facts f WHERE f.tenant_id = p_tenant AND f.id = winner;
    UPDATE facts f SET validity = 'superseded' WHERE f.tenant_id = p_tenant AND f.id = loser;
    PERFORM correct_fact(p_tenant, p_at, loser);
    UPDATE facts f SET supersedes_id = loser WHERE f.tenant_id = p_tenant AND f.id = winner;
    PERFORM supersede_fact(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), winner, loser);
    RETURN jsonb_build_object('winner', winner, 'loser', loser, 'before', before);
END $$;
REVOKE EXECUTE ON FUNCTION end_weaker_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION end_weaker_fact TO butler_app;
COMMENT ON FUNCTION end_weaker_fact IS
    'Of two active facts, lets one supersede the other, and returns both, with what the winner superseded before.';

CREATE OR REPLACE FUNCTION record_moves(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_column text, p_facts uuid[], p_from uuid, p_to uuid)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM record_events(p_tenant, p_actor, p_request_id, p_at, 'fact_repointed', 'fact', p_facts,
        array_fill(jsonb_build_object('before', jsonb_build_object(p_column, p_from), 'after', jsonb_build_object(p_column, p_to)),
                   ARRAY[cardinality(p_facts)]));
END $$;
REVOKE EXECUTE ON FUNCTION record_moves FROM PUBLIC;
GRANT EXECUTE ON FUNCTION record_moves TO butler_app;
COMMENT ON FUNCTION record_moves IS 'Records that facts belong to another entity now.';

-- Everything goes back that is still where the merge put it. What was written since stays with the target, unless its
-- subject is a name that only the source has.
CREATE OR REPLACE FUNCTION unmerge_facts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_merge uuid, p_source_names text[])
RETURNS TABLE (moved bigint, restored bigint) LANGUAGE plpgsql AS $$
DECLARE
    merge record;
    pair record;
    fact record;
    own record;
    back uuid[];
    edges_back uuid[];
    since uuid[] := '{}';
    unlinked uuid[];
BEGIN
    SELECT m.* INTO STRICT merge FROM merges m WHERE m.tenant_id = p_tenant AND m.id = p_merge;
    PERFORM FROM facts f
        WHERE f.tenant_id = p_tenant AND (f.entity_id = merge.target_id OR f.object_entity_id = merge.target_id)
        ORDER BY f.id FOR NO KEY UPDATE;
    WITH changed AS (
        UPDATE facts f SET entity_id = merge.source_id
            WHERE f.tenant_id = p_tenant AND f.id = ANY (merge.facts) AND f.entity_id = merge.target_id RETURNING f.id
    )
    SELECT coalesce(array_agg(c.id), '{}') INTO back FROM changed c;
    WITH changed AS (
        UPDATE facts f SET object_entity_id = merge.source_id,
                           slot = replace(f.slot, merge.target_id::text, merge.source_id::text)
            WHERE f.tenant_id = p_tenant AND f.id = ANY (merge.edges) AND f.object_entity_id = merge.target_id RETURNING f.id
    )
    SELECT coalesce(array_agg(c.id), '{}') INTO edges_back FROM changed c;

    -- A name that both entities have is ambiguous again, so the facts that the merge linked by that name are unlinked.
    SELECT coalesce(array_agg(DISTINCT f.id), '{}') INTO unlinked
        FROM memory_events e JOIN facts f ON f.tenant_id = p_tenant AND f.id = e.memory_id
        WHERE e.tenant_id = p_tenant AND e.event_type = 'fact_repointed' AND e.created_at = merge.merged_at
          AND e.payload -> 'before' -> 'entity_id' = 'null' AND e.payload -> 'after' ->> 'entity_id' = merge.target_id::text
          AND f.entity_id = merge.target_id
          AND ARRAY(SELECT n.id FROM entities_named(p_tenant, f.subject) n) <> ARRAY[merge.target_id]
          AND NOT EXISTS (
              SELECT FROM facts o
              WHERE o.tenant_id = p_tenant AND o.scope = f.scope AND o.holder = fact_holder(NULL, f.subject)
                AND o.predicate_key = f.predicate_key AND o.slot = f.slot AND o.validity = 'active');
    UPDATE facts f SET entity_id = NULL WHERE f.tenant_id = p_tenant AND f.id = ANY (unlinked);
    merge.superseded := merge.superseded || (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
                   'winner', w.id, 'loser', e.memory_id,
                   'before', (SELECT o.target_id FROM memory_links o
                              WHERE o.tenant_id = p_tenant AND o.source_type = 'fact' AND o.source_id = w.id
                                AND o.target_type = 'fact' AND o.target_id <> e.memory_id AND o.relation = 'supersedes'
                              ORDER BY o.created_at DESC, o.target_id LIMIT 1))), '[]')
        FROM memory_events e, LATERAL (SELECT (e.payload ->> 'superseded_by')::uuid AS id) w
        WHERE e.tenant_id = p_tenant AND e.event_type = 'fact_superseded' AND e.created_at = merge.merged_at
          AND (w.id = ANY (unlinked) OR e.memory_id = ANY (unlinked)
               -- placing the statements of both together superseded it
               OR (w.id = ANY (back || edges_back)) <> (e.memory_id = ANY (back || edges_back)))
          AND NOT EXISTS (SELECT FROM jsonb_to_recordset(merge.superseded) AS s (loser uuid)
                          WHERE s.loser = e.memory_id));

    restored := 0;
    FOR pair IN SELECT * FROM jsonb_to_recordset(merge.superseded) AS s (winner uuid, loser uuid, before uuid) LOOP
        UPDATE facts f SET validity = 'active', corrected = false,
                           slot = CASE WHEN f.corrected THEN f.slot ELSE slot_base(f.slot) || '@' || f.id END
            WHERE f.tenant_id = p_tenant AND f.id = pair.loser AND f.validity = 'superseded'
              AND (NOT f.corrected OR NOT EXISTS (
                  SELECT FROM facts o
                  WHERE o.tenant_id = p_tenant AND o.scope = f.scope AND o.holder = f.holder AND o.predicate_key = f.predicate_key
                    AND o.slot = f.slot AND o.validity = 'active'))
              -- nor has another fact superseded it since
              AND NOT EXISTS (
                  SELECT FROM memory_links l JOIN facts o ON o.tenant_id = p_tenant AND o.id = l.source_id
                  WHERE l.tenant_id = p_tenant AND l.target_type = 'fact' AND l.target_id = f.id AND l.source_type = 'fact'
                    AND l.relation = 'supersedes' AND l.source_id <> pair.winner AND o.ended_at IS NULL);
        CONTINUE WHEN NOT FOUND;
        -- What the winner superseded before may be restored already.
        UPDATE facts f SET supersedes_id = (
                SELECT l.target_id FROM memory_links l
                WHERE l.tenant_id = p_tenant AND l.source_type = 'fact' AND l.source_id = pair.winner
                  AND l.target_type = 'fact' AND l.target_id = pair.before AND l.relation = 'supersedes')
            WHERE f.tenant_id = p_tenant AND f.id = pair.winner AND f.supersedes_id = pair.loser;
        -- The link may have said that the two contradict each other (supersede_fact).
        UPDATE memory_links l SET relation = 'contradicts', created_at = c.found_at
            FROM conflicts c
            WHERE l.tenant_id = p_tenant AND l.source_type = 'fact' AND l.source_id = pair.winner
              AND l.target_type = 'fact' AND l.target_id = pair.loser AND l.relation = 'supersedes'
              AND c.tenant_id = p_tenant AND c.fact_a = least(pair.winner, pair.loser)
              AND c.fact_b = greatest(pair.winner, pair.loser)
              AND c.kind = 'contradiction' AND c.resolution IS DISTINCT FROM 'keep_both'
              AND NOT EXISTS (
                  SELECT FROM memory_links o
                  WHERE o.tenant_id = p_tenant AND o.source_type = 'fact' AND o.source_id = pair.loser
                    AND o.target_type = 'fact' AND o.target_id = pair.winner AND o.relation = 'contradicts');
        DELETE FROM memory_links l
            WHERE l.tenant_id = p_tenant AND l.source_type = 'fact' AND l.source_id = pair.winner
              AND l.target_type = 'fact' AND l.target_id = pair.loser AND l.relation = 'supersedes';
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'fact_restored', 'fact', pair.loser,
            jsonb_build_object('before', jsonb_build_object('validity', 'superseded'),
                               'after', jsonb_build_object('validity', 'active')));
        -- It may be superseded again by what was stored since, also by the former winner.
        PERFORM place_again(p_tenant, p_actor, p_request_id, p_at, pair.loser);
        restored := restored + 1;
    END LOOP;

    FOR fact IN
        SELECT f.id, f.scope, f.predicate_key, f.slot, fact_is_active(f.validity) AS is_active,
               effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at) AS effective
        FROM facts f
        WHERE f.tenant_id = p_tenant AND f.entity_id = merge.target_id AND f.created_at > merge.merged_at
          AND folded_name(f.subject) = ANY (p_source_names)
        ORDER BY f.created_at, f.id
    LOOP
        SELECT o.id, effective_confidence(o.confidence, o.decay_rate, o.last_confirmed_at, p_at) AS effective INTO own
            FROM facts o
            WHERE fact.is_active AND o.tenant_id = p_tenant AND o.scope = fact.scope AND o.holder = merge.source_id::text
              AND o.predicate_key = fact.predicate_key AND o.slot = fact.slot AND o.validity = 'active';
        IF FOUND THEN
            -- it is the later statement
            PERFORM end_weaker_fact(p_tenant, p_actor, p_request_id, p_at, fact.id, own.id, fact.effective >= own.effective);
        END IF;
        UPDATE facts f SET entity_id = merge.source_id WHERE f.tenant_id = p_tenant AND f.id = fact.id;
        since := since || fact.id;
    END LOOP;

    -- A fact that ended because of a statement about the other entity holds again.
    PERFORM place_again(p_tenant, p_actor, p_request_id, p_at, f.id)
        FROM facts f
        WHERE f.tenant_id = p_tenant AND fact_is_active(f.validity)
          AND (f.entity_id IN (merge.source_id, merge.target_id) OR f.id = ANY (unlinked))
          AND f.holds_to < 'infinity' AND strpos(f.slot, '@') = 0;
    PERFORM record_moves(p_tenant, p_actor, p_request_id, p_at, 'entity_id', back || since, merge.target_id, merge.source_id);
    PERFORM record_moves(p_tenant, p_actor, p_request_id, p_at, 'entity_id', unlinked, merge.target_id, NULL);
    PERFORM record_moves(p_tenant, p_actor, p_request_id, p_at, 'object_entity_id', edges_back, merge.target_id, merge.source_id);
    UPDATE merges m SET undone_at = p_at WHERE m.tenant_id = p_tenant AND m.id = p_merge;
    moved := cardinality(back) + cardinality(edges_back) + cardinality(since);
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION unmerge_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION unmerge_facts TO butler_app;
COMMENT ON FUNCTION unmerge_facts IS
    'Undoes what a merge did to facts: moved is how many went back to the source, restored how many are active again.';
