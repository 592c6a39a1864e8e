-- p_filter: store::browse::RuleFilter, and the maturities in the order of trust. (p_after_at, p_after_id): the last rule of the
-- page before, in the order `newest`.
CREATE OR REPLACE FUNCTION browse_rules(
    p_tenant text, p_at timestamptz, p_filter jsonb, p_after_at timestamptz, p_after_id uuid, p_limit bigint, p_offset bigint,
    OUT ids uuid[], OUT total bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
    filter record;
BEGIN
    SELECT * INTO filter FROM jsonb_to_record(p_filter) AS given (
        state text, scopes text[], maturity text, words text, min_confidence double precision, tag text, ids uuid[],
        since timestamptz, until timestamptz, sort text, by_trust text[]);
    WITH matching AS MATERIALIZED (
        SELECT r.id, r.created_at, r.maturity, r.effectiveness_score, r.applied_count
        FROM rules r
        WHERE r.tenant_id = p_tenant
          AND (filter.scopes IS NULL OR r.scope = ANY (filter.scopes))
          AND (filter.maturity IS NULL OR r.maturity = filter.maturity)
          AND (filter.words IS NULL OR r.search_vector @@ (SELECT browse_query(p_tenant, filter.words))
               -- Only punctuation and words too common to be indexed.
               OR ((SELECT browse_query(p_tenant, filter.words)) IS NULL AND strpos(lower(r.content), lower(filter.words)) > 0))
          AND (filter.min_confidence <= 0
               OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= filter.min_confidence)
          AND CASE filter.state
                  WHEN 'all' THEN true
                  WHEN 'forgotten' THEN NOT rule_is_remembered(r.metadata)
                  WHEN 'fading' THEN rule_is_remembered(r.metadata) AND memory_is_fading(r.metadata)
                  ELSE rule_is_remembered(r.metadata) END
          AND (filter.tag IS NULL OR jsonb_exists(r.tags, filter.tag))
          AND (filter.ids IS NULL OR r.id = ANY (filter.ids))
          AND r.created_at >= coalesce(filter.since, '-infinity') AND r.created_at < coalesce(filter.until, 'infinity')
    )
    SELECT (SELECT count(*) FROM matching), ARRAY(
        SELECT m.id FROM matching m
        WHERE p_after_at IS NULL OR (m.created_at <= p_after_at AND (m.created_at < p_after_at OR m.id > p_after_id))
        ORDER BY CASE WHEN filter.sort = 'best' THEN array_position(filter.ids, m.id) END,
                 CASE WHEN filter.sort = 'maturity' THEN array_position(filter.by_trust, m.maturity) END,
                 CASE WHEN filter.sort IN ('maturity', 'most_effective') THEN -m.effectiveness_score
                      WHEN filter.sort = 'least_effective' THEN m.effectiveness_score
                      WHEN filter.sort = 'most_applied' THEN -m.applied_count END,
                 CASE WHEN filter.sort = 'oldest' THEN m.created_at END, m.created_at DESC, m.id
        LIMIT p_limit OFFSET p_offset) INTO total, ids;
END $$;
REVOKE EXECUTE ON FUNCTION browse_rules FROM PUBLIC;
GRANT EXECUTE ON FUNCTION browse_rules TO butler_app;
COMMENT ON FUNCTION browse_rules IS 'ids: one page of rules, sorted as requested. total: how many rules match.';
