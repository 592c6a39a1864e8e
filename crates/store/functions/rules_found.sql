-- facts_found for rules. facts_found.sql explains how it works; a test keeps the files equal (tests/schema/families.rs).

CREATE OR REPLACE FUNCTION rules_found(
    p_tenant text, p_scope text, p_at timestamptz, p_min double precision, p_version uuid, p_query vector,
    p_strict tsquery, p_broad tsquery, p_any_term boolean, p_limit integer, p_pool jsonb, p_words text, p_background boolean)
RETURNS retrieved[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    take constant integer := 2 * p_limit + 20;
    tenant_rows constant double precision := (p_pool ->> 'rows')::double precision;
    table_rows constant double precision := (p_pool ->> 'total')::double precision;
    is_small constant boolean := tenant_rows <= small_store_rows();
    budget constant double precision := CASE WHEN is_small THEN small_store_rows() ELSE 400 END
        * 2.2 / (1.5 + 0.7 * greatest(1, table_rows / greatest(1, tenant_rows)));
    newest constant integer := 250;
    whole_index boolean;
    probes integer;
    candidate_words tsquery;
    vector_path text;
    keyword_path text;
    near tid[];
    distances double precision[];
    near_taken integer := 0;
    near_kept integer;
    matched tid[];
    standings double precision[];
    match_taken integer := 0;
    match_kept integer;
    answer retrieved[];
BEGIN
    IF p_query IS NOT NULL AND p_version IS NOT NULL THEN
        whole_index := is_small AND tenant_rows * 2 >= table_rows AND p_scope IS NULL;
        probes := CASE WHEN whole_index THEN 0
                       ELSE vector_probes(tenant_rows, table_rows, (p_pool ->> 'lists')::integer, (p_pool ->> 'trained')::bigint) END;
        IF whole_index OR probes > 0 THEN
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
        IF is_small AND tenant_rows < table_rows / 8 THEN
            keyword_path := 'scan';
            SELECT array_agg(m.place), array_agg(m.standing), count(*) INTO matched, standings, match_taken
                FROM rules_match_scan(p_tenant, p_scope, p_strict, p_broad, take) m;
        ELSE
            candidate_words := candidate_terms(query_terms(p_strict), p_pool -> 'terms', greatest(tenant_rows, 1), budget);
            IF candidate_words IS NOT NULL THEN
                keyword_path := 'index';
                SELECT array_agg(m.place), array_agg(m.standing), count(*) INTO matched, standings, match_taken
                    FROM rules_match_index(p_tenant, p_scope, CASE WHEN p_any_term THEN candidate_words ELSE p_strict END,
                                           p_strict, p_broad, tenant_rows >= table_rows / 8, take) m;
            END IF;
            IF candidate_words IS NULL OR (match_taken < p_limit AND numnode(candidate_words) < numnode(p_broad)) THEN
                keyword_path := concat_ws('+', keyword_path, 'newest');
                SELECT array_agg(m.place), array_agg(m.standing), greatest(count(*), match_taken)
                    INTO matched, standings, match_taken
                    FROM (SELECT u.place, u.standing FROM unnest(matched, standings) AS u (place, standing)
                          UNION
                          SELECT n.place, n.standing
                          FROM rules_match_newest(p_tenant, p_scope, p_strict, p_broad, newest, take) n) m;
            END IF;
        END IF;
    END IF;
    LOOP
        WITH checked AS (
            SELECT r.id, r.ctid AS place, r.created_at, m.standing,
                   CASE WHEN n.distance <= 2 AND r.embedding_version_id = p_version THEN n.distance END AS distance
            FROM unnest(near, distances) AS n (place, distance)
            FULL JOIN unnest(matched, standings) AS m (place, standing) ON m.place = n.place
            JOIN rules r ON r.ctid = coalesce(n.place, m.place)
            WHERE rule_is_remembered(r.metadata)
              AND (p_min <= 0 OR r.maturity = 'anti_pattern' OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)
        ),
        placed AS (
            SELECT c.*,
                   row_number() OVER (ORDER BY c.distance, c.created_at DESC, c.id) AS near_place,
                   row_number() OVER (ORDER BY c.standing DESC NULLS LAST, c.created_at DESC, c.id) AS match_place
            FROM checked c),
        ranked AS (
            SELECT p.place, p.standing,
                   count(p.distance) OVER () AS near_kept,
                   count(p.standing) OVER () AS match_kept,
                   CASE WHEN p.distance IS NOT NULL AND p.near_place <= p_limit THEN p.near_place::integer END AS semantic_rank,
                   CASE WHEN p.standing IS NOT NULL AND p.match_place <= p_limit THEN p.match_place::integer END AS keyword_rank
            FROM placed p)
        SELECT array_agg(ROW(
                   'rule',
                   r.id,
                   cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version),
                   k.semantic_rank,
                   CASE WHEN k.keyword_rank IS NOT NULL THEN k.standing - 2 * (k.standing >= 2)::integer END::real,
                   CASE WHEN k.keyword_rank IS NOT NULL THEN k.standing >= 2 END,
                   k.keyword_rank,
                   r.content,
                   NULL::text,
                   NULL::text,
                   r.scope,
                   NULL::double precision,
                   r.confidence,
                   r.decay_rate,
                   r.last_confirmed_at,
                   r.last_referenced_at,
                   r.created_at,
                   r.maturity,
                   r.effectiveness_score,
                   NULL::uuid,
                   NULL::text,
                   NULL::uuid,
                   memory_is_fading(r.metadata),
                   CASE WHEN p_background
                        THEN jsonb_build_object('vector', vector_path, 'probes', probes, 'keyword', keyword_path)
                             || jsonb_build_object(
                                    'terms', terms_in(r.search_vector, p_strict))
                        ELSE jsonb_build_object('vector', vector_path, 'probes', probes, 'keyword', keyword_path) END
               )::retrieved),
               coalesce(max(k.near_kept), 0),
               coalesce(max(k.match_kept), 0)
            INTO answer, near_kept, match_kept
            FROM ranked k
            JOIN rules r ON r.ctid = k.place
            WHERE k.semantic_rank IS NOT NULL OR k.keyword_rank IS NOT NULL;
        IF near_kept < p_limit AND vector_path IN ('exact', 'ann')
           AND (near_taken = take OR (probes > 0 AND near_taken < tenant_rows)) THEN
            vector_path := vector_path || '+all';
            SELECT array_agg(n.place), array_agg(n.distance) INTO near, distances
                FROM rules_near_all(p_tenant, p_scope, p_at, p_min, p_version, p_query, take) n;
            CONTINUE;
        END IF;
        IF match_kept < p_limit AND match_taken >= take AND keyword_path NOT LIKE '%+all' THEN
            keyword_path := keyword_path || '+all';
            SELECT array_agg(m.place), array_agg(m.standing) INTO matched, standings
                FROM rules_match_all(p_tenant, p_scope, p_at, p_min, p_strict, p_broad, take) m;
            CONTINUE;
        END IF;
        RETURN answer;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION rules_found FROM PUBLIC;
COMMENT ON FUNCTION rules_found IS 'The best p_limit rules of the semantic and of the keyword leg, with what a reader shows of them.';
