-- Who and what the facts are about.
--
-- An entity is found by any part of its names. pg_trgm alone cannot do it: its index knows neither tenants nor parts
-- shorter than three characters (many Chinese names have two), and the extension may be missing. entities_name_keys
-- therefore indexes hashes of each part of a name together with the tenant (entity_name_keys).
--
-- The functions of this file are part of a column or an index. PostgreSQL maintains those without a search_path, so they
-- call nothing outside pg_catalog. To change one, write a migration that rebuilds what depends on it.

CREATE FUNCTION entity_is_live(metadata jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT coalesce(metadata ->> 'merged_into', metadata ->> 'forgotten_at') IS NULL $$;
COMMENT ON FUNCTION entity_is_live IS
    'Whether an entity exists in its own right; a merged or forgotten entity remains as a tombstone.';

-- No name contains a line break. The database converts both sides of a comparison to lower case, since the program and
-- the database may disagree about it.
CREATE FUNCTION entity_names(canonical_name text, aliases text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$ BEGIN RETURN lower(concat_ws(E'\n', canonical_name, array_to_string(aliases, E'\n'))); END $$;
COMMENT ON FUNCTION entity_names IS 'All names of an entity in lower case, one a line, the canonical name first.';

CREATE FUNCTION entity_name_keys(tenant text, names text, shortest integer, longest integer, wholes boolean)
    RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    prefix constant text := tenant || E'\x1f';
    keys bigint[] := '{}';
    name text;
    this text;
    before text;
    earlier text;
BEGIN
    FOREACH name IN ARRAY string_to_array(names, E'\n') LOOP
        IF wholes THEN
            keys := keys || hashtextextended(prefix || E'\x1e' || name, 40);
        END IF;
        before := NULL;
        earlier := NULL;
        FOREACH this IN ARRAY string_to_array(name, NULL) LOOP
            IF shortest = 1 THEN
                keys := keys || hashtextextended(prefix || this, 40);
            END IF;
            IF shortest <= 2 AND longest >= 2 AND before IS NOT NULL THEN
                keys := keys || hashtextextended(prefix || before || this, 40);
            END IF;
            IF longest = 3 AND earlier IS NOT NULL THEN
                keys := keys || hashtextextended(prefix || earlier || before || this, 40);
            END IF;
            earlier := before;
            before := this;
        END LOOP;
    END LOOP;
    RETURN keys;
END $$;
COMMENT ON FUNCTION entity_name_keys IS
    'Hashes of the parts of each lower-case name, shortest to longest (1 to 3) characters, and with wholes of each whole name.';

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

-- Folds each name as folded_name does, which it may not call: see above.
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

CREATE TABLE entities (
    id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id      text NOT NULL DEFAULT 'default',
    canonical_name varchar NOT NULL,
    entity_type    varchar NOT NULL,
    aliases        text[] NOT NULL DEFAULT '{}',
    metadata       jsonb NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    lower_names    text NOT NULL GENERATED ALWAYS AS (entity_names(canonical_name, aliases)) STORED,
    CONSTRAINT entities_unique_name UNIQUE (tenant_id, canonical_name, entity_type),
    -- the target of facts' tenant-bound reference
    CONSTRAINT entities_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT entities_type_known CHECK (entity_type IN ('person', 'organization', 'place', 'other')),
    CONSTRAINT entities_metadata_object CHECK (jsonb_typeof(metadata) = 'object'),
    CONSTRAINT entities_times_plausible CHECK (time_is_plausible(created_at) AND time_is_plausible(updated_at))
);
COMMENT ON TABLE entities IS 'People, organizations, places and other things that facts are about.';
COMMENT ON COLUMN entities.canonical_name IS 'Composed Unicode (NFC).';
COMMENT ON COLUMN entities.metadata IS
    'The caller''s; merged_into names the survivor of a merge, forgotten_at is set by forget_entity, owner = true marks the '
    'person whose agents these are.';
COMMENT ON COLUMN entities.lower_names IS 'Canonical name and aliases in lower case, one a line, for name search.';

CREATE INDEX entities_tenant_name ON entities (tenant_id, canonical_name);
CREATE INDEX entities_aliases ON entities USING gin (aliases);
CREATE INDEX entities_metadata ON entities USING gin (metadata);
-- text_pattern_ops: a prefix is a range of this index, whatever the database's collation
CREATE INDEX entities_lower_name ON entities (tenant_id, lower(canonical_name) text_pattern_ops) WHERE entity_is_live(metadata);
-- Entities are read far more often than written. A small pending list keeps each read cheap.
CREATE INDEX entities_name_keys ON entities USING gin (entity_name_keys(tenant_id, lower_names, 1, 3, true))
    WITH (gin_pending_list_limit = 128) WHERE entity_is_live(metadata);
CREATE INDEX entities_link_keys ON entities USING gin (entity_link_keys(tenant_id, lower_names))
    WITH (gin_pending_list_limit = 128) WHERE entity_is_live(metadata);
-- a handful: the people that the agents belong to
CREATE INDEX entities_owner ON entities (tenant_id) WHERE metadata -> 'owner' = 'true';
-- The index for similar names needs pg_trgm: functions/create_entity_trigrams.sql creates it at start.

CREATE TABLE merges (
    id            uuid PRIMARY KEY,
    tenant_id     text NOT NULL DEFAULT 'default',
    source_id     uuid NOT NULL,
    target_id     uuid NOT NULL,
    facts         uuid[] NOT NULL,
    edges         uuid[] NOT NULL,
    superseded    jsonb NOT NULL,
    aliases       text[] NOT NULL,
    metadata_keys text[] NOT NULL,
    merged_at     timestamptz NOT NULL,
    undone_at     timestamptz,
    CONSTRAINT merges_source_same_tenant FOREIGN KEY (tenant_id, source_id) REFERENCES entities (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT merges_target_same_tenant FOREIGN KEY (tenant_id, target_id) REFERENCES entities (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT merges_superseded_list CHECK (jsonb_typeof(superseded) = 'array'),
    CONSTRAINT merges_times_plausible CHECK (time_is_plausible(merged_at) AND time_is_plausible(undone_at))
);
COMMENT ON TABLE merges IS 'What each merge of two entities changed, so that it can be undone (unmerge_facts).';
COMMENT ON COLUMN merges.facts IS 'The facts about the source that were moved.';
COMMENT ON COLUMN merges.edges IS 'The relations to the source that were moved.';
COMMENT ON COLUMN merges.superseded IS 'Of facts that met on one key: winner, loser, and what the winner superseded before.';
COMMENT ON COLUMN merges.aliases IS 'The names that the target got.';
COMMENT ON COLUMN merges.metadata_keys IS 'The keys that the target''s metadata got.';
CREATE UNIQUE INDEX merges_source ON merges (tenant_id, source_id) WHERE undone_at IS NULL;
CREATE INDEX merges_target ON merges (tenant_id, target_id);
