-- facts_legs for rules; a test keeps the files equal (tests/schema/families.rs).
CREATE OR REPLACE FUNCTION rules_legs(
    p_tenant text, p_scope text, p_at timestamptz, p_version uuid, p_query vector, p_strict tsquery, p_broad tsquery,
    p_terms text[], p_factors double precision[], p_limit integer, p_pool jsonb, p_options jsonb,
    OUT near tid[], OUT distances double precision[], OUT near_taken integer, OUT vector_path text, OUT probes integer,
    OUT matched tid[], OUT scores double precision[], OUT match_taken integer, OUT keyword_path text, OUT weights double precision[],
    OUT good_score double precision, OUT is_pairs boolean, OUT take integer)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    by_rank constant boolean := p_options ->> 'mode' = 'keyword';
    any_term constant boolean := (p_options ->> 'any_term')::boolean;
    terms constant tsquery[] := p_terms::tsquery[];
    tenant_rows constant double precision := (p_pool ->> 'rows')::double precision;
    table_rows constant double precision := (p_pool ->> 'total')::double precision;
    is_small constant boolean := tenant_rows <= small_store_rows();
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
    time_filter constant jsonb := (p_options -> 'asked') || jsonb_build_object('holding', p_options -> 'holding');
    fits tid[] := CASE WHEN time_filter IS NOT NULL THEN rules_fitting(p_tenant, p_scope, p_at, time_filter) END;
BEGIN
    is_pairs := NOT by_rank AND is_paired(p_terms);
    good_score := CASE WHEN is_pairs OR p_options ? 'corrected' THEN 0.01 ELSE 5 END;
    take := 2 * p_limit + 20;
    near_taken := 0;
    match_taken := 0;
    IF p_query IS NOT NULL AND p_version IS NOT NULL THEN
        whole_index := is_small AND tenant_rows * 2 >= table_rows AND p_scope IS NULL;
        probes := CASE WHEN whole_index THEN 0
                       ELSE vector_probes(tenant_rows, table_rows, (p_pool ->> 'lists')::integer, (p_pool ->> 'trained')::bigint) END;
        IF fits IS NOT NULL THEN
            vector_path := 'fitting';
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT compared.place, compared.distance
                      FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
                            FROM unnest(fits) AS p (place) JOIN rules r ON r.ctid = p.place
                            WHERE r.embedding IS NOT NULL AND r.embedding_version_id = p_version OFFSET 0) compared
                      ORDER BY compared.distance, compared.id LIMIT take) n;
        ELSIF whole_index OR probes > 0 THEN
            vector_path := CASE WHEN whole_index THEN 'exact' ELSE 'ann' END;
            PERFORM set_config('ivfflat.probes', CASE WHEN whole_index THEN '32768' ELSE probes::text END, true);
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM rules_near_probed(p_tenant, p_scope, p_query, take) n;
        ELSIF p_scope IS NULL THEN
            vector_path := 'exact';
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT compared.place, compared.distance
                      FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
                            FROM rules r
                            WHERE r.tenant_id = p_tenant
                              AND r.embedding IS NOT NULL OFFSET 0) compared
                      ORDER BY compared.distance, compared.id LIMIT take) n;
        ELSE
            vector_path := 'exact';
            SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken
                FROM (SELECT compared.place, compared.distance
                      FROM (SELECT r.id, r.ctid AS place, r.embedding <=> p_query AS distance
                            FROM rules r
                            WHERE r.tenant_id = p_tenant
                              AND r.scope = ANY (ARRAY['global', p_scope])
                              AND r.embedding IS NOT NULL OFFSET 0) compared
                      ORDER BY compared.distance, compared.id LIMIT take) n;
        END IF;
    END IF;
    IF p_broad IS NOT NULL THEN
        IF fits IS NOT NULL THEN
            keyword_path := 'fitting';
            SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                FROM rules_match_fitting(fits, terms, p_strict, p_broad, by_rank) m;
        ELSIF is_small AND tenant_rows < table_rows / 8 THEN
            keyword_path := 'scan';
            SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                FROM rules_match_scan(p_tenant, p_scope, terms, p_strict, p_broad, by_rank) m;
        ELSE
            SELECT CASE WHEN any_term THEN c.rare WHEN coalesce(c.rare, c.joint) IS NOT NULL THEN p_strict END, c.joint
                INTO candidate_words, joint_words
                FROM candidate_terms(p_terms, p_pool -> 'terms', greatest(tenant_rows, 1), budget) c;
            IF candidate_words IS NOT NULL THEN
                keyword_path := 'index';
                SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken
                    FROM rules_match_index(p_tenant, p_scope, terms, p_strict, p_broad, by_rank,
                                            candidate_words, tenant_rows >= table_rows / 8, NULL, NULL) m;
            END IF;
            IF any_term AND match_taken < p_limit AND joint_words IS NOT NULL AND tenant_rows >= table_rows / 8 THEN
                SELECT m.* INTO joined
                    FROM rules_match_index(p_tenant, p_scope, terms, p_strict, p_broad, by_rank,
                                           joint_words, true, candidate_words, most_joint) m;
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
            IF match_taken < p_limit
               AND (candidate_words IS NULL OR joint_words IS NOT NULL OR numnode(candidate_words) < numnode(p_broad)) THEN
                keyword_path := concat_ws('+', keyword_path, 'newest');
                SELECT matched || n.more_places, ids || n.more_ids, hits || n.more_hits, lengths || n.more_lengths,
                       standings || n.more_standings, match_taken + coalesce(cardinality(n.more_places), 0)
                    INTO matched, ids, hits, lengths, standings, match_taken
                    FROM rules_match_newest(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, newest, candidate_words)
                         AS n (more_places, more_ids, more_hits, more_lengths, more_standings);
            END IF;
        END IF;
        weights := term_weights(p_terms, p_factors, hits, p_pool -> 'terms', greatest(tenant_rows, match_taken));
        SELECT b.places, b.scores INTO matched, scores
            FROM best_matches(matched, ids, hits, lengths, standings, weights, near, distances, is_pairs, take) b;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION rules_legs FROM PUBLIC;
COMMENT ON FUNCTION rules_legs IS 'The candidates of both legs of a search over rules: the nearest vectors and the best keyword matches.';
