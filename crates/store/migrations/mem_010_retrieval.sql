-- mem_010: retrieval inside the database: one call is one statement, whatever it searches.
--
-- Why functions. Row-level security holds back every operator that is not leakproof until the policy has passed a row,
-- and `@@` and `<=>` are not: as butler_app the planner may use neither the GIN nor the vector index. memory_retrieve
-- (mem_011) therefore runs as the owner (SECURITY DEFINER) and keeps both walls itself: it filters by the tenant it is
-- given and refuses one that is not the connection's own. All other functions are its parts, and nobody else's to call.
--
-- Why plpgsql. Its statements are planned once per connection; planning this much on every call would cost more than
-- running it. The plans are generic, so that a call's cost does not depend on what the planner guesses: which path is
-- taken (exact or approximate, scan or index) is decided in mem_011, from counts.
--
-- Why two steps a leg. Reading a row's columns behind its vector costs more than comparing the vector. So a leg first
-- takes the best few by the early columns alone, then looks at validity, confidence, age and version of those; only
-- when too few of them pass does it look at every row.

-- The concepts of the readers, each in one place (effective_confidence is mem_020's). SQL functions of this form are inlined: an index sees through them.
CREATE FUNCTION fact_is_active(validity text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT validity = 'active' $$;
CREATE FUNCTION rule_is_remembered(metadata jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT (metadata -> 'forgotten') IS DISTINCT FROM 'true'::jsonb $$;
CREATE FUNCTION episode_is_alive(expires_at timestamptz, at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT expires_at IS NULL OR expires_at > at $$;
CREATE FUNCTION memory_is_fading(metadata jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT metadata ->> 'status' IS NOT DISTINCT FROM 'fading' $$;
-- The terms of a query as the text search configuration sees them, each as the text of a tsquery ('peanut'). The text
-- of a tsquery quotes its lexemes, and no lexeme contains a space, so ' & ' separates and nothing else does.
CREATE FUNCTION query_terms(strict tsquery) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN numnode(strict) > 0 THEN string_to_array(strict::text, ' & ') ELSE '{}' END $$;
-- … and the lexeme in it, without its quotes.
CREATE FUNCTION term_lexeme(term text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT replace(replace(substr(term, 2, length(term) - 2), '''''', ''''), '\\', '\') $$;
CREATE FUNCTION any_of(terms text[]) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN cardinality(terms) > 0 THEN array_to_string(terms, ' | ')::tsquery END $$;
-- Where a match stands: all terms above any term, then by ts_rank. One number, so that the best can be taken by it;
-- ts_rank stays below 1, so the whole part says which it was, and no digit of the rank is lost.
CREATE FUNCTION match_standing(vector tsvector, strict tsquery, broad tsquery) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN vector @@ broad THEN
               CASE WHEN vector @@ strict THEN 2 + ts_rank(vector, strict) ELSE ts_rank(vector, broad) END::double precision END
$$;

-- The same functions for each kind of memory. They differ in which rows an index already knows to be retrievable
-- («indexed»), what must be looked at in the row («kept»), and what a scope means («scope»).
DO $do$
DECLARE
    kind record;
    body text;
    template constant text := $template$

-- The nearest rows by comparing all of the tenant's. OFFSET 0 keeps the approximate index away from the order.
CREATE FUNCTION «name»_near_exact(p_tenant text, p_scope text, p_query vector, p_take integer)
    RETURNS TABLE (id uuid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    IF p_scope IS NULL THEN
        RETURN QUERY SELECT n.id, n.distance FROM (
                SELECT r.id, r.embedding <=> p_query AS distance FROM «name» r
                WHERE r.tenant_id = p_tenant AND «indexed» AND r.embedding IS NOT NULL OFFSET 0) n
            ORDER BY n.distance, n.id LIMIT p_take;
    ELSE
        RETURN QUERY SELECT n.id, n.distance FROM (
                SELECT r.id, r.embedding <=> p_query AS distance FROM «name» r
                WHERE r.tenant_id = p_tenant AND «indexed» AND «scope» AND r.embedding IS NOT NULL OFFSET 0) n
            ORDER BY n.distance, n.id LIMIT p_take;
    END IF;
END $body$;

-- The nearest rows by the approximate index; ivfflat.probes is set by the caller. Without sorting, the index is the
-- only way to the order.
CREATE FUNCTION «name»_near_probed(p_tenant text, p_scope text, p_query vector, p_take integer)
    RETURNS TABLE (id uuid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 SET enable_sort = off AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    RETURN QUERY SELECT r.id, r.embedding <=> p_query FROM «name» r
        WHERE r.tenant_id = p_tenant AND «indexed» AND (p_scope IS NULL OR «scope»)
        ORDER BY r.embedding <=> p_query LIMIT p_take;
END $body$;

-- The nearest rows that pass every test, whatever it costs: for when the two above found too few that do.
CREATE FUNCTION «name»_near_all(p_tenant text, p_scope text, p_at timestamptz, p_min double precision, p_version integer,
                                p_query vector, p_take integer)
    RETURNS TABLE (id uuid, distance double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    RETURN QUERY SELECT n.id, n.distance FROM (
            SELECT r.id, r.embedding <=> p_query AS distance FROM «name» r
            WHERE r.tenant_id = p_tenant AND «indexed» AND (p_scope IS NULL OR «scope») AND r.embedding IS NOT NULL
              AND r.embedding_version_id = p_version AND «kept» OFFSET 0) n
        ORDER BY n.distance, n.id LIMIT p_take;
END $body$;

-- Keyword matches by reading all of the tenant's rows.
CREATE FUNCTION «name»_match_scan(p_tenant text, p_scope text, p_strict tsquery, p_broad tsquery, p_take integer)
    RETURNS TABLE (id uuid, standing double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    IF p_scope IS NULL THEN
        RETURN QUERY SELECT m.id, m.standing FROM (
                SELECT r.id, match_standing(r.search_vector, p_strict, p_broad) AS standing FROM «name» r
                WHERE r.tenant_id = p_tenant AND «indexed» OFFSET 0) m
            WHERE m.standing IS NOT NULL ORDER BY m.standing DESC, m.id LIMIT p_take;
    ELSE
        RETURN QUERY SELECT m.id, m.standing FROM (
                SELECT r.id, match_standing(r.search_vector, p_strict, p_broad) AS standing FROM «name» r
                WHERE r.tenant_id = p_tenant AND «indexed» AND «scope» OFFSET 0) m
            WHERE m.standing IS NOT NULL ORDER BY m.standing DESC, m.id LIMIT p_take;
    END IF;
END $body$;

-- Keyword matches by the GIN index: candidates are what p_candidates finds, ranked by the whole query. The index does
-- not know tenants; where this one is most of the table, its B-tree would only cost.
CREATE FUNCTION «name»_match_index(p_tenant text, p_scope text, p_candidates tsquery, p_strict tsquery, p_broad tsquery,
                                   p_most boolean, p_take integer)
    RETURNS TABLE (id uuid, standing double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    IF p_most THEN
        RETURN QUERY SELECT m.id, m.standing FROM (
                SELECT r.id, match_standing(r.search_vector, p_strict, p_broad) AS standing FROM «name» r
                WHERE r.search_vector @@ p_candidates AND r.tenant_id || '' = p_tenant
                  AND «unindexed» AND (p_scope IS NULL OR «scope») OFFSET 0) m
            WHERE m.standing IS NOT NULL ORDER BY m.standing DESC, m.id LIMIT p_take;
    ELSE
        RETURN QUERY SELECT m.id, m.standing FROM (
                SELECT r.id, match_standing(r.search_vector, p_strict, p_broad) AS standing FROM «name» r
                WHERE r.search_vector @@ p_candidates AND r.tenant_id = p_tenant
                  AND «indexed» AND (p_scope IS NULL OR «scope») OFFSET 0) m
            WHERE m.standing IS NOT NULL ORDER BY m.standing DESC, m.id LIMIT p_take;
    END IF;
END $body$;

-- Keyword matches among the newest rows: for queries whose every term is in so much of the store that ranking all
-- matches would cost more than it tells.
CREATE FUNCTION «name»_match_newest(p_tenant text, p_scope text, p_strict tsquery, p_broad tsquery, p_newest integer, p_take integer)
    RETURNS TABLE (id uuid, standing double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
BEGIN
    RETURN QUERY SELECT m.id, m.standing FROM (
            SELECT n.id, match_standing(n.search_vector, p_strict, p_broad) AS standing FROM (
                SELECT r.id, r.search_vector FROM «name» r
                WHERE r.tenant_id = p_tenant AND «unindexed» AND (p_scope IS NULL OR «scope»)
                ORDER BY r.created_at DESC, r.id LIMIT p_newest) n OFFSET 0) m
        WHERE m.standing IS NOT NULL ORDER BY m.standing DESC, m.id LIMIT p_take;
END $body$;

-- The matches that pass every test, whatever it costs.
CREATE FUNCTION «name»_match_all(p_tenant text, p_scope text, p_at timestamptz, p_min double precision,
                                 p_strict tsquery, p_broad tsquery, p_take integer)
    RETURNS TABLE (id uuid, standing double precision) LANGUAGE plpgsql STABLE ROWS 40 AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    RETURN QUERY SELECT m.id, m.standing FROM (
            SELECT r.id, match_standing(r.search_vector, p_strict, p_broad) AS standing FROM «name» r
            WHERE r.tenant_id = p_tenant AND «indexed» AND (p_scope IS NULL OR «scope») AND «kept» OFFSET 0) m
        WHERE m.standing IS NOT NULL ORDER BY m.standing DESC, m.id LIMIT p_take;
END $body$;

-- The second step of each leg: of the best few those that pass, in order, at most p_limit. Ties: newer first, then id.
CREATE FUNCTION «name»_near_kept(p_at timestamptz, p_min double precision, p_version integer,
                                 p_ids uuid[], p_distances double precision[], p_limit integer)
    RETURNS TABLE (ids uuid[], distances double precision[]) LANGUAGE plpgsql STABLE AS $body$
BEGIN
    RETURN QUERY SELECT array_agg(k.id ORDER BY k.distance, k.created_at DESC, k.id),
                        array_agg(k.distance ORDER BY k.distance, k.created_at DESC, k.id)
        FROM (SELECT r.id, c.distance, r.created_at
              FROM unnest(p_ids, p_distances) AS c (id, distance) JOIN «name» r ON r.id = c.id
              -- the distance to a vector of zeros is not a number
              WHERE c.distance <= 2 AND r.embedding_version_id = p_version AND «kept»
              ORDER BY c.distance, r.created_at DESC, r.id LIMIT p_limit) k;
END $body$;

CREATE FUNCTION «name»_match_kept(p_at timestamptz, p_min double precision, p_ids uuid[], p_standings double precision[], p_limit integer)
    RETURNS TABLE (ids uuid[], standings double precision[]) LANGUAGE plpgsql STABLE AS $body$
BEGIN
    RETURN QUERY SELECT array_agg(k.id ORDER BY k.standing DESC, k.created_at DESC, k.id),
                        array_agg(k.standing ORDER BY k.standing DESC, k.created_at DESC, k.id)
        FROM (SELECT r.id, c.standing, r.created_at
              FROM unnest(p_ids, p_standings) AS c (id, standing) JOIN «name» r ON r.id = c.id
              WHERE «kept»
              ORDER BY c.standing DESC, r.created_at DESC, r.id LIMIT p_limit) k;
END $body$;

-- How many rows there are to search, at most p_most: an index scan that stops there.
CREATE FUNCTION «name»_count(p_tenant text, p_scope text, p_most integer) RETURNS integer LANGUAGE plpgsql STABLE AS $body$
DECLARE
    active constant text := 'active';
BEGIN
    IF p_scope IS NULL THEN
        RETURN (SELECT count(*) FROM (SELECT FROM «name» r WHERE r.tenant_id = p_tenant AND «indexed» LIMIT p_most) c);
    END IF;
    RETURN (SELECT count(*) FROM (SELECT FROM «name» r WHERE r.tenant_id = p_tenant AND «indexed» AND «scope» LIMIT p_most) c);
END $body$;

-- A look at some pages of the table: which share of it is this tenant's, and which terms are in how much of that.
CREATE FUNCTION «name»_sample(p_tenant text, p_scope text, p_percent double precision, p_newest integer,
                              OUT share double precision, OUT terms jsonb) LANGUAGE plpgsql STABLE AS $body$
BEGIN
    SELECT avg((r.tenant_id = p_tenant AND «unindexed» AND (p_scope IS NULL OR «scope»))::integer)
        INTO share FROM «name» r TABLESAMPLE SYSTEM (p_percent) REPEATABLE (0);
    WITH sample AS MATERIALIZED (
        (SELECT r.search_vector FROM «name» r TABLESAMPLE SYSTEM (p_percent) REPEATABLE (0)
         WHERE r.tenant_id = p_tenant AND «unindexed» AND (p_scope IS NULL OR «scope»))
        UNION ALL
        (SELECT r.search_vector FROM «name» r
         WHERE r.tenant_id = p_tenant AND «unindexed» AND (p_scope IS NULL OR «scope»)
         ORDER BY r.created_at DESC LIMIT p_newest)),
    counted AS (
        SELECT t.term, count(*) AS hits FROM sample, LATERAL unnest(tsvector_to_array(search_vector)) AS t (term)
        GROUP BY t.term HAVING count(*) >= 3 ORDER BY count(*) DESC, t.term LIMIT 400)
    SELECT coalesce(jsonb_object_agg(c.term, round(c.hits::numeric / greatest(1, (SELECT count(*) FROM sample)), 4)), '{}')
        INTO terms FROM counted c;
END $body$;
$template$;
BEGIN
    FOR kind IN SELECT * FROM (VALUES
        -- as a variable, or the planner takes the partial index over all tenants' active facts for the tenant's own
        ('facts', 'r.validity = active', 'fact_is_active(r.validity || '''')',
         'fact_is_active(r.validity) AND (p_min <= 0 OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)',
         'r.scope = ANY (ARRAY[''global'', p_scope])'),
        ('rules', 'true', 'true',
         'rule_is_remembered(r.metadata) AND (p_min <= 0 OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)',
         'r.scope = ANY (ARRAY[''global'', p_scope])'),
        ('episodes', 'true', 'true', 'episode_is_alive(r.expires_at, p_at)', 'r.butler = p_scope')
    ) AS kinds (name, indexed, unindexed, kept, scope) LOOP
        body := template;
        body := replace(body, '«name»', kind.name);
        body := replace(body, '«indexed»', kind.indexed);
        body := replace(body, '«unindexed»', kind.unindexed);
        body := replace(body, '«kept»', kind.kept);
        body := replace(body, '«scope»', kind.scope);
        EXECUTE body;
    END LOOP;
END $do$;
