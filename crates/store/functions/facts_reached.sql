-- Following relations: the facts of the entities that the named ones relate to. "Who is Ann's sister married to?" names Ann;
-- the fact that answers it is about her sister.
--
-- Each round follows the edges of the entities that the round before reached, in both directions, and reads the facts of
-- those at the other end. A fact is rated together with the edges on the way to it:
--
--     0.5 · share of the terms that one of them contains, by their weights, without the terms of the name; the description of
--           a predicate counts, too (child_of: "mother or father")
--   + 0.5 · average similarity of the edges to the query
--   + 0.3 · how much more similar the fact is than the average fact of its entity
--   − 0.2 for an edge that was followed against its direction and has no reading in the other (Bob has a sister, Ann)
--   − 0.2 if the fact is about a third entity (Bob works at the same company) and not symmetric
--
-- The vector of a short fact mostly reflects the names in it, hence the average: all facts of an entity share its name. Each
-- entity keeps its best edge. The weights were chosen on the generated graph of `bench quality`.
--
-- p_hops: the maximum number of edges between a named entity and the fact. info holds the number of edges (hops) and the
-- last of them (via). p_time_filter: at what time (memories_fitting.sql); NULL: now. The rows come in order, the best first.
CREATE OR REPLACE FUNCTION facts_reached(
    p_tenant text, p_scope text, p_at timestamptz, p_min double precision, p_version uuid, p_query vector, p_terms text[],
    p_factors double precision[], p_named uuid[], p_hops integer, p_limit integer, p_pool jsonb,
    p_time_filter jsonb)
RETURNS SETOF retrieved LANGUAGE plpgsql STABLE ROWS 20 AS $$
DECLARE
    -- Of an entity with more facts, the older ones are left out; of a round that reaches more entities, the worse ones.
    most_facts constant integer := 100;
    most_entities constant integer := 50;
    -- A fact with a lower score is not returned.
    least_score constant double precision := 0.3;
    terms constant tsquery[] := p_terms::tsquery[];
    names constant tsvector := (SELECT to_tsvector('english', string_agg(e.lower_names, ' ')) FROM entities e WHERE e.id = ANY (p_named));
    weights constant double precision[] := ARRAY(
        SELECT CASE WHEN names @@ t.term THEN 0 ELSE w.weight END
        FROM unnest(terms) WITH ORDINALITY AS t (term, n)
        JOIN unnest(term_weights(p_terms, p_factors, '{}', p_pool -> 'terms', greatest(1, (p_pool ->> 'rows')::double precision)))
             WITH ORDINALITY AS w (weight, n) ON w.n = t.n
        ORDER BY t.n);
    -- what is known of predicates: what each means, and what it is called from the other side
    keys text[];
    others text[];
    meanings bigint[];
    visited uuid[] := p_named;
    -- for each entity of the round: the way to it
    reached uuid[] := p_named;
    ways bigint[] := array_fill(0::bigint, ARRAY[cardinality(p_named)]);
    nearness double precision[] := array_fill(0::double precision, ARRAY[cardinality(p_named)]);
    edges uuid[] := array_fill(NULL::uuid, ARRAY[cardinality(p_named)]);
    found_ids uuid[] := '{}';
    found_scores double precision[] := '{}';
    found_edges uuid[] := '{}';
    found_hops integer[] := '{}';
    round_ids uuid[];
    round_scores double precision[];
    round_edges uuid[];
BEGIN
    SELECT array_agg(k.key), array_agg(k.other), array_agg(k.hits) INTO keys, others, meanings
        FROM (SELECT predicate_key(p.name) AS key, predicate_key(CASE WHEN p.is_symmetric THEN p.name ELSE p.inverse END) AS other,
                     term_hits(to_tsvector('english', p.description), terms) AS hits
              FROM known_predicates(p_tenant) p) k;
    FOR hop IN 1 .. p_hops LOOP
        WITH edge AS (
            SELECT r.id, n.other,
                   w.hits | term_hits(r.search_vector, terms) | coalesce(k.meaning, 0) AS hits,
                   w.nearness + coalesce(cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version), 0)
                   - CASE WHEN n.is_forward OR k.key IS NOT NULL THEN 0 ELSE 0.4 END AS nearness
            FROM unnest(reached, ways, nearness) AS w (entity, hits, nearness)
            CROSS JOIN LATERAL ((SELECT f.ctid AS place, f.object_entity_id AS other, true AS is_forward FROM facts f
                           WHERE f.entity_id = w.entity AND f.object_entity_id IS NOT NULL AND fact_fits(f.id, f.validity, f.holds_from, f.holds_to, f.placed_at,
                                       f.ended_at, f.created_at, f.observed_at, p_at, p_time_filter)
                             AND f.tenant_id || '' = p_tenant AND (p_scope IS NULL OR f.scope = ANY (ARRAY['global', p_scope]))
                           ORDER BY f.id DESC LIMIT most_facts)
                          UNION ALL
                          (SELECT f.ctid, f.entity_id, false FROM facts f
                           WHERE f.object_entity_id = w.entity AND f.entity_id IS NOT NULL AND fact_fits(f.id, f.validity, f.holds_from, f.holds_to, f.placed_at,
                                       f.ended_at, f.created_at, f.observed_at, p_at, p_time_filter)
                             AND f.tenant_id || '' = p_tenant AND (p_scope IS NULL OR f.scope = ANY (ARRAY['global', p_scope]))
                           ORDER BY f.id DESC LIMIT most_facts)) n
            JOIN facts r ON r.ctid = n.place
            LEFT JOIN unnest(keys, others, meanings) AS k (key, other, meaning)
                 ON CASE WHEN n.is_forward THEN k.key ELSE k.other END = r.predicate_key
            WHERE n.other <> ALL (visited)
              AND (p_min <= 0 OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)),
        rated AS (SELECT e.*, 0.5 * (hit_share(e.hits, weights) + e.nearness / hop) AS score FROM edge e),
        best AS (SELECT DISTINCT ON (e.other) e.* FROM rated e ORDER BY e.other, e.score DESC, e.id),
        taken AS (SELECT b.* FROM best b ORDER BY b.score DESC, b.other LIMIT most_entities)
        SELECT array_agg(t.other), array_agg(t.hits), array_agg(t.nearness), array_agg(t.id)
            INTO reached, ways, nearness, edges FROM taken t;
        EXIT WHEN reached IS NULL;
        visited := visited || reached;

        WITH fact AS (
            SELECT r.id, w.entity, w.edge, w.nearness / hop AS nearness,
                   w.hits | term_hits(r.search_vector, terms) | coalesce(k.meaning, 0) AS hits,
                   coalesce(cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version), 0) AS own,
                   r.entity_id = w.entity OR coalesce(k.key = r.predicate_key, false) AS is_about
            FROM unnest(reached, ways, nearness, edges) AS w (entity, hits, nearness, edge)
            CROSS JOIN LATERAL ((SELECT f.ctid AS place FROM facts f
                           WHERE f.entity_id = w.entity AND fact_fits(f.id, f.validity, f.holds_from, f.holds_to, f.placed_at,
                                       f.ended_at, f.created_at, f.observed_at, p_at, p_time_filter)
                             AND f.tenant_id || '' = p_tenant AND (p_scope IS NULL OR f.scope = ANY (ARRAY['global', p_scope]))
                           ORDER BY f.id DESC LIMIT most_facts)
                          UNION
                          (SELECT f.ctid FROM facts f
                           WHERE f.object_entity_id = w.entity AND fact_fits(f.id, f.validity, f.holds_from, f.holds_to, f.placed_at,
                                       f.ended_at, f.created_at, f.observed_at, p_at, p_time_filter)
                             AND f.tenant_id || '' = p_tenant AND (p_scope IS NULL OR f.scope = ANY (ARRAY['global', p_scope]))
                           ORDER BY f.id DESC LIMIT most_facts)) n
            JOIN facts r ON r.ctid = n.place
            LEFT JOIN unnest(keys, others, meanings) AS k (key, other, meaning)
                 ON CASE WHEN r.entity_id = w.entity THEN k.key ELSE k.other END = r.predicate_key
            WHERE r.id <> w.edge
              -- a fact about a named entity is no further away than the entity
              AND coalesce(r.entity_id <> ALL (p_named), true)
              AND coalesce(r.object_entity_id <> ALL (p_named), true)
              AND (p_min <= 0 OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)),
        rated AS (
            SELECT f.id, f.edge,
                   0.5 * (hit_share(f.hits, weights) + f.nearness)
                   + 0.3 * (f.own - coalesce(avg(f.own) FILTER (WHERE f.is_about) OVER (PARTITION BY f.entity), f.own))
                   - CASE WHEN f.is_about THEN 0 ELSE 0.2 END AS score
            FROM fact f)
        SELECT array_agg(b.id), array_agg(b.score), array_agg(b.edge) INTO round_ids, round_scores, round_edges
            FROM (SELECT DISTINCT ON (r.id) r.* FROM rated r WHERE r.id <> ALL (found_ids) ORDER BY r.id, r.score DESC, r.edge) b;
        found_ids := found_ids || round_ids;
        found_scores := found_scores || round_scores;
        found_edges := found_edges || round_edges;
        found_hops := found_hops || array_fill(hop, ARRAY[coalesce(cardinality(round_ids), 0)]);
    END LOOP;

    RETURN QUERY
        SELECT 'reached', r.id, cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version),
               NULL::integer, NULL::real, NULL::boolean, NULL::integer, r.content, r.subject, r.predicate, r.scope, r.importance,
               r.confidence, r.decay_rate, r.last_confirmed_at, r.last_referenced_at, r.created_at, NULL::text,
               NULL::double precision, r.entity_id, e.canonical_name::text, NULL::uuid, memory_is_fading(r.metadata),
               json_build_object('reached', json_build_object('hops', b.hops, 'via', b.edge, 'score', b.score), 'dates', fact_dates(r.valid_from, r.valid_to, r.observed_at, r.dates, r.holds_from, r.holds_to))
        FROM (SELECT * FROM unnest(found_ids, found_scores, found_edges, found_hops) AS u (id, score, edge, hops)
              WHERE u.score >= least_score
              ORDER BY u.score DESC, u.hops, u.id LIMIT p_limit) b
        JOIN facts r ON r.id = b.id
        LEFT JOIN entities e ON e.id = r.entity_id
        ORDER BY b.score DESC, b.hops, b.id;
END $$;
REVOKE EXECUTE ON FUNCTION facts_reached FROM PUBLIC;
COMMENT ON FUNCTION facts_reached IS 'The facts that relations lead to from the entities that the query names, best first.';

CREATE OR REPLACE FUNCTION hit_share(p_hits bigint, p_weights double precision[]) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (SELECT coalesce(sum(w.weight) FILTER (WHERE p_hits & (1::bigint << (w.n - 1)::integer) <> 0) / nullif(sum(w.weight), 0), 0)
            FROM unnest(p_weights) WITH ORDINALITY AS w (weight, n));
END $$;
COMMENT ON FUNCTION hit_share IS 'The share of the terms, by their weights, that the hits contain.';
