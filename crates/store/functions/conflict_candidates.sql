-- The facts that may contradict or repeat a fact, for the program to decide (domain::conflicts). relation tells how they
-- were found:
--   key      the same thing and predicate of one value in another scope
--   subject  the same predicate of one value about the fact's entity, under a name that is not linked to it
--   near     about the same thing, and worded alike
--   other    about another thing, and worded alike; only with p_wide, which compares with the whole tenant
-- Only facts that hold at a common time count. A value of a temporal predicate belongs to a moment, so two of them are no
-- conflict.
--
-- Runs after a fact is stored, unless store_fact saw that it is alone. Planning would cost more than the query, so the plan is
-- a generic one. Without sequential scans, because it may be made while the table is still small; IS TRUE as in store_fact.
CREATE OR REPLACE FUNCTION conflict_candidates(p_tenant text, p_fact uuid, p_wide boolean)
RETURNS TABLE (id uuid, relation text, subject text, predicate text, content text, scope text, similarity double precision)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    active constant text := 'active';
    -- Facts of one entity that are compared when a fact is stored. Of a larger entity, the job compares the nearest.
    compared constant integer := 200;
    fact record;
    rule record;
    is_one boolean;
    names text[] := '{}';
    alike uuid[] := '{}';
BEGIN
    SELECT f.id, f.subject, f.entity_id, f.object_entity_id, f.holder, f.predicate_key, f.scope, f.embedding,
           f.embedding_version_id, f.holds_from, f.holds_to
        INTO fact FROM facts f WHERE f.tenant_id = p_tenant AND f.id = p_fact AND f.validity = active;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT * INTO rule FROM predicate_rule(p_tenant, fact.predicate_key);
    IF rule.is_temporal THEN
        RETURN;
    END IF;
    is_one := rule.cardinality = 'one' AND (fact.object_entity_id IS NULL OR rule.registered);
    IF is_one AND fact.entity_id IS NOT NULL THEN
        SELECT array_agg(DISTINCT fact_holder(NULL, n.name)) INTO names
            FROM entities e, unnest(e.aliases || e.canonical_name || fact.subject) AS n (name)
            WHERE e.tenant_id = p_tenant AND e.id = fact.entity_id;
    END IF;
    -- Many facts are the only one about their subject. Finding that out costs a tenth of the query below.
    IF NOT p_wide AND NOT EXISTS (
        SELECT FROM facts o
        WHERE o.tenant_id = p_tenant AND o.holder = ANY (names || fact.holder) AND (o.validity = 'active') IS TRUE
          AND o.id <> p_fact) THEN
        RETURN;
    END IF;
    IF p_wide AND fact.embedding IS NOT NULL THEN
        -- as many lists as vector_probes reads of an index of this size; 20 is the number before the first training
        PERFORM set_config('ivfflat.probes',
                           least(40, coalesce((SELECT v.lists FROM vector_indexes v WHERE v.relation = 'facts'), 20))::text, true);
        alike := ARRAY(SELECT n.id FROM facts_near_probed(p_tenant, NULL, fact.embedding, 10) n WHERE n.distance < 0.1);
    END IF;
    RETURN QUERY
        SELECT DISTINCT ON (c.id) c.id, c.relation, c.subject, c.predicate, c.content, c.scope, c.similarity
        FROM (
            SELECT o.id, 'key' AS relation, 1 AS place, o.subject, o.predicate, o.content, o.scope, o.holds_from, o.holds_to,
                   CASE WHEN o.embedding_version_id = fact.embedding_version_id THEN 1 - (o.embedding <=> fact.embedding) END AS similarity
            FROM facts o
            WHERE is_one AND o.tenant_id = p_tenant AND o.holder = fact.holder AND o.predicate_key = fact.predicate_key
              AND o.scope <> fact.scope AND (o.validity = 'active') IS TRUE
            UNION ALL
            SELECT o.id, 'subject', 2, o.subject, o.predicate, o.content, o.scope, o.holds_from, o.holds_to,
                   CASE WHEN o.embedding_version_id = fact.embedding_version_id THEN 1 - (o.embedding <=> fact.embedding) END
            FROM facts o
            WHERE o.tenant_id = p_tenant AND o.holder = ANY (names) AND o.predicate_key = fact.predicate_key
              AND (o.validity = 'active') IS TRUE
            UNION ALL
            (SELECT n.id, 'near', 3, n.subject, n.predicate, n.content, n.scope, n.holds_from, n.holds_to, n.similarity
             FROM (SELECT o.id, o.subject, o.predicate, o.content, o.scope, o.holds_from, o.holds_to,
                          1 - (o.embedding <=> fact.embedding) AS similarity
                   FROM facts o
                   WHERE o.tenant_id = p_tenant AND o.holder = fact.holder AND (o.validity = 'active') IS TRUE
                     AND o.embedding_version_id = fact.embedding_version_id LIMIT compared) n
             WHERE n.id <> p_fact AND n.similarity > 0.6
             ORDER BY n.similarity DESC, n.id LIMIT 10)
            UNION ALL
            SELECT o.id, CASE WHEN o.holder = fact.holder THEN 'near' ELSE 'other' END, 4, o.subject, o.predicate, o.content, o.scope,
                   o.holds_from, o.holds_to, 1 - (o.embedding <=> fact.embedding)
            FROM facts o
            WHERE o.id = ANY (alike) AND o.tenant_id = p_tenant AND o.validity = 'active'
              AND o.embedding_version_id = fact.embedding_version_id) c
        WHERE c.id <> p_fact AND c.holds_from < fact.holds_to AND fact.holds_from < c.holds_to
          AND NOT EXISTS (SELECT FROM conflicts k
                          WHERE k.tenant_id = p_tenant AND k.fact_a = least(c.id, p_fact) AND k.fact_b = greatest(c.id, p_fact))
        ORDER BY c.id, c.place;
END $$;
REVOKE EXECUTE ON FUNCTION conflict_candidates FROM PUBLIC;
GRANT EXECUTE ON FUNCTION conflict_candidates TO butler_app;
COMMENT ON FUNCTION conflict_candidates IS
    'The facts that may contradict or repeat a fact, except the pairs that are recorded already.';
