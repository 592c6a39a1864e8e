-- The warning was written and embedded from content and metadata that may have changed since. Then nothing is written, and
-- the caller reads the rule again.
CREATE OR REPLACE FUNCTION invert_rule(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_rule jsonb, p_embedding real[])
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    rule record;
BEGIN
    SELECT * INTO rule FROM jsonb_to_record(p_rule) AS given (
        id uuid, old_content text, old_metadata jsonb, content text, search_text text, metadata jsonb, model text,
        model_version text, dimensions integer, event_id uuid);

    UPDATE rules r SET
        content = rule.content, metadata = rule.metadata, embedding = p_embedding::vector,
        embedding_version_id = embedding_version(p_tenant, rule.model, rule.model_version, rule.dimensions, p_at),
        search_vector = memory_search_vector(rule.search_text), maturity = 'anti_pattern', last_evaluated_at = p_at
        WHERE r.tenant_id = p_tenant AND r.id = rule.id AND r.content = rule.old_content AND r.metadata = rule.old_metadata
          AND r.maturity <> 'anti_pattern';
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, rule.event_id, 'rule_inverted', 'rule', rule.id,
        jsonb_build_object('before', jsonb_build_object('content', rule.old_content),
                           'after', jsonb_build_object('content', rule.content, 'maturity', 'anti_pattern')));
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION invert_rule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION invert_rule TO butler_app;
COMMENT ON FUNCTION invert_rule IS
    'Turns a rule into a warning; false, and nothing changed, if the rule changed since it was read.';
