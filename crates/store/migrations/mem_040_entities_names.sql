-- mem_040: which entity a name means, found by indexes, and where a merged entity lives on.
--
-- Why a function. As butler_app row-level security holds back every operator that is not leakproof (@>, %>, ~>=~) until
-- the policy has passed a row, so no index could find a name. entity_candidates therefore runs as the owner (SECURITY
-- DEFINER) and keeps both walls itself: it filters by the tenant it is given and refuses one that is not the connection's.
--
-- Why keys of our own beside pg_trgm. Its index knows neither tenants (the Annas of all tenants would be read for one)
-- nor parts shorter than three characters (many Chinese names are two), and may not be installed. entities_name_keys holds
-- the characters, pairs, triples and whole names of an entity, hashed together with its tenant: any part of a name is found
-- by it. What a hash finds is compared with the names themselves, by strpos, which knows no wildcards.

-- The only place that knows what a tombstone is. Plain expressions are inlined, so a partial index sees through them.
CREATE FUNCTION entity_is_live(metadata jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT (metadata ->> 'merged_into') IS NULL $$;

-- All names of an entity as one text, a name a line (no name contains a line break), the canonical one first. Lower case is
-- made by the database on both sides of every comparison, since it and the program may disagree about it.
--
-- This and the next function call nothing of ours: what maintains columns and indexes (ANALYZE, REINDEX, a restore) looks
-- up functions in pg_catalog alone.
CREATE FUNCTION entity_names(canonical_name text, aliases text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$ BEGIN RETURN lower(concat_ws(E'\n', canonical_name, array_to_string(aliases, E'\n'))); END $$;

-- Keys of lower-case names: their parts of shortest to longest (1 to 3) characters, and each as a whole.
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

ALTER TABLE entities ADD COLUMN lower_names text NOT NULL GENERATED ALWAYS AS (entity_names(canonical_name, aliases)) STORED;

-- pattern_ops: a range of this index is a prefix, whatever the database's collation.
CREATE INDEX entities_lower_name ON entities (tenant_id, lower(canonical_name) text_pattern_ops) WHERE entity_is_live(metadata);
-- Entities are read far more often than written: what writers leave to be filed later, and every reader must look
-- through, stays small.
CREATE INDEX entities_name_keys ON entities USING gin (entity_name_keys(tenant_id, lower_names, 1, 3, true))
    WITH (gin_pending_list_limit = 128) WHERE entity_is_live(metadata);

-- Similar names need pg_trgm. A function, so that it can be called again where the extension is installed later.
CREATE FUNCTION create_entity_trigrams() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regprocedure('word_similarity(text, text)') IS NOT NULL THEN
        CREATE INDEX IF NOT EXISTS entities_name_trigrams ON entities USING gin (lower_names gin_trgm_ops)
            WITH (gin_pending_list_limit = 128) WHERE entity_is_live(metadata);
    END IF;
END $$;
SELECT create_entity_trigrams();

-- The entity a merged one lives on in, at the end of however many merges; of a live one itself. Each step sees what was
-- committed meanwhile (volatile): who waited for a merge asks for its outcome.
CREATE FUNCTION entity_survivor(p_tenant text, p_id uuid) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    here uuid := p_id;
    next text;
    seen uuid[] := '{}';
BEGIN
    LOOP
        SELECT e.metadata ->> 'merged_into' INTO next FROM entities e WHERE e.tenant_id = p_tenant AND e.id = here;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        -- a merge leaves neither circles nor anything but ids; a hand in the database might
        IF next IS NULL OR next !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' OR next::uuid = ANY (seen) THEN
            RETURN here;
        END IF;
        seen := seen || here;
        here := next::uuid;
    END LOOP;
END $$;

-- The candidates for a name, each once at its best tier: 1 the canonical name, 2 an alias, 3 part of either, 4 similar to
-- either. At most p_limit: first those the caller knows about (p_known, which must match like all others), then by tier and
-- name. p_facts of their facts come along for the neighbourhood; 0 for none.
CREATE FUNCTION entity_candidates(
    p_tenant text, p_name text, p_type text, p_fuzzy boolean, p_threshold real, p_known uuid[], p_limit integer,
    p_facts integer, p_fact_chars integer)
    RETURNS TABLE (id uuid, canonical_name text, entity_type text, aliases text[], tier integer, facts text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20 AS $$
#variable_conflict use_column
DECLARE
    -- as many matches of a part are read as take a few milliseconds: a part that has more is hardly a name
    read_at_most constant integer := 1000;
    -- who misspelled a name looks for one of the nearest; further ones only cost
    nearest constant integer := 20;
    wanted constant text := lower(p_name);
    -- nothing that begins with the name sorts behind the name followed by the last character there is
    prefix_end constant text := wanted || chr(1114111);
    whole_key constant bigint[] := entity_name_keys(p_tenant, wanted, 4, 0, true);
    part_keys constant bigint[] := entity_name_keys(p_tenant, wanted, least(3, length(wanted)), least(3, length(wanted)), false);
    found uuid[];
    similar_ids uuid[];
BEGIN
    -- the wall of row-level security, which this function stands behind
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'names of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- Keys and ids belong to one tenant; disguised as an expression it does not tempt the planner to read all of the
    -- tenant's rows. Ids are looked up by themselves (OFFSET 0) for the same reason.
    SELECT array_agg(m.id) INTO found FROM (
        (SELECT e.id FROM entities e
         WHERE e.tenant_id = p_tenant AND lower(e.canonical_name) = wanted AND entity_is_live(e.metadata)
           AND (p_type IS NULL OR e.entity_type = p_type) LIMIT p_limit)
        UNION
        (SELECT e.id FROM entities e
         WHERE entity_name_keys(e.tenant_id, e.lower_names, 1, 3, true) @> whole_key AND entity_is_live(e.metadata)
           AND e.tenant_id || '' = p_tenant AND strpos(e.lower_names, wanted) > 0
           AND (p_type IS NULL OR e.entity_type = p_type) LIMIT p_limit)
        UNION
        (SELECT e.id FROM entities e
         WHERE e.tenant_id = p_tenant AND entity_is_live(e.metadata)
           AND lower(e.canonical_name) ~>=~ wanted AND lower(e.canonical_name) ~<~ prefix_end
           AND (p_type IS NULL OR e.entity_type = p_type)
         ORDER BY lower(e.canonical_name) USING ~<~ LIMIT p_limit)
        UNION
        (SELECT s.id FROM (
             SELECT e.id, e.canonical_name FROM entities e
             WHERE entity_name_keys(e.tenant_id, e.lower_names, 1, 3, true) @> part_keys AND entity_is_live(e.metadata)
               AND e.tenant_id || '' = p_tenant AND strpos(e.lower_names, wanted) > 0
               AND (p_type IS NULL OR e.entity_type = p_type) LIMIT read_at_most) s
         ORDER BY s.canonical_name COLLATE "C", s.id LIMIT p_limit)
        UNION
        (SELECT e.id FROM (SELECT * FROM entities WHERE id = ANY (p_known) OFFSET 0) e
         WHERE e.tenant_id = p_tenant AND entity_is_live(e.metadata)
           AND strpos(e.lower_names, wanted) > 0 AND (p_type IS NULL OR e.entity_type = p_type))) m;
    -- without pg_trgm there is no such tier
    IF p_fuzzy AND to_regprocedure('word_similarity(text, text)') IS NOT NULL THEN
        similar_ids := similar_entities(p_tenant, wanted, p_type, p_threshold, p_known, coalesce(found, '{}'), least(p_limit, nearest));
    END IF;
    RETURN QUERY
        SELECT c.id, c.canonical_name, c.entity_type, c.aliases, c.tier,
               CASE WHEN p_facts > 0 THEN ARRAY(
                   SELECT f.predicate || ' ' || left(f.content, p_fact_chars) FROM facts f
                   WHERE f.entity_id = c.id AND f.tenant_id || '' = p_tenant AND f.validity = 'active'
                   ORDER BY f.created_at DESC, f.id LIMIT p_facts) END
        FROM (SELECT e.id, e.canonical_name::text AS canonical_name, e.entity_type::text AS entity_type, e.aliases,
                     CASE WHEN lower(e.canonical_name) = wanted THEN 1
                          WHEN wanted = ANY (string_to_array(e.lower_names, E'\n')) THEN 2
                          WHEN e.id = ANY (found) THEN 3
                          ELSE 4 END AS tier
              FROM entities e WHERE e.id = ANY (found || similar_ids) OFFSET 0) c
        ORDER BY c.id = ANY (p_known) DESC, c.tier, c.canonical_name COLLATE "C", c.id LIMIT p_limit;
END $$;

-- The entities, but for those found already, with a name similar to the wanted one. The trigram index knows no tenants: reading a tenant with few
-- entities by itself is cheaper. A text is at least as similar to the wanted one in words as the best of its lines is as a
-- whole; so the index finds by words, and then each name is compared. What is very similar is looked for first, by itself:
-- it must not be missed when more is slightly similar (everybody of the same first name) than can be read.
CREATE FUNCTION similar_entities(
    p_tenant text, p_wanted text, p_type text, p_threshold real, p_known uuid[], p_found uuid[], p_limit integer)
    RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    few constant integer := 500;
    read_at_most constant integer := 300;
    threshold real;
    result uuid[];
BEGIN
    IF (SELECT count(*) FROM (SELECT FROM entities e WHERE e.tenant_id = p_tenant AND entity_is_live(e.metadata) LIMIT few) c) < few THEN
        SELECT array_agg(b.id) INTO result FROM (
            SELECT s.id FROM (
                SELECT e.id, name_similarity(e.lower_names, p_wanted) AS nearness FROM entities e
                WHERE e.tenant_id = p_tenant AND entity_is_live(e.metadata)
                  AND (p_type IS NULL OR e.entity_type = p_type) OFFSET 0) s
            WHERE s.nearness >= p_threshold AND s.id <> ALL (p_found)
            ORDER BY s.id = ANY (p_known) DESC, s.nearness DESC, s.id LIMIT p_limit) b;
        RETURN result;
    END IF;
    FOREACH threshold IN ARRAY ARRAY[greatest(0.6, p_threshold), p_threshold] LOOP
        PERFORM set_config('pg_trgm.word_similarity_threshold', threshold::text, true);
        SELECT array_agg(b.id) INTO result FROM (
            SELECT s.id FROM (
                (SELECT e.id, name_similarity(e.lower_names, p_wanted) AS nearness FROM entities e
                 WHERE e.lower_names %> p_wanted AND entity_is_live(e.metadata)
                   AND e.tenant_id || '' = p_tenant AND (p_type IS NULL OR e.entity_type = p_type) LIMIT read_at_most)
                UNION
                SELECT e.id, name_similarity(e.lower_names, p_wanted)
                FROM (SELECT * FROM entities WHERE id = ANY (p_known || result) OFFSET 0) e
                WHERE e.tenant_id = p_tenant AND entity_is_live(e.metadata) AND (p_type IS NULL OR e.entity_type = p_type)) s
            WHERE s.nearness >= p_threshold AND s.id <> ALL (p_found)
            ORDER BY s.id = ANY (p_known) DESC, s.nearness DESC, s.id LIMIT p_limit) b;
        EXIT WHEN cardinality(result) >= p_limit;
    END LOOP;
    RETURN result;
END $$;

-- How similar the most similar of an entity's names is.
CREATE FUNCTION name_similarity(lower_names text, wanted text) RETURNS real LANGUAGE plpgsql STABLE AS $$
DECLARE
    best real := 0;
    name text;
BEGIN
    FOREACH name IN ARRAY string_to_array(lower_names, E'\n') LOOP
        best := greatest(best, similarity(name, wanted));
    END LOOP;
    RETURN best;
END $$;

-- Each resolves names in the butler's own schema whatever the caller's path says, and takes no generic guess for a reason
-- to read a whole table. Its parts are closed to everybody else.
DO $do$
DECLARE
    part regprocedure;
BEGIN
    FOR part IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace
          AND p.proname IN ('entity_candidates', 'similar_entities', 'name_similarity', 'create_entity_trigrams') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', part);
    END LOOP;
    FOR part IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname = 'entity_candidates' LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', part, current_setting('search_path'));
        EXECUTE format('ALTER FUNCTION %s SET plan_cache_mode = force_generic_plan', part);
        EXECUTE format('ALTER FUNCTION %s SET enable_seqscan = off', part);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO butler_app', part);
    END LOOP;
END $do$;
