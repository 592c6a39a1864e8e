-- The ranking for questions about past conversations. A turn is judged by its own words and meaning, by its neighbours,
-- by whether the query names its speaker, and by its conversation.
--
-- p_kind: the kind of the rows. With `related`, the neighbours of the first ten follow as rows of the kind `neighbour`.
-- p_sessions: only these conversations (an episode without one is its own); NULL: all. p_pool: see memory_pool.
-- p_window: also return the best p_limit turns from `first` to `last`. They are scored with all others, because the program
-- compares their scores.
-- p_weights: 1 keyword against semantic, 2 own words against the neighbours', 3 similarity of neighbours, 4 the named
-- speaker, 5 the conversation, 6 the exponent of the keyword score (domain::deep).
CREATE OR REPLACE FUNCTION episodes_deep(
    p_kind text, p_tenant text, p_scope text, p_at timestamptz, p_version uuid, p_query vector, p_strict tsquery,
    p_terms text[], p_factors double precision[], p_words text, p_limit integer, p_weights double precision[], p_background boolean,
    p_sessions uuid[], p_pool jsonb, p_window jsonb)
RETURNS SETOF retrieved LANGUAGE plpgsql STABLE ROWS 20 AS $$
#variable_conflict use_column
DECLARE
    terms constant tsquery[] := p_terms::tsquery[];
    any_term constant tsquery := any_of(p_terms);
    -- Only the newest turns are compared: twice as many as a butler keeps by default. With a window, as many until its end
    -- and as many after it.
    newest constant integer := 20000;
    first constant timestamptz := p_window ->> 'first';
    last constant timestamptz := coalesce((p_window ->> 'last')::timestamptz, 'infinity');
    -- Neighbours are returned for this many of the best turns.
    neighboured constant integer := CASE WHEN p_kind = 'related' THEN 10 ELSE 0 END;
BEGIN
    RETURN QUERY
    WITH pool AS MATERIALIZED (
        SELECT r.id, coalesce(r.session_id, r.id) AS session, r.occurred_at, r.created_at, spaced_words(r.metadata ->> 'speaker') AS speaker,
               cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version) AS cosine,
               CASE WHEN r.words @@ any_term THEN term_hits(r.words, terms) ELSE 0 END AS hits,
               sqrt(greatest(1, length(r.words) / 40.0::double precision)) AS length
        FROM ((SELECT e.*, unpacked(e.search_vector) AS words
               FROM episodes e
               WHERE p_sessions IS NULL AND e.occurred_at <= last
                 AND e.tenant_id = p_tenant AND (p_scope IS NULL OR e.butler = p_scope) AND episode_is_alive(e.expires_at, p_at)
               ORDER BY e.occurred_at DESC, e.id LIMIT newest)
              UNION ALL
              (SELECT e.*, unpacked(e.search_vector) AS words
               FROM episodes e
               WHERE p_sessions IS NULL AND e.occurred_at > last
                 AND e.tenant_id = p_tenant AND (p_scope IS NULL OR e.butler = p_scope) AND episode_is_alive(e.expires_at, p_at)
               ORDER BY e.occurred_at DESC, e.id LIMIT newest)
              UNION ALL
              (SELECT e.*, unpacked(e.search_vector) AS words
               FROM episodes e
               WHERE p_sessions IS NOT NULL AND e.session_id = ANY (p_sessions)
                 AND e.tenant_id = p_tenant AND (p_scope IS NULL OR e.butler = p_scope) AND episode_is_alive(e.expires_at, p_at)
               ORDER BY e.occurred_at DESC, e.id LIMIT newest)
              UNION ALL
              (SELECT e.*, unpacked(e.search_vector) AS words
               FROM episodes e
               WHERE p_sessions IS NOT NULL AND e.id = ANY (p_sessions) AND e.session_id IS NULL
                 AND e.tenant_id || '' = p_tenant AND (p_scope IS NULL OR e.butler = p_scope)
                 AND episode_is_alive(e.expires_at, p_at))) r
        -- A context contains no episode that is held for review.
        WHERE p_kind <> 'related' OR r.held_for IS NULL),
    -- inverse document frequency: a rare term weighs more
    idf AS MATERIALIZED (
        SELECT 1::bigint << (n - 1) AS bit,
               p_factors[n] * greatest(0, ln((total.rows + 1) / (0.5 + greatest(
                   total.rows * coalesce((p_pool -> 'terms' ->> term_lexeme(p_terms[n]))::double precision, 0),
                   (SELECT count(*) FROM pool p WHERE p.hits & (1::bigint << (n - 1)) <> 0)))))::double precision AS weight
        FROM generate_series(1, cardinality(p_terms)) AS n,
             (SELECT greatest(count(*), CASE WHEN p_sessions IS NULL THEN 0 ELSE (p_pool ->> 'rows')::double precision END) AS rows
              FROM pool) total),
    -- each turn with its neighbours in the conversation: the terms that only they have, and their similarity (near)
    placed AS MATERIALIZED (
        SELECT p.*,
               coalesce(lag(hits) OVER turn, 0) & ~hits AS hits_before, lag(length, 1, 1::double precision) OVER turn AS length_before,
               coalesce(lead(hits) OVER turn, 0) & ~(hits | coalesce(lag(hits) OVER turn, 0)) AS hits_after,
               lead(length, 1, 1::double precision) OVER turn AS length_after,
               (cosine + p_weights[3] * (coalesce(lag(cosine) OVER turn, 0) + coalesce(lead(cosine) OVER turn, 0)))
               / (1 + p_weights[3] * ((lag(cosine) OVER turn IS NOT NULL)::integer + (lead(cosine) OVER turn IS NOT NULL)::integer)) AS near,
               lag(id) OVER turn AS before, lead(id) OVER turn AS after
        -- Of an imported conversation often only its day is known. Its turns were stored in their order.
        FROM pool p WINDOW turn AS (PARTITION BY session ORDER BY occurred_at, created_at, id)),
    -- the weight of each combination of terms, computed once
    masks AS MATERIALIZED (
        SELECT m.mask, coalesce((SELECT sum(weight) FROM idf WHERE m.mask & bit <> 0), 0) AS weight
        FROM (SELECT hits AS mask FROM placed UNION SELECT hits_before FROM placed UNION SELECT hits_after FROM placed) m),
    -- a long turn contains many words by chance, so each term counts less in it
    worded AS MATERIALIZED (
        SELECT p.*, own.weight / p.length
                    + (1 - p_weights[2]) * (earlier.weight / p.length_before + later.weight / p.length_after) AS words
        FROM placed p
        JOIN masks own ON own.mask = p.hits
        JOIN masks earlier ON earlier.mask = p.hits_before
        JOIN masks later ON later.mask = p.hits_after),
    -- the speaker the query names, if it names exactly one
    named AS MATERIALIZED (
        SELECT min(s.speaker) AS speaker FROM (SELECT DISTINCT speaker FROM pool WHERE length(speaker) > 2) s
        WHERE strpos(spaced_words(p_words), s.speaker) > 0
           OR strpos(spaced_words(p_words), ' ' || split_part(s.speaker, ' ', 2) || ' ') > 0
        HAVING count(*) = 1),
    -- both legs scaled to 0..1
    fused AS (
        SELECT w.id, w.session, w.occurred_at, w.cosine, w.words, w.before, w.after,
               power(coalesce((w.words - min(w.words) OVER ()) / nullif(max(w.words) OVER () - min(w.words) OVER (), 0), 0),
                     p_weights[6]) AS by_words,
               coalesce((w.near - min(w.near) OVER ()) / nullif(max(w.near) OVER () - min(w.near) OVER (), 0), 0) AS by_meaning,
               CASE WHEN w.speaker = (SELECT speaker FROM named) THEN p_weights[4] ELSE 0 END AS by_speaker
        FROM worded w),
    summed AS MATERIALIZED (
        SELECT f.*, p_weights[1] * by_words + (1 - p_weights[1]) * by_meaning + by_speaker AS sum FROM fused f),
    -- a conversation counts by its five best turns, each half as much as the one before
    sessions AS MATERIALIZED (
        SELECT t.session, sum(t.sum * power(0.5::double precision, t.place)) / sum(power(0.5::double precision, t.place)) AS best
        FROM (SELECT session, sum, row_number() OVER (PARTITION BY session ORDER BY sum DESC) AS place FROM summed) t
        WHERE t.place <= 5 GROUP BY t.session),
    scored AS MATERIALIZED (
        SELECT s.*, b.best,
               -- divided by the most a turn can reach
               (s.sum + p_weights[5] * b.best) / ((1 + p_weights[4]) * (1 + p_weights[5])) AS score,
               CASE WHEN s.cosine IS NOT NULL THEN rank() OVER (ORDER BY s.cosine DESC NULLS LAST) END AS semantic_rank,
               CASE WHEN s.words > 0 THEN rank() OVER (ORDER BY s.words DESC) END AS keyword_rank
        FROM summed s JOIN sessions b ON b.session = s.session),
    ranked AS MATERIALIZED (
        (SELECT s.* FROM scored s ORDER BY s.score DESC, s.occurred_at DESC, s.id LIMIT p_limit)
        UNION
        (SELECT s.* FROM scored s WHERE s.occurred_at BETWEEN first AND last
         ORDER BY s.score DESC, s.occurred_at DESC, s.id LIMIT p_limit)),
    shown AS (
        SELECT p_kind AS kind, r.id, r.cosine, r.semantic_rank, r.words, r.keyword_rank,
               json_build_object('score', r.score, 'keyword', r.by_words, 'semantic', r.by_meaning, 'speaker', r.by_speaker,
                                  'session', r.best) AS parts
        FROM ranked r
        UNION ALL
        SELECT 'neighbour', n.id, NULL, NULL, NULL, NULL, NULL
        FROM (SELECT r.before, r.after FROM ranked r ORDER BY r.score DESC, r.occurred_at DESC, r.id LIMIT neighboured) r,
             unnest(ARRAY[r.before, r.after]) AS n (id)
        WHERE n.id IS NOT NULL)
    SELECT s.kind, x.id, s.cosine, s.semantic_rank::integer,
           CASE WHEN s.keyword_rank IS NOT NULL THEN ts_rank(x.search_vector, any_term) END,
           CASE WHEN s.keyword_rank IS NOT NULL THEN x.search_vector @@ p_strict END, s.keyword_rank::integer,
           x.content, NULL::text, NULL::text, x.butler, x.importance, NULL::double precision, NULL::double precision,
           NULL::timestamptz, x.last_referenced_at, x.created_at, NULL::text, NULL::double precision, NULL::uuid, NULL::text,
           x.session_id, false,
           json_build_object('vector', 'exact', 'keyword', 'scan', 'keyword_score', s.words, 'parts', s.parts, 'occurred_at', x.occurred_at,
                              'held', x.held_for IS NOT NULL,
                              'terms', CASE WHEN p_background THEN terms_in(x.search_vector, p_strict) END)
    FROM shown s JOIN episodes x ON x.id = s.id;
END $$;
REVOKE EXECUTE ON FUNCTION episodes_deep FROM PUBLIC;
COMMENT ON FUNCTION episodes_deep IS 'The best p_limit episodes in the conversation mode, and those of a window, with the parts of their scores.';
