-- Relevance (domain::relevance) trusts a fact whose subject or entity the query names. The fewer facts share that name, the
-- more it trusts it. A name that 1000 facts share says nothing, so counting stops there.
CREATE OR REPLACE FUNCTION fact_named(
    p_tenant text, p_subject text, p_entity uuid, p_entity_name text, p_entity_aliases text[], p_words text)
RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT min(CASE WHEN n.of_entity
                    THEN (SELECT count(*) FROM (SELECT FROM facts f WHERE f.entity_id = p_entity AND fact_is_active(f.validity)
                                                LIMIT 1000) counted)
                    ELSE (SELECT count(*) FROM (SELECT FROM facts f
                                                WHERE f.tenant_id = p_tenant AND f.subject = p_subject AND fact_is_active(f.validity)
                                                LIMIT 1000) counted) END)
    FROM (SELECT p_subject AS name, false AS of_entity
          UNION ALL SELECT p_entity_name, true
          UNION ALL SELECT unnest(p_entity_aliases), true) n
    WHERE length(spaced_words(n.name)) > 3 AND strpos(spaced_words(p_words), spaced_words(n.name)) > 0
$$;
COMMENT ON FUNCTION fact_named IS 'How many active facts, at most 1000, share the name of this fact that the words contain; NULL if they contain none.';
