-- The key of a fact: its holder and predicate in normal form, and a slot for predicates of several values (DECISIONS 63).
-- Facts are linked to the entity that their subject names, if exactly one does. Facts that then meet on one key are
-- superseded, with an event each.

CREATE FUNCTION folded_name(name text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF octet_length(name) = length(name) OR getdatabaseencoding() <> 'UTF8' THEN
        RETURN lower(btrim(name));
    END IF;
    RETURN replace(replace(replace(replace(
        regexp_replace(normalize(translate(lower(btrim(name)), 'øłđðħıŧ', 'olddhit'), NFD), '[\u0300-\u036f]', '', 'g'),
        'æ', 'ae'), 'œ', 'oe'), 'ß', 'ss'), 'þ', 'th');
END $$;
COMMENT ON FUNCTION folded_name IS 'A name without case, accents and surrounding space: " Grønning" becomes gronning.';

-- Folds each name as folded_name does. Part of an index, so it may call nothing outside pg_catalog.
CREATE FUNCTION entity_link_keys(tenant text, names text) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    plain text := names;
BEGIN
    IF octet_length(names) <> length(names) AND getdatabaseencoding() = 'UTF8' THEN
        plain := replace(replace(replace(replace(
            regexp_replace(normalize(translate(names, 'øłđðħıŧ', 'olddhit'), NFD), '[\u0300-\u036f]', '', 'g'),
            'æ', 'ae'), 'œ', 'oe'), 'ß', 'ss'), 'þ', 'th');
    END IF;
    RETURN ARRAY(SELECT DISTINCT hashtextextended(tenant || E'\x1f' || btrim(name), 41)
                 FROM unnest(string_to_array(plain, E'\n')) AS n (name));
END $$;
COMMENT ON FUNCTION entity_link_keys IS 'Hashes of the names of an entity without accents, to find the entity that a subject names.';

CREATE INDEX entities_link_keys ON entities USING gin (entity_link_keys(tenant_id, lower_names))
    WITH (gin_pending_list_limit = 128) WHERE entity_is_live(metadata);
-- a handful: the people that the agents belong to
CREATE INDEX entities_owner ON entities (tenant_id) WHERE metadata -> 'owner' = 'true';
COMMENT ON COLUMN entities.metadata IS
    'The caller''s; merged_into names the survivor of a merge, owner = true the person whose agents these are.';

-- At most one fact is active per tenant, scope, holder, predicate_key and slot (the index facts_one_active_per_key).
CREATE FUNCTION fact_holder(entity_id uuid, subject text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF entity_id IS NOT NULL THEN
        RETURN entity_id::text;
    END IF;
    -- The colon keeps a subject that looks like an id apart from the entity of that id.
    IF octet_length(subject) = length(subject) OR getdatabaseencoding() <> 'UTF8' THEN
        RETURN ':' || lower(btrim(subject));
    END IF;
    RETURN ':' || lower(normalize(btrim(subject), NFC));
END $$;
COMMENT ON FUNCTION fact_holder IS
    'What a fact is about: its entity or, without one, its subject in normal form, which ignores case and Unicode composition.';

CREATE FUNCTION predicate_key(predicate text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    composed text := predicate;
BEGIN
    IF octet_length(predicate) <> length(predicate) AND getdatabaseencoding() = 'UTF8' THEN
        composed := normalize(predicate, NFC);
    END IF;
    RETURN lower(regexp_replace(btrim(composed), '[[:space:]_-]+', '_', 'g'));
END $$;
COMMENT ON FUNCTION predicate_key IS
    'A predicate in normal form: case, Unicode composition, and whether words are joined by space, underscore or hyphen do not count.';

CREATE TABLE predicates (
    tenant_id     text NOT NULL DEFAULT 'default',
    name          text NOT NULL,
    predicate_key text NOT NULL GENERATED ALWAYS AS (predicate_key(name)) STORED,
    cardinality   text NOT NULL,
    inverse       text,
    is_symmetric  boolean NOT NULL,
    is_temporal   boolean NOT NULL,
    object_type   text,
    description   text NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, predicate_key),
    CONSTRAINT predicates_cardinality_known CHECK (cardinality IN ('one', 'many')),
    CONSTRAINT predicates_object_type_known CHECK (object_type IN ('person', 'organization', 'place', 'other')),
    CONSTRAINT predicates_one_direction CHECK (NOT (is_symmetric AND inverse IS NOT NULL)),
    CONSTRAINT predicates_times_plausible CHECK (time_is_plausible(created_at) AND time_is_plausible(updated_at))
);
COMMENT ON TABLE predicates IS
    'What a tenant registered about its predicates. It wins over the built-in ones (builtin_predicates); a predicate in neither has one value.';
COMMENT ON COLUMN predicates.predicate_key IS 'The name in normal form (predicate_key).';
COMMENT ON COLUMN predicates.cardinality IS 'one: a new value supersedes the old one. many: values coexist.';
COMMENT ON COLUMN predicates.inverse IS 'The same relation seen from the object: has_child for child_of.';
COMMENT ON COLUMN predicates.is_symmetric IS 'Whether the relation holds in both directions: married_to.';
COMMENT ON COLUMN predicates.is_temporal IS 'Whether each value belongs to a moment: weight, dose.';
COMMENT ON COLUMN predicates.object_type IS 'The type of entity that the object is.';
GRANT SELECT, INSERT, UPDATE, DELETE ON predicates TO butler_app;
ALTER TABLE predicates ENABLE ROW LEVEL SECURITY;
ALTER TABLE predicates FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON predicates TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON predicates TO CURRENT_USER USING (true) WITH CHECK (true);

DROP INDEX facts_one_active_per_entity_key, facts_one_active_per_subject_key;

CREATE TEMPORARY TABLE names ON COMMIT DROP AS
    SELECT DISTINCT e.tenant_id, e.id, folded_name(n) AS folded
    FROM entities e, unnest(string_to_array(e.lower_names, E'\n')) AS n WHERE entity_is_live(e.metadata);
CREATE TEMPORARY TABLE unlinked ON COMMIT DROP AS
    SELECT f.tenant_id, f.id, folded_name(f.subject) AS folded FROM facts f WHERE f.entity_id IS NULL AND f.validity = 'active';
ANALYZE names;
ANALYZE unlinked;
CREATE TEMPORARY TABLE linked (fact_id uuid PRIMARY KEY, entity_id uuid NOT NULL) ON COMMIT DROP;
INSERT INTO linked
    SELECT u.id, min(n.id::text)::uuid FROM unlinked u JOIN names n ON n.tenant_id = u.tenant_id AND n.folded = u.folded
    GROUP BY u.id HAVING count(*) = 1;
UPDATE facts f SET entity_id = l.entity_id FROM linked l WHERE f.id = l.fact_id;
INSERT INTO memory_events (event_type, actor, tenant_id, memory_type, memory_id, payload)
    SELECT 'fact_repointed', 'mem_205', f.tenant_id, 'fact', f.id,
           jsonb_build_object('before', jsonb_build_object('entity_id', NULL), 'after', jsonb_build_object('entity_id', l.entity_id))
    FROM linked l JOIN facts f ON f.id = l.fact_id;

-- As content_key and the built-in predicates of several values were when this was written.
CREATE FUNCTION pg_temp.slot_of(predicate text, content text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    composed text := content;
BEGIN
    IF predicate_key(predicate) <> ALL ('{
        likes,dislikes,loves,hates,enjoys,avoids,fears,interested_in,hobby,fan_of,allergic_to,intolerant_to,
        takes_medication,has_condition,vaccinated_against,knows,friend_of,has_friend,sibling_of,has_sister,
        has_brother,has_child,child_of,parent_of,has_parent,grandparent_of,grandchild_of,has_pet,neighbor_of,
        colleague_of,works_with,related_to,met,manages,has_report,employs,member_of,has_member,works_on,
        worked_on_by,founded,founded_by,speaks,has_skill,studied,attended,uses,used_by,owns,owned_by,part_of,
        has_part,depends_on,required_by,visited,visited_by,lived_in,subscribed_to,has_goal,plans_to}'::text[]) THEN
        RETURN '';
    END IF;
    IF octet_length(content) <> length(content) AND getdatabaseencoding() = 'UTF8' THEN
        composed := normalize(content, NFC);
    END IF;
    RETURN md5(lower(btrim(regexp_replace(composed, '[[:space:]]+', ' ', 'g'), ' .!')));
END $$;

-- Of two facts on one key the newer one stays. Where a link brought them together, the more confident one does, as in a merge.
CREATE TEMPORARY TABLE ended ON COMMIT DROP AS
    SELECT r.id, r.tenant_id, r.winner
    FROM (SELECT f.id, f.tenant_id, row_number() OVER key AS place, first_value(f.id) OVER key AS winner
          FROM (SELECT x.*, fact_holder(x.entity_id, x.subject) AS held_by, predicate_key(x.predicate) AS named,
                       pg_temp.slot_of(x.predicate, x.content) AS slotted,
                       l.fact_id IS NOT NULL AS is_new,
                       count(l.fact_id) OVER met BETWEEN 1 AND count(*) OVER met - 1 AS mixed,
                       x.confidence * exp(-x.decay_rate * greatest(0, date_part('epoch', now() - x.last_confirmed_at) / 86400)) AS effective
                FROM facts x LEFT JOIN linked l ON l.fact_id = x.id
                WHERE x.validity = 'active'
                WINDOW met AS (PARTITION BY x.tenant_id, x.scope, fact_holder(x.entity_id, x.subject), predicate_key(x.predicate),
                                              pg_temp.slot_of(x.predicate, x.content))) f
          WINDOW key AS (PARTITION BY f.tenant_id, f.scope, f.held_by, f.named, f.slotted
                         ORDER BY CASE WHEN f.mixed THEN f.effective END DESC NULLS LAST,
                                  f.mixed AND f.is_new, f.created_at DESC, f.id DESC)) r
    WHERE r.place > 1;
UPDATE facts f SET validity = 'superseded' FROM ended e WHERE f.id = e.id;
UPDATE facts f SET supersedes_id = e.id FROM ended e WHERE f.id = e.winner AND f.supersedes_id IS NULL;
INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
    SELECT e.tenant_id, 'fact', e.winner, 'fact', e.id, 'supersedes' FROM ended e ON CONFLICT DO NOTHING;
INSERT INTO memory_events (event_type, actor, tenant_id, memory_type, memory_id, payload)
    SELECT 'fact_superseded', 'mem_205', e.tenant_id, 'fact', e.id,
           jsonb_build_object('before', jsonb_build_object('validity', 'active'), 'after', jsonb_build_object('validity', 'superseded'),
                              'superseded_by', e.winner)
    FROM ended e;

ALTER TABLE facts
    ADD COLUMN holder           text NOT NULL GENERATED ALWAYS AS (fact_holder(entity_id, subject)) STORED,
    ADD COLUMN predicate_key    text NOT NULL GENERATED ALWAYS AS (predicate_key(predicate)) STORED,
    ADD COLUMN slot             text NOT NULL DEFAULT '',
    ADD COLUMN object_entity_id uuid,
    ADD CONSTRAINT facts_object_same_tenant
        FOREIGN KEY (tenant_id, object_entity_id) REFERENCES entities (tenant_id, id) ON DELETE RESTRICT;
UPDATE facts SET slot = pg_temp.slot_of(predicate, content) WHERE pg_temp.slot_of(predicate, content) <> '';
DROP FUNCTION pg_temp.slot_of;
COMMENT ON COLUMN facts.holder IS 'What the fact is about: the entity or the subject in normal form (fact_holder). Part of the key.';
COMMENT ON COLUMN facts.predicate_key IS 'The predicate in normal form (predicate_key). Part of the key.';
COMMENT ON COLUMN facts.slot IS
    'Part of the key: empty for a predicate of one value; of several values, the object entity or a hash of the content.';
COMMENT ON COLUMN facts.object_entity_id IS 'The other end of a relation: with it, the fact is an edge from entity_id to this entity.';
COMMENT ON COLUMN facts.entity_id IS 'Whom or what the fact is about, if an entity is known.';
CREATE UNIQUE INDEX facts_one_active_per_entity_key ON facts (tenant_id, entity_id, scope, predicate)
    WHERE entity_id IS NOT NULL AND validity = 'active' AND slot = '';
CREATE UNIQUE INDEX facts_one_active_per_subject_key ON facts (tenant_id, scope, subject, predicate)
    WHERE entity_id IS NULL AND validity = 'active' AND slot = '';
CREATE UNIQUE INDEX facts_one_active_per_key ON facts (tenant_id, holder, predicate_key, scope, slot) WHERE validity = 'active';
CREATE INDEX facts_object ON facts (object_entity_id) WHERE object_entity_id IS NOT NULL;
-- the facts that a new name links
CREATE INDEX facts_unlinked ON facts (tenant_id, folded_name(subject)) WHERE entity_id IS NULL AND validity = 'active';
