-- The entities around one, breadth first: each round follows the edges of all entities that the round before reached, so the
-- number of statements is the depth. An edge is a fact with an object; it counts as outgoing at its subject. A symmetric
-- predicate, or one with an inverse, also counts as outgoing at its object, under the inverse name (inferred).
CREATE OR REPLACE FUNCTION entity_neighbors(
    p_tenant text, p_at timestamptz, p_entity uuid, p_predicates text[], p_direction text, p_depth integer, p_limit integer,
    p_time_filter jsonb)
RETURNS TABLE (depth integer, fact_id uuid, source_id uuid, target_id uuid, predicate text, content text, inferred boolean,
               effective double precision, learned_at timestamptz, dates jsonb)
-- Planned once per connection: planning costs more than following ten entities' edges. The plan joins the frontier, so it
-- reads the facts of those entities by an index, however many there are.
LANGUAGE plpgsql STABLE ROWS 50 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
DECLARE
    wanted constant text[] := (SELECT array_agg(predicate_key(w)) FROM unnest(p_predicates) AS w);
    -- symmetric ones are their own inverse
    keys text[];
    inverses text[];
    frontier uuid[] := ARRAY[p_entity];
    reached uuid[] := ARRAY[p_entity];
    followed uuid[] := '{}';
    round_edges record;
    left_over integer := p_limit;
BEGIN
    SELECT array_agg(i.key), array_agg(i.inverse) INTO keys, inverses
        FROM (SELECT DISTINCT s.key, s.inverse
              FROM known_predicates(p_tenant) p
              CROSS JOIN LATERAL (SELECT predicate_key(p.name) AS key,
                                         predicate_key(CASE WHEN p.is_symmetric THEN p.name ELSE p.inverse END) AS inverse) n
              -- the inverse may have no row of its own
              CROSS JOIN LATERAL (VALUES (n.key, n.inverse), (n.inverse, n.key)) AS s (key, inverse)
              WHERE p.is_symmetric OR p.inverse IS NOT NULL) i;
    FOR round IN 1 .. p_depth LOOP
        EXIT WHEN cardinality(frontier) = 0 OR left_over <= 0;
        FOR round_edges IN
            WITH touched AS (
                SELECT r.place, r.is_subject
                FROM unnest(frontier) AS w (id)
                CROSS JOIN LATERAL (
                    SELECT f.ctid AS place, true AS is_subject FROM facts f
                    WHERE f.entity_id = w.id AND f.object_entity_id IS NOT NULL AND f.tenant_id = p_tenant
                    UNION ALL
                    SELECT f.ctid, false FROM facts f
                    WHERE f.object_entity_id = w.id AND f.entity_id IS NOT NULL AND f.tenant_id = p_tenant) r)
            SELECT e.* FROM (
                SELECT DISTINCT ON (f.id)
                    f.id, s.source, s.target, s.named, s.swapped, f.content, f.confidence, f.decay_rate, f.last_confirmed_at,
                    f.created_at, f.valid_from, f.valid_to, f.observed_at, f.dates AS given, f.holds_from, f.holds_to
                FROM touched t
                JOIN facts f ON f.ctid = t.place
                LEFT JOIN unnest(keys, inverses) AS i (key, inverse) ON i.key = f.predicate_key
                -- as stated, and as seen from the other end
                CROSS JOIN LATERAL (VALUES
                    (f.entity_id, f.object_entity_id, f.predicate_key, false, t.is_subject),
                    (f.object_entity_id, f.entity_id, i.inverse, true, NOT t.is_subject)) AS s (source, target, named, swapped, is_out)
                WHERE s.named IS NOT NULL
                  AND (p_direction = 'both' OR (p_direction = 'out') = s.is_out)
                  AND (wanted IS NULL OR s.named = ANY (wanted))
                  AND f.id <> ALL (followed)
                  -- a merge can turn a relation between two entities into one of an entity to itself
                  AND f.entity_id <> f.object_entity_id
                  AND fact_fits(f.id, f.validity, f.holds_from, f.holds_to, f.placed_at, f.ended_at, f.created_at, f.observed_at,
                                p_at, p_time_filter)
                -- as seen from where it was reached
                ORDER BY f.id, (s.source = ANY (frontier)) DESC, s.swapped, s.named) e
            ORDER BY e.named COLLATE "C", e.target, e.source, e.id LIMIT left_over
        LOOP
            depth := round;
            fact_id := round_edges.id;
            source_id := round_edges.source;
            target_id := round_edges.target;
            predicate := round_edges.named;
            content := round_edges.content;
            inferred := round_edges.swapped;
            effective := effective_confidence(round_edges.confidence, round_edges.decay_rate, round_edges.last_confirmed_at, p_at);
            learned_at := round_edges.created_at;
            dates := fact_dates_then(round_edges.id, round_edges.valid_from, round_edges.valid_to, round_edges.observed_at, round_edges.given,
                                     round_edges.holds_from, round_edges.holds_to, (p_time_filter ->> 'as_of')::timestamptz);
            followed := followed || fact_id;
            RETURN NEXT;
        END LOOP;
        left_over := p_limit - cardinality(followed);
        frontier := ARRAY(
            SELECT DISTINCT end_id FROM facts f, LATERAL (VALUES (f.entity_id), (f.object_entity_id)) AS ends (end_id)
            WHERE f.id = ANY (followed) AND end_id <> ALL (reached));
        reached := reached || frontier;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION entity_neighbors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION entity_neighbors TO butler_app;
COMMENT ON FUNCTION entity_neighbors IS
    'The edges around an entity, nearest first; direction: out, in or both. Each fact appears once.';
