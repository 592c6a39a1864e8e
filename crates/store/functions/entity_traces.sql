-- Where an entity is found: in the facts about it, in relations to it, and in memories that name it. Forgetting an entity
-- (forget_entity, erase_entity) starts here.
--
-- A text names an entity if it contains its name or an alias as whole words, whatever the case and accents. In scripts without
-- spaces, the name may stand anywhere. A name of one letter names nothing in a text.

CREATE OR REPLACE FUNCTION entity_family(p_tenant text, p_entity uuid) RETURNS uuid[] LANGUAGE sql STABLE AS $$
    WITH RECURSIVE family (id) AS (
        SELECT p_entity
        UNION
        SELECT e.id FROM family f JOIN entities e ON e.tenant_id = p_tenant AND e.metadata ->> 'merged_into' = f.id::text
    )
    SELECT array_agg(f.id) FROM family f
$$;
REVOKE EXECUTE ON FUNCTION entity_family FROM PUBLIC;
GRANT EXECUTE ON FUNCTION entity_family TO butler_app;
COMMENT ON FUNCTION entity_family IS 'An entity and all that were merged into it.';

CREATE OR REPLACE FUNCTION entity_patterns(p_tenant text, p_entities uuid[], OUT whole text[], OUT parts text[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    folded constant text[] := ARRAY(
        SELECT DISTINCT folded_name(n)
        FROM entities e, unnest(string_to_array(e.lower_names, E'\n')) AS n
        WHERE e.tenant_id = p_tenant AND e.id = ANY (p_entities) AND length(folded_name(n)) > 1);
BEGIN
    -- Without a letter or digit there is no word, as in scripts without spaces.
    parts := ARRAY(SELECT n FROM unnest(folded) AS n
                   WHERE is_paired(ARRAY[n]) OR spaced_words(n) !~ '[[:alnum:]]');
    whole := ARRAY(SELECT spaced_words(n) FROM unnest(folded) AS n WHERE n <> ALL (parts));
END $$;
REVOKE EXECUTE ON FUNCTION entity_patterns FROM PUBLIC;
GRANT EXECUTE ON FUNCTION entity_patterns TO butler_app;
COMMENT ON FUNCTION entity_patterns IS
    'The names of entities for text_names: those to be found as whole words, and those to be found anywhere.';

CREATE OR REPLACE FUNCTION text_names(p_body text, p_whole text[], p_parts text[]) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    plain constant text := folded_name(p_body);
    spaced text;
    pattern text;
BEGIN
    FOREACH pattern IN ARRAY p_parts LOOP
        IF strpos(plain, pattern) > 0 THEN
            RETURN true;
        END IF;
    END LOOP;
    FOREACH pattern IN ARRAY p_whole LOOP
        -- Most texts do not even contain the first word.
        IF strpos(plain, split_part(pattern, ' ', 2)) > 0 THEN
            spaced := coalesce(spaced, spaced_words(plain));
            IF strpos(spaced, pattern) > 0 THEN
                RETURN true;
            END IF;
        END IF;
    END LOOP;
    RETURN false;
END $$;
REVOKE EXECUTE ON FUNCTION text_names FROM PUBLIC;
GRANT EXECUTE ON FUNCTION text_names TO butler_app;
COMMENT ON FUNCTION text_names IS 'Whether a text names an entity with these patterns (entity_patterns).';

-- Two people may share a name or an alias. What is known about the other one, and the events about it, stay.
CREATE OR REPLACE FUNCTION namesakes(p_tenant text, p_entities uuid[]) RETURNS uuid[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(o.id), '{}')
    FROM entities o
    WHERE o.tenant_id = p_tenant AND o.id <> ALL (p_entities) AND entity_is_live(o.metadata)
      AND EXISTS (
          SELECT folded_name(n) FROM unnest(string_to_array(o.lower_names, E'\n')) AS n WHERE n <> ''
          INTERSECT
          SELECT folded_name(n) FROM entities e, unnest(string_to_array(e.lower_names, E'\n')) AS n
          WHERE e.tenant_id = p_tenant AND e.id = ANY (p_entities))
$$;
REVOKE EXECUTE ON FUNCTION namesakes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION namesakes TO butler_app;
COMMENT ON FUNCTION namesakes IS 'The other live entities that share a name or alias with one of these.';

-- Otherwise the n of an escaped line break would be part of the next word.
CREATE OR REPLACE FUNCTION json_words(p_json jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN strpos(p_json::text, '\') = 0 THEN p_json::text
                      ELSE regexp_replace(p_json::text, '\\[bfnrt]', ' ', 'g') END $$;
COMMENT ON FUNCTION json_words IS 'The text of a JSON value, with spaces for control characters.';

-- The keys of an event's payload, an answer or a report are the program's own, except in what callers wrote.
CREATE OR REPLACE FUNCTION json_values(p_json jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg(w.word, ' ')
    FROM (SELECT v #>> '{}' AS word FROM jsonb_path_query(p_json, '$.** ? (@.type() == "string")') AS v
          UNION ALL
          SELECT json_words(v) FROM jsonb_path_query(p_json, '$.**.metadata') AS v
          UNION ALL
          SELECT json_words(v) FROM jsonb_path_query(p_json, '$.**.context') AS v) w
$$;
COMMENT ON FUNCTION json_values IS 'The texts in a JSON value without its keys; metadata and context with their keys.';

CREATE OR REPLACE FUNCTION entity_traces(p_tenant text, p_entity uuid, p_forgotten boolean, p_at timestamptz)
RETURNS TABLE (role text, kind text, id uuid, body text, stored_at timestamptz) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    -- of a text in a preview
    shown constant integer := 200;
    family constant uuid[] := entity_family(p_tenant, p_entity);
    names record;
    others constant uuid[] := namesakes(p_tenant, family);
    own uuid[];
BEGIN
    SELECT * INTO names FROM entity_patterns(p_tenant, family);
    own := ARRAY(
        WITH RECURSIVE about (fact_id, older_id) AS (
            SELECT f.id, f.supersedes_id FROM facts f WHERE f.tenant_id = p_tenant AND f.entity_id = ANY (family)
            UNION
            -- a version from before the entity was known
            SELECT f.id, f.supersedes_id FROM about a
                JOIN facts f ON f.tenant_id = p_tenant AND f.id = a.older_id AND f.entity_id IS NULL
        )
        SELECT a.fact_id FROM about a);
    RETURN QUERY
        SELECT CASE WHEN f.id = ANY (own) THEN 'about' WHEN f.object_entity_id = ANY (family) THEN 'edge' ELSE 'mention' END,
               'fact', f.id, left(concat_ws(' ', f.subject, f.predicate || ':', f.content), shown), f.created_at
        FROM facts f
        WHERE f.tenant_id = p_tenant AND (p_forgotten OR f.validity <> 'retracted')
          AND (f.id = ANY (own) OR f.object_entity_id = ANY (family)
               OR coalesce(f.entity_id <> ALL (others), true)
                  AND text_names(concat_ws(' ', f.subject, f.predicate, f.content, json_words(f.tags), json_words(f.metadata)),
                                 names.whole, names.parts))
        ORDER BY f.created_at DESC, f.id;
    RETURN QUERY
        SELECT 'mention', 'rule', r.id, left(r.content, shown), r.created_at
        FROM rules r
        WHERE r.tenant_id = p_tenant AND (p_forgotten OR rule_is_remembered(r.metadata))
          AND text_names(concat_ws(' ', r.content, json_words(r.tags), json_words(r.metadata - 'harmful_reasons')),
                         names.whole, names.parts)
        ORDER BY r.created_at DESC, r.id;
    RETURN QUERY
        SELECT 'mention', 'episode', e.id, left(e.content, shown), e.created_at
        FROM episodes e
        WHERE e.tenant_id = p_tenant AND (p_forgotten OR episode_is_alive(e.expires_at, plausible_now(p_at)))
          AND text_names(concat_ws(' ', e.content, json_words(e.metadata)), names.whole, names.parts)
        ORDER BY e.created_at DESC, e.id;
END $$;
REVOKE EXECUTE ON FUNCTION entity_traces FROM PUBLIC;
GRANT EXECUTE ON FUNCTION entity_traces TO butler_app;
COMMENT ON FUNCTION entity_traces IS
    'The memories about an entity, relations to it and those that name it (role about, edge, mention), newest first; '
    'with p_forgotten also those that are forgotten.';
