-- What a merge of two entities does to their facts (store::entities::merge). The caller holds the row locks of both
-- entities, so nobody stores a fact about them meanwhile.

-- All facts of both entities are locked first, in the order of their ids: memory_bump locks them in the same order. A
-- winner names the loser as superseded even if it superseded another fact before; the links name both.
CREATE OR REPLACE FUNCTION supersede_conflicting_facts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_source uuid, p_target uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    conflict record;
    conflicts bigint := 0;
BEGIN
    PERFORM FROM facts f WHERE f.tenant_id = p_tenant AND f.entity_id = ANY (ARRAY[p_source, p_target])
        ORDER BY f.id FOR NO KEY UPDATE;
    FOR conflict IN
        SELECT CASE WHEN pair.source_wins THEN pair.source_id ELSE pair.target_id END AS winner,
               CASE WHEN pair.source_wins THEN pair.target_id ELSE pair.source_id END AS loser
        FROM (SELECT s.id AS source_id, t.id AS target_id,
                     effective_confidence(s.confidence, s.decay_rate, s.last_confirmed_at, p_at)
                     > effective_confidence(t.confidence, t.decay_rate, t.last_confirmed_at, p_at) AS source_wins
              FROM facts s JOIN facts t ON t.scope = s.scope AND t.predicate_key = s.predicate_key AND t.slot = s.slot
              WHERE s.tenant_id = p_tenant AND s.entity_id = p_source AND fact_is_active(s.validity)
                AND t.tenant_id = p_tenant AND t.entity_id = p_target AND fact_is_active(t.validity)) pair
    LOOP
        UPDATE facts f SET validity = 'superseded' WHERE f.tenant_id = p_tenant AND f.id = conflict.loser;
        UPDATE facts f SET supersedes_id = conflict.loser WHERE f.tenant_id = p_tenant AND f.id = conflict.winner;
        PERFORM supersede_fact(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), conflict.winner, conflict.loser);
        conflicts := conflicts + 1;
    END LOOP;
    RETURN conflicts;
END $$;
REVOKE EXECUTE ON FUNCTION supersede_conflicting_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION supersede_conflicting_facts TO butler_app;
COMMENT ON FUNCTION supersede_conflicting_facts IS
    'Of two active facts with the same scope, predicate and slot, supersedes the one that is less confident by now; '
    'the target''s stays if both are equally confident.';

CREATE OR REPLACE FUNCTION move_facts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_source uuid, p_target uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    moved_ids uuid[];
    payloads jsonb[];
BEGIN
    WITH moved AS (
        UPDATE facts f SET entity_id = p_target WHERE f.tenant_id = p_tenant AND f.entity_id = p_source RETURNING f.id
    )
    SELECT array_agg(moved.id),
           array_agg(jsonb_build_object('before', jsonb_build_object('entity_id', p_source),
                                        'after', jsonb_build_object('entity_id', p_target)))
        INTO moved_ids, payloads FROM moved;
    PERFORM record_events(p_tenant, p_actor, p_request_id, p_at, 'fact_repointed', 'fact', moved_ids, payloads);
    RETURN coalesce(cardinality(moved_ids), 0);
END $$;
REVOKE EXECUTE ON FUNCTION move_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION move_facts TO butler_app;
COMMENT ON FUNCTION move_facts IS 'Moves all facts of one entity to another, whatever their validity.';

-- An edge keeps its slot apart by its object, so two edges can meet: the more confident one stays, the target's if both are
-- equal.
CREATE OR REPLACE FUNCTION move_edges(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_source uuid, p_target uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    edge record;
    other record;
    new_slot text;
    moved bigint := 0;
BEGIN
    FOR edge IN
        SELECT f.id, f.scope, f.holder, f.predicate_key, f.slot, fact_is_active(f.validity) AS is_active,
               effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, p_at) AS effective
        FROM facts f WHERE f.tenant_id = p_tenant AND f.object_entity_id = p_source
        ORDER BY f.id FOR NO KEY UPDATE
    LOOP
        new_slot := CASE WHEN edge.slot = p_source::text THEN p_target::text ELSE edge.slot END;
        SELECT o.id, effective_confidence(o.confidence, o.decay_rate, o.last_confirmed_at, p_at) AS effective INTO other
            FROM facts o
            WHERE edge.is_active AND o.tenant_id = p_tenant AND o.scope = edge.scope AND o.holder = edge.holder
              AND o.predicate_key = edge.predicate_key AND o.slot = new_slot AND o.validity = 'active' AND o.id <> edge.id
            FOR NO KEY UPDATE;
        IF FOUND THEN
            UPDATE facts f SET validity = 'superseded'
                WHERE f.tenant_id = p_tenant AND f.id = CASE WHEN edge.effective > other.effective THEN other.id ELSE edge.id END;
            PERFORM supersede_fact(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(),
                CASE WHEN edge.effective > other.effective THEN edge.id ELSE other.id END,
                CASE WHEN edge.effective > other.effective THEN other.id ELSE edge.id END);
        END IF;
        UPDATE facts f SET object_entity_id = p_target, slot = new_slot WHERE f.tenant_id = p_tenant AND f.id = edge.id;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'fact_repointed', 'fact', edge.id,
            jsonb_build_object('before', jsonb_build_object('object_entity_id', p_source),
                               'after', jsonb_build_object('object_entity_id', p_target)));
        moved := moved + 1;
    END LOOP;
    RETURN moved;
END $$;
REVOKE EXECUTE ON FUNCTION move_edges FROM PUBLIC;
GRANT EXECUTE ON FUNCTION move_edges TO butler_app;
COMMENT ON FUNCTION move_edges IS 'Moves all relations to one entity to another, whatever their validity.';
