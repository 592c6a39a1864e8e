-- What must not be learned again: forgotten facts and rules, and the hashes of what was erased.
--
-- The caller decides which of several near statements are the same: numbers, names and negations are compared outside the
-- database (butler_domain::statements).

CREATE OR REPLACE FUNCTION statement_hash(p_tenant text, VARIADIC p_parts text[]) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(k.key || sha256(k.key || convert_to(array_to_string(p_parts, E'\x1f'), 'UTF8')))
    FROM tombstone_keys k WHERE k.tenant_id = p_tenant
$$;
REVOKE EXECUTE ON FUNCTION statement_hash FROM PUBLIC;
GRANT EXECUTE ON FUNCTION statement_hash TO butler_app;
COMMENT ON FUNCTION statement_hash IS 'The hash of an erased statement with the tenant''s key; NULL if nothing was ever erased.';

CREATE OR REPLACE FUNCTION tombstone_stands(p_tenant text, p_memory uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM tombstones t
                       WHERE t.tenant_id = p_tenant AND t.memory_id = p_memory AND t.allowed_at IS NOT NULL)
$$;
REVOKE EXECUTE ON FUNCTION tombstone_stands FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tombstone_stands TO butler_app;
COMMENT ON FUNCTION tombstone_stands IS 'Whether a forgotten memory may not be learned again.';

-- Also entities that are forgotten or share the name: the facts that were forgotten with them are still theirs.
CREATE OR REPLACE FUNCTION statement_holders(p_tenant text, p_entity uuid, p_subject text) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT ARRAY[fact_holder(p_entity, p_subject), fact_holder(NULL, p_subject)] || ARRAY(
        SELECT e.id::text FROM entities e
        WHERE entity_link_keys(e.tenant_id, e.lower_names) && ARRAY[hashtextextended(p_tenant || E'\x1f' || folded_name(p_subject), 41)]
          AND e.tenant_id || '' = p_tenant
          AND folded_name(p_subject) = ANY (SELECT folded_name(n) FROM unnest(string_to_array(e.lower_names, E'\n')) AS n)
        LIMIT 10)
$$;
REVOKE EXECUTE ON FUNCTION statement_holders FROM PUBLIC;
GRANT EXECUTE ON FUNCTION statement_holders TO butler_app;
COMMENT ON FUNCTION statement_holders IS 'Under which holders a forgotten fact about this subject may stand.';

-- A statement about a time after the forgetting is another one.
CREATE OR REPLACE FUNCTION forgotten_facts(
    p_tenant text, p_entity uuid, p_subject text, p_predicate_key text, p_content text, p_valid_from timestamptz,
    p_embedding real[], p_version uuid, p_near double precision)
RETURNS TABLE (id uuid, content text, similarity double precision, is_same boolean, forgotten_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT f.id, f.content, s.similarity, s.is_same, f.ended_at
    FROM facts f,
         LATERAL (SELECT content_key(f.content) = content_key(p_content) AS is_same,
                         CASE WHEN f.embedding_version_id = p_version THEN 1 - (f.embedding <=> p_embedding::vector) END AS similarity) s
    WHERE f.tenant_id = p_tenant AND f.holder = ANY ((SELECT statement_holders(p_tenant, p_entity, p_subject))::text[])
      AND f.predicate_key = p_predicate_key AND f.validity = 'retracted'
      AND NOT coalesce(p_valid_from > f.ended_at, false)
      AND (s.is_same OR s.similarity >= p_near) AND tombstone_stands(p_tenant, f.id)
    UNION ALL
    SELECT t.id, NULL, NULL, true, t.created_at
    FROM tombstones t
    WHERE t.tenant_id = p_tenant AND t.allowed_at IS NULL AND NOT coalesce(p_valid_from > t.created_at, false)
      AND t.hash = statement_hash(p_tenant, 'fact', fact_holder(NULL, p_subject), p_predicate_key, content_key(p_content))
    ORDER BY 4 DESC, 3 DESC NULLS LAST, 1 LIMIT 20
$$;
REVOKE EXECUTE ON FUNCTION forgotten_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forgotten_facts TO butler_app;
COMMENT ON FUNCTION forgotten_facts IS 'Forgotten or erased facts of the same key that say the same, or nearly: the candidates.';

CREATE OR REPLACE FUNCTION forgotten_rules(
    p_tenant text, p_content text, p_embedding real[], p_version uuid, p_near double precision)
RETURNS TABLE (id uuid, content text, similarity double precision, is_same boolean, forgotten_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT r.id, r.content, s.similarity, s.is_same,
           (SELECT max(e.created_at) FROM memory_events e
            WHERE e.tenant_id = p_tenant AND e.memory_id = r.id AND e.event_type = 'rule_forgotten')
    FROM rules r,
         LATERAL (SELECT content_key(r.content) = content_key(p_content) AS is_same,
                         CASE WHEN r.embedding_version_id = p_version THEN 1 - (r.embedding <=> p_embedding::vector) END AS similarity) s
    WHERE r.tenant_id = p_tenant AND r.metadata -> 'forgotten' = 'true' AND (s.is_same OR s.similarity >= p_near)
      AND NOT rule_has_decayed(p_tenant, r.id, r.metadata) AND tombstone_stands(p_tenant, r.id)
    UNION ALL
    SELECT t.id, NULL, NULL, true, t.created_at
    FROM tombstones t
    WHERE t.tenant_id = p_tenant AND t.allowed_at IS NULL AND t.hash = statement_hash(p_tenant, 'rule', content_key(p_content))
    ORDER BY 4 DESC, 3 DESC NULLS LAST, 1 LIMIT 20
$$;
REVOKE EXECUTE ON FUNCTION forgotten_rules FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forgotten_rules TO butler_app;
COMMENT ON FUNCTION forgotten_rules IS 'Forgotten or erased rules that say the same, or nearly: the candidates.';
