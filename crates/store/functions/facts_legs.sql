-- The candidates of both legs of a search: more than are wanted, by the indexed columns alone (facts_candidates.sql). The
-- caller tests and ranks them: facts_found, and for the conversations of a context related_sessions. rules_legs and
-- episodes_legs are the same function for the other tables; a test keeps the three equal (tests/schema/families.rs), so
-- change facts_legs first. The parameters are those of facts_found.
--
-- near and matched: places in the table, with their distances and keyword scores. near_taken and match_taken: how many
-- candidates each leg found; of the matches, before the best were chosen. vector_path, probes and keyword_path: how they were
-- found. weights: what each term of the query, then each name, adds to a keyword score; good_score: the score of a good
-- match. is_pairs: the query consists of pairs of characters; false in mode `keyword`, which does not treat them differently.
-- take: how many candidates a leg returns at most.
CREATE OR REPLACE FUNCTION facts_legs(
    p_tenant text, p_scope text, p_at timestamptz, p_version uuid, p_query vector, p_strict tsquery, p_broad tsquery,
    p_terms text[], p_factors double precision[], p_limit integer, p_pool jsonb, p_options jsonb,
    OUT near tid[], OUT distances double precision[], OUT near_taken integer, OUT vector_path text, OUT probes integer,
    OUT matched tid[], OUT scores double precision[], OUT match_taken integer, OUT keyword_path text, OUT weights double precision[],
    OUT good_score double precision, OUT is_pairs boolean, OUT take integer)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- A variable, because with the literal the planner would read the index of all tenants' active facts.
    active constant text := 'active';
    by_rank constant boolean := p_options ->> 'mode' = 'keyword';
    any_term constant boolean := (p_options ->> 'any_term')::boolean;
    terms constant tsquery[] := p_terms::tsquery[];
    tenant_rows constant double precision := (p_pool ->> 'rows')::double precision;
    table_rows constant double precision := (p_pool ->> 'total')::double precision;
    is_small constant boolean := tenant_rows <= small_store_rows();
    -- How many rows the keyword leg may rank, at about 1.5 µs each; a small store may rank all of its rows. The word index
    -- covers all tenants: finding and skipping a row of another tenant costs about half as much.
    budget constant double precision := CASE WHEN is_small THEN small_store_rows() ELSE 400 END
        * 2.2 / (1.5 + 0.7 * greatest(1, table_rows / greatest(1, tenant_rows)));
    newest constant integer := 250;
    most_joint constant integer := 200;
    whole_index boolean;
    candidate_words tsquery;
    joint_words tsquery;
    joined record;
    ids uuid[];
    hits bigint[];
    lengths integer[];
    standings double precision[];
    -- The text of a JSON array of ids or numbers becomes that of an SQL array. A subquery would be a statement of its own.
    named constant uuid[] := coalesce(translate(p_options ->> 'named', '[]', '{}'), '{}');
    name_weights constant double precision[] := coalesce(translate(p_options ->> 'name_weights', '[]', '{}'), '{}');
    time_filter constant jsonb := (p_options -> 'asked') || jsonb_build_object('holding', p_options -> 'holding');
    -- A large store has facts of all times in its indexes (facts_held.sql).
    by_held constant boolean := time_filter ?| '{first,as_of}' AND NOT is_small;
    -- what was asked for with a time: all of it is compared
    fits tid[] := CASE WHEN time_filter IS NOT NULL AND by_held IS NOT TRUE
                       THEN facts_fitting(p_tenant, p_scope, p_at, time_filter) END;
BEGIN
    is_pairs := NOT by_rank AND is_paired(p_terms);
    -- If the best keyword score is worse, words count less in a fused score. Pairs and guessed terms have no such scale.
    good_score := CASE WHEN is_pairs OR p_options ? 'corrected' THEN 0.01 ELSE 5 END;
    -- Candidates of each leg, with room for rows that turn out not to be retrievable.
    take := 2 * p_limit + 20;
    near_taken := 0;
    match_taken := 0;
    -- The semantic leg: candidates.
    IF p_query IS NOT NULL AND p_version IS NOT NULL THEN
        -- A small store that is most of its table is compared completely by way of the index. Its vectors lie side by side;
        -- the rows around them in the table are twice as large. More probes than lists means all lists.
        whole_index := is_small AND tenant_rows * 2 >= table_rows AND p_scope IS NULL;
        probes := CASE WHEN whole_index THEN 0
                       ELSE vector_probes(tenant_rows, table_rows, (p_pool ->> 'lists')::integer, (p_pool ->> 'trained')::bigint) END;
        IF by_held THEN
            vector_path := 'held';
            PERFORM set_config('ivfflat.probes', greatest(1, probes)::text, true);
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM facts_near_held(p_tenant, p_scope, p_query, CASE WHEN probes > 0 THEN take ELSE 0 END, time_filter) n;
            -- few facts of that time, or no index yet
            fits := CASE WHEN near_taken < take THEN facts_fitting(p_tenant, p_scope, p_at, time_filter) END;
        END IF;
        IF fits IS NOT NULL THEN
            vector_path := 'fitting';
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT compared.place, compared.distance
                      FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
                            FROM unnest(fits) AS p (place) JOIN facts r ON r.ctid = p.place
                            WHERE r.embedding IS NOT NULL AND r.embedding_version_id = p_version OFFSET 0) compared
                      ORDER BY compared.distance, compared.id LIMIT take) n;
        ELSIF by_held THEN
            NULL;
        ELSIF whole_index OR probes > 0 THEN
            vector_path := CASE WHEN whole_index THEN 'exact' ELSE 'ann' END;
            PERFORM set_config('ivfflat.probes', CASE WHEN whole_index THEN '32768' ELSE probes::text END, true);
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM facts_near_probed(p_tenant, p_scope, p_query, take) n;
        -- All of the tenant's rows are compared. OFFSET 0 keeps the planner from ordering by the approximate index. Two
        -- statements, because a condition "p_scope IS NULL OR …" could not use an index.
        ELSIF p_scope IS NULL THEN
            vector_path := 'exact';
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT compared.place, compared.distance
                      FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
                            FROM facts r
                            WHERE r.tenant_id = p_tenant
                              AND r.validity = active
                              AND r.embedding IS NOT NULL OFFSET 0) compared
                      ORDER BY compared.distance, compared.id LIMIT take) n;
        ELSE
            vector_path := 'exact';
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT compared.place, compared.distance
                      FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
                            FROM facts r
                            WHERE r.tenant_id = p_tenant
                              AND r.validity = active
                              AND r.scope = ANY (ARRAY['global', p_scope])
                              AND r.embedding IS NOT NULL OFFSET 0) compared
                      ORDER BY compared.distance, compared.id LIMIT take) n;
        END IF;
    END IF;

    -- The keyword leg: candidates.
    IF p_broad IS NOT NULL THEN
        IF fits IS NOT NULL THEN
            keyword_path := 'fitting';
            SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                FROM facts_match_fitting(fits, terms, p_strict, p_broad, by_rank, named) m;
        ELSIF by_held THEN
            keyword_path := 'held';
            SELECT CASE WHEN any_term OR c.rare IS NULL THEN c.rare ELSE p_strict END INTO candidate_words
                FROM candidate_terms(p_terms, p_pool -> 'terms', greatest(tenant_rows, 1), budget) c;
            SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                FROM facts_match_held(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named, candidate_words, newest,
                                      time_filter) m;
        ELSIF is_small AND tenant_rows < table_rows / 8 THEN
            keyword_path := 'scan';
            SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                FROM facts_match_scan(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named) m;
        ELSE
            SELECT CASE WHEN any_term THEN c.rare WHEN coalesce(c.rare, c.joint) IS NOT NULL THEN p_strict END, c.joint
                INTO candidate_words, joint_words
                FROM candidate_terms(p_terms, p_pool -> 'terms', greatest(tenant_rows, 1), budget) c;
            IF candidate_words IS NOT NULL THEN
                keyword_path := 'index';
                SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                    FROM facts_match_index(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named,
                                           candidate_words, tenant_rows >= table_rows / 8, NULL, NULL) m;
            END IF;
            -- Too few rows contain a rare term: add rows that contain several frequent ones.
            IF any_term AND match_taken < p_limit AND joint_words IS NOT NULL AND tenant_rows >= table_rows / 8 THEN
                SELECT m.* INTO joined
                    FROM facts_match_index(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named,
                                           joint_words, true, candidate_words, most_joint) m;
                -- More rows than expected: read in the order of the table, the best are not among them. The newest are read instead.
                IF coalesce(cardinality(joined.places), 0) < most_joint THEN
                    keyword_path := concat_ws('+', keyword_path, 'joint');
                    matched := matched || joined.places;
                    ids := ids || joined.ids;
                    hits := hits || joined.hits;
                    lengths := lengths || joined.lengths;
                    standings := standings || joined.standings;
                    match_taken := match_taken + coalesce(cardinality(joined.places), 0);
                    candidate_words := coalesce(candidate_words || joint_words, joint_words);
                END IF;
            END IF;
            -- Still too few: add the newest rows that contain a single frequent term.
            IF match_taken < p_limit
               AND (candidate_words IS NULL OR joint_words IS NOT NULL OR numnode(candidate_words) < numnode(p_broad)) THEN
                keyword_path := concat_ws('+', keyword_path, 'newest');
                SELECT matched || n.more_places, ids || n.more_ids, hits || n.more_hits, lengths || n.more_lengths,
                       standings || n.more_standings, match_taken + coalesce(cardinality(n.more_places), 0)
                    INTO matched, ids, hits, lengths, standings, match_taken
                    FROM facts_match_newest(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named, newest, candidate_words)
                         AS n (more_places, more_ids, more_hits, more_lengths, more_standings);
            END IF;
            IF named <> '{}' THEN
                keyword_path := concat_ws('+', keyword_path, 'names');
                SELECT matched || array_agg(u.place), ids || array_agg(u.id), hits || array_agg(u.bits),
                       lengths || array_agg(u.length), standings || array_agg(u.standing), match_taken + count(*)
                    INTO matched, ids, hits, lengths, standings, match_taken
                    FROM (SELECT DISTINCT u.* FROM facts_match_named(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named) n,
                               unnest(n.places, n.ids, n.hits, n.lengths, n.standings) AS u (place, id, bits, length, standing)) u
                    LEFT JOIN unnest(matched) AS m (place) ON m.place = u.place
                    WHERE m.place IS NULL;
            END IF;
        END IF;
        weights := term_weights(p_terms, p_factors, hits, p_pool -> 'terms', greatest(tenant_rows, match_taken)) || name_weights;
        SELECT b.places, b.scores INTO matched, scores
            FROM best_matches(matched, ids, hits, lengths, standings, weights, near, distances, is_pairs, take) b;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION facts_legs FROM PUBLIC;
COMMENT ON FUNCTION facts_legs IS 'The candidates of both legs of a search over facts: the nearest vectors and the best keyword matches.';
