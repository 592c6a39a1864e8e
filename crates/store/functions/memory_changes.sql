-- What changed in a period, for example for an agent that comes back after a week. One row per memory and section, newest
-- first. For a memory that is forgotten by now, only its name is returned.
CREATE OR REPLACE FUNCTION memory_changes(
    p_tenant text, p_scope text, p_since timestamptz, p_until timestamptz, p_limit integer)
RETURNS TABLE (section text, memory_type text, id uuid, changed_at timestamptz, event_type text, entity_id uuid, name text,
               predicate text, content text, before text, dates jsonb)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
        WITH happened AS MATERIALIZED (
            SELECT e.event_type, e.memory_type, e.memory_id, e.created_at, e.payload, e.id AS event_id,
                   CASE WHEN e.event_type IN ('fact_forgotten', 'rule_forgotten', 'episode_forgotten', 'entity_forgotten')
                        THEN CASE WHEN e.payload ? 'effective_confidence' THEN 'faded' ELSE 'forgotten' END
                        WHEN e.event_type IN ('fact_fading', 'fact_expired', 'rule_fading') THEN 'faded'
                        WHEN e.event_type = 'rule_marked_harmful'
                             OR e.event_type = 'link_created' AND e.payload ->> 'relation' = 'contradicts' THEN 'contradicted'
                        WHEN e.event_type = 'fact_created' AND e.payload ->> 'supersedes_id' IS NULL
                             OR e.event_type = 'rule_created' THEN 'learned'
                        ELSE 'changed' END AS section
            FROM memory_events e
            WHERE e.tenant_id = p_tenant AND e.created_at >= p_since AND e.created_at < p_until
              AND e.event_type IN ('fact_created', 'fact_redated', 'fact_restored', 'fact_forgotten', 'fact_fading', 'fact_expired',
                                   'rule_created', 'rule_edited', 'rule_promoted', 'rule_demoted', 'rule_inverted', 'rule_restored',
                                   'rule_forgotten', 'rule_fading', 'rule_marked_harmful', 'link_created', 'episode_forgotten',
                                   'entity_forgotten')
              AND (e.event_type <> 'link_created' OR e.payload ->> 'relation' = 'contradicts')
        ), last AS (
            SELECT DISTINCT ON (h.memory_id, h.section) h.*
            FROM happened h ORDER BY h.memory_id, h.section, h.created_at DESC, h.event_id DESC
        )
        SELECT l.section, l.memory_type, l.memory_id, l.created_at, l.event_type, f.entity_id,
               coalesce(n.canonical_name, e.canonical_name, f.subject)::text, f.predicate,
               CASE WHEN l.section = 'forgotten' THEN NULL ELSE coalesce(f.content, r.content) END,
               CASE WHEN l.section = 'changed' AND l.event_type = 'fact_created' AND fact_is_believed(o.validity) THEN o.content
                    WHEN l.event_type = 'rule_edited' THEN l.payload -> 'before' ->> 'content' END,
               fact_dates(f.valid_from, f.valid_to, f.observed_at, f.dates, f.holds_from, f.holds_to)
        FROM last l
        LEFT JOIN facts f ON l.memory_type = 'fact' AND f.tenant_id = p_tenant AND f.id = l.memory_id
        LEFT JOIN rules r ON l.memory_type = 'rule' AND r.tenant_id = p_tenant AND r.id = l.memory_id
        LEFT JOIN facts o ON o.tenant_id = p_tenant AND o.id = f.supersedes_id
        LEFT JOIN entities n ON n.tenant_id = p_tenant AND n.id = f.entity_id
        LEFT JOIN entities e ON l.memory_type = 'entity' AND e.tenant_id = p_tenant AND e.id = l.memory_id
        WHERE (l.section IN ('forgotten', 'faded') OR l.memory_type = 'fact' AND fact_is_believed(f.validity)
               OR l.memory_type = 'rule' AND rule_is_remembered(r.metadata))
          AND (l.memory_type <> 'fact' OR f.id IS NOT NULL) AND (l.memory_type <> 'rule' OR r.id IS NOT NULL)
          AND (l.section <> 'faded' OR f.validity IS DISTINCT FROM 'retracted')
          -- a memory that was restored is not reported as forgotten
          AND (l.section <> 'forgotten' OR f.validity IS NOT DISTINCT FROM 'retracted' OR NOT rule_is_remembered(r.metadata)
               OR l.memory_type IN ('episode', 'entity'))
          -- a superseded fact is reported with the fact that supersedes it
          AND (l.section <> 'learned' OR f.validity IS DISTINCT FROM 'superseded')
          AND (p_scope IS NULL OR coalesce(f.scope, r.scope, 'global') IN ('global', p_scope))
        ORDER BY l.created_at DESC, l.memory_id LIMIT p_limit;
END $$;
REVOKE EXECUTE ON FUNCTION memory_changes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_changes TO butler_app;
COMMENT ON FUNCTION memory_changes IS
    'What was learned, changed, contradicted, faded and forgotten between two moments, newest first.';
