-- One page of facts for people, in milliseconds at 100k facts.
--
-- Why a function: as butler_app, row-level security holds back `@@` and other operators that are not leakproof until the
-- policy has passed a row, so no index could serve them. This function runs as the owner, filters by the tenant it is given,
-- and refuses a tenant that is not the connection's.
--
-- Why EXECUTE: which index serves a page depends on which filters are set; one statement for all combinations would be
-- planned for none of them. The pieces are constants of this function, and every value is a parameter.
--
-- Effective confidence changes every moment, so no index can hold it. A page in its order merges a handful of index scans
-- by decay_rank, one per decay rate.
--
-- p_filter: store::browse::FactFilter; its state is a validity, `fading` or `all`. (p_after_at, p_after_id): the last fact of
-- the page before, in the order `newest`.
CREATE OR REPLACE FUNCTION browse_facts(
    p_tenant text, p_at timestamptz, p_filter jsonb, p_after_at timestamptz, p_after_id uuid, p_limit integer,
    p_offset integer, OUT ids uuid[], OUT total bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT SET client_min_messages = warning SET enable_sort = on
AS $$
DECLARE
    -- The parameters of both statements: $1 tenant, $2 at, $3 state, $4 scopes, $5 subject, $6 words as a query, $7 words as
    -- typed, $8 least confidence, $9 permanence, $10 entity, $11 and $12 the last fact of the page before, $13 limit,
    -- $14 offset, $15 decay rates, $16 ids of the facts with the rare words, $17 the words to ask the word index for, $18 tag,
    -- $19 only these ids, $20 and $21 the period in which it held, $22 when that was believed, $23 and $24 the period in which
    -- it was said.
    filter record;
    time_filter constant jsonb := p_filter -> 'asked';
    as_of timestamptz;
    held_first timestamptz;
    held_last timestamptz;
    since timestamptz;
    until timestamptz;
    words tsquery;
    by_confidence boolean;
    -- Fewer matches than this are collected and sorted. With more, a scan in the requested order soon finds the first page.
    few constant integer := 1000;
    -- Because of rounding, a rank this near to a bound may lie on either side of it.
    near_bound constant text := ',
        LATERAL (SELECT ln($8) + decay_elapsed(r.rate, $2) AS bound) b,
        LATERAL (SELECT 1e-9 * (1 + abs(b.bound)) AS slack) s';
    rank constant text := 'decay_rank(confidence, decay_rate, last_confirmed_at)';
    effective constant text := 'effective_confidence(confidence, decay_rate, last_confirmed_at, $2)';
    -- IS TRUE keeps the planner from using the word index, which covers all tenants.
    has_words constant text := ' AND (search_vector @@ $6) IS TRUE';
    rates double precision[];
    rare_ids uuid[];
    indexed tsquery;
    by_words text := '';
    condition text := 'tenant_id = $1';
    above text := '';
    ordered text;
    source text;
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('butler.tenant', true) THEN
        RAISE EXCEPTION 'facts of another tenant than the connection''s' USING ERRCODE = 'insufficient_privilege';
    END IF;

    SELECT * INTO filter FROM jsonb_to_record(p_filter) AS given (
        state text, scopes text[], subject text, words text, min_confidence double precision, permanence text, entity uuid,
        tag text, ids uuid[], sort text);
    as_of := time_filter ->> 'as_of';
    held_first := coalesce((time_filter ->> 'first')::timestamptz, as_of);
    held_last := coalesce((time_filter ->> 'last')::timestamptz, as_of);
    since := time_filter ->> 'since';
    until := time_filter ->> 'until';
    words := browse_query(p_tenant, filter.words);
    by_confidence := filter.sort IN ('most_confident', 'least_confident');

    -- What to look for.
    IF filter.state = 'active' AND filter.words IS NULL AND filter.subject IS NULL AND filter.entity IS NULL
            AND filter.ids IS NULL AND (filter.min_confidence > 0 OR by_confidence) THEN
        rates := decay_rates(p_tenant);
    END IF;
    condition := condition || CASE filter.state
        WHEN 'all' THEN ''
        WHEN 'fading' THEN ' AND validity = ''active'' AND memory_is_fading(metadata)'
        WHEN 'active' THEN ' AND validity = ''active'''
        ELSE ' AND validity = $3' END;
    IF filter.scopes IS NOT NULL THEN
        condition := condition || ' AND scope = ANY ($4)';
    END IF;
    IF filter.subject IS NOT NULL THEN
        condition := condition || ' AND subject = $5';
    END IF;
    IF words IS NOT NULL THEN
        by_words := has_words;
        IF NOT tenant_is_small(p_tenant) THEN
            IF filter.state IN ('active', 'all') AND filter.subject IS NULL AND filter.entity IS NULL THEN
                SELECT w.ids, w.indexed INTO rare_ids, indexed FROM facts_with_words(p_tenant, words) w;
            END IF;
            by_words := CASE WHEN rare_ids IS NOT NULL THEN ' AND id = ANY ($16)' || has_words
                WHEN indexed <> words THEN ' AND search_vector @@ $17' || has_words
                ELSE ' AND search_vector @@ $6' END;
        END IF;
    ELSIF filter.words IS NOT NULL THEN
        -- Only punctuation and words too common to be indexed.
        condition := condition || ' AND strpos(lower(concat_ws('' '', subject, predicate, content)), lower($7)) > 0';
    END IF;
    IF filter.permanence IS NOT NULL THEN
        condition := condition || ' AND permanence = $9';
    END IF;
    IF filter.entity IS NOT NULL THEN
        condition := condition || ' AND entity_id = $10';
    END IF;
    IF filter.tag IS NOT NULL THEN
        condition := condition || ' AND jsonb_exists(tags, $18)';
    END IF;
    IF filter.ids IS NOT NULL THEN
        condition := condition || ' AND id = ANY ($19)';
    END IF;
    IF held_first IS NOT NULL THEN
        condition := condition || ' AND fact_held(id, holds_from, holds_to, created_at, placed_at, ended_at, $20, $21, $22)';
    END IF;
    IF since IS NOT NULL THEN
        condition := condition || ' AND coalesce(observed_at, created_at) >= $23';
    END IF;
    IF until IS NOT NULL THEN
        condition := condition || ' AND coalesce(observed_at, created_at) < $24';
    END IF;
    IF filter.min_confidence > 0 THEN
        above := ' AND ' || effective || ' >= $8';
    END IF;

    -- How many there are.
    IF filter.min_confidence > 0 AND rates IS NOT NULL THEN
        -- Well above the bound the rank decides; near it, the confidence itself. A fact confirmed after p_at has not
        -- decayed, whatever its rank.
        source := 'SELECT coalesce(sum(c.n), 0) FROM unnest($15) AS r (rate)' || near_bound || ', LATERAL (
            SELECT count(*) AS n FROM facts WHERE ' || condition || ' AND decay_rate = r.rate
                AND confidence >= $8 AND ' || rank || ' >= b.bound + s.slack
            UNION ALL
            SELECT count(*) FROM facts WHERE ' || condition || above || ' AND decay_rate = r.rate
                AND ' || rank || ' >= b.bound - s.slack AND ' || rank || ' < b.bound + s.slack) c';
    ELSE
        source := 'SELECT count(*) FROM facts WHERE ' || condition || by_words || above;
    END IF;
    EXECUTE source INTO total
        USING p_tenant, p_at, filter.state, filter.scopes, filter.subject, words, filter.words, filter.min_confidence,
              filter.permanence, filter.entity, p_after_at, p_after_id, p_limit, p_offset, rates, rare_ids, indexed,
              filter.tag, filter.ids, held_first, held_last, as_of, since, until;

    -- The page.
    condition := condition || above;
    IF p_after_at IS NOT NULL THEN
        condition := condition || ' AND created_at <= $11 AND (created_at < $11 OR id > $12)';
    END IF;
    ordered := ' ORDER BY ' || CASE filter.sort
        WHEN 'oldest' THEN 'created_at, id DESC'
        WHEN 'most_confident' THEN effective || ' DESC, created_at DESC, id'
        WHEN 'least_confident' THEN effective || ', created_at, id DESC'
        WHEN 'importance' THEN 'importance DESC, created_at DESC, id'
        WHEN 'subject' THEN 'subject, predicate, id'
        WHEN 'best' THEN 'array_position($19, id), created_at DESC, id'
        ELSE 'created_at DESC, id' END;
    source := 'facts WHERE ' || condition;
    IF indexed IS NULL THEN
        source := source || by_words;
    ELSIF by_confidence OR (filter.sort = 'importance' AND filter.state = 'all')
            OR (filter.sort = 'oldest' AND filter.min_confidence > 0) OR p_offset > total / 20 - p_limit THEN
        -- Collect all matches: no index has this order, or a scan in it would find them too late.
        source := '(SELECT * FROM ' || source || by_words || ' OFFSET 0) c';
    ELSE
        -- Scan in the order of an index and test the words, whatever the planner estimates.
        PERFORM set_config('enable_sort', 'off', true);
        source := source || has_words;
    END IF;
    IF rates IS NOT NULL AND by_confidence THEN
        source := 'unnest($15) AS r (rate)' || CASE WHEN filter.min_confidence > 0 THEN near_bound ELSE '' END || ', LATERAL (
            SELECT id, created_at, confidence, decay_rate, last_confirmed_at FROM facts
            WHERE ' || condition || ' AND decay_rate = r.rate'
                || CASE WHEN filter.min_confidence > 0 THEN ' AND ' || rank || ' >= b.bound - s.slack' ELSE '' END || '
            ORDER BY ' || rank
                || CASE filter.sort WHEN 'most_confident' THEN ' DESC, created_at DESC, id' ELSE ', created_at, id DESC' END || '
            LIMIT $13 + $14) c';
    ELSIF rates IS NOT NULL AND total < few THEN
        source := 'unnest($15) AS r (rate)' || near_bound || ', LATERAL (
            SELECT id, created_at, importance, subject, predicate FROM facts
            WHERE ' || condition || ' AND decay_rate = r.rate AND ' || rank || ' >= b.bound - s.slack) c';
    END IF;
    EXECUTE 'SELECT ARRAY(SELECT id FROM ' || source || ordered || ' LIMIT $13 OFFSET $14)' INTO ids
        USING p_tenant, p_at, filter.state, filter.scopes, filter.subject, words, filter.words, filter.min_confidence,
              filter.permanence, filter.entity, p_after_at, p_after_id, p_limit, p_offset, rates, rare_ids, indexed,
              filter.tag, filter.ids, held_first, held_last, as_of, since, until;
END $$;
REVOKE EXECUTE ON FUNCTION browse_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION browse_facts TO butler_app;
COMMENT ON FUNCTION browse_facts IS 'ids: one page of facts in the wanted order. total: how many facts match.';
