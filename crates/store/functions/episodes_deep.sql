-- The ranking for questions about past conversations. A turn is judged by its own words and meaning, by its neighbours,
-- by whether the query names its speaker, and by its conversation.
--
-- p_weights: 1 keyword against semantic, 2 own words against the neighbours', 3 similarity of neighbours, 4 the named
-- speaker, 5 the conversation (domain::deep).
CREATE OR REPLACE FUNCTION episodes_deep(
    p_tenant text, p_scope text, p_at timestamptz, p_version uuid, p_query vector, p_strict tsquery, p_words text,
    p_limit integer, p_weights double precision[])
RETURNS TABLE (id uuid, score double precision, similarity double precision, semantic_rank integer, keyword double precision,
               keyword_rank integer, parts jsonb) LANGUAGE plpgsql STABLE ROWS 20 AS $$
#variable_conflict use_column
DECLARE
    -- One bit of a bigint per term; a longer query is judged by its first terms.
    terms constant tsquery[] := ARRAY(SELECT t::tsquery FROM unnest(query_terms(p_strict)) WITH ORDINALITY AS q (t, n) ORDER BY n LIMIT 62);
    any_term constant tsquery := any_of(query_terms(p_strict));
    -- Twice what a butler keeps by default.
    newest constant integer := 20000;
BEGIN
    RETURN QUERY
    WITH pool AS MATERIALIZED (
        SELECT r.id, coalesce(r.session_id, r.id) AS session, r.created_at, spaced_words(r.metadata ->> 'speaker') AS speaker,
               cosine_similarity(r.embedding, p_query, r.embedding_version_id, p_version) AS cosine,
               CASE WHEN r.search_vector @@ any_term
                    THEN (SELECT bit_or(1::bigint << (n - 1)::integer)
                          FROM unnest(terms) WITH ORDINALITY AS t (term, n) WHERE r.search_vector @@ t.term)
                    ELSE 0 END AS hits
        FROM episodes r
        WHERE r.tenant_id = p_tenant AND (p_scope IS NULL OR r.butler = p_scope) AND episode_is_alive(r.expires_at, p_at)
        ORDER BY r.created_at DESC, r.id LIMIT newest),
    -- inverse document frequency: a rare term weighs more
    idf AS MATERIALIZED (
        SELECT 1::bigint << (n - 1)::integer AS bit,
               greatest(0, ln(((SELECT count(*) FROM pool) + 1)
                              / ((SELECT count(*) FROM pool p WHERE p.hits & (1::bigint << (n - 1)::integer) <> 0) + 0.5)))::double precision AS weight
        FROM generate_series(1, cardinality(terms)) AS n),
    -- each turn with its neighbours in the conversation: their terms (around) and their similarity (near)
    placed AS MATERIALIZED (
        SELECT p.*, coalesce(hits | lag(hits, 1, 0::bigint) OVER turn | lead(hits, 1, 0::bigint) OVER turn, 0) AS around,
               (cosine + p_weights[3] * (coalesce(lag(cosine) OVER turn, 0) + coalesce(lead(cosine) OVER turn, 0)))
               / (1 + p_weights[3] * ((lag(cosine) OVER turn IS NOT NULL)::integer + (lead(cosine) OVER turn IS NOT NULL)::integer)) AS near
        FROM pool p WINDOW turn AS (PARTITION BY session ORDER BY created_at, id)),
    -- the weight of each combination of terms, computed once
    masks AS MATERIALIZED (
        SELECT m.mask, coalesce((SELECT sum(weight) FROM idf WHERE m.mask & bit <> 0), 0) AS weight
        FROM (SELECT hits AS mask FROM placed UNION SELECT around FROM placed) m),
    weighed AS MATERIALIZED (
        SELECT p.*, p_weights[2] * own.weight + (1 - p_weights[2]) * wide.weight AS words
        FROM placed p JOIN masks own ON own.mask = p.hits JOIN masks wide ON wide.mask = p.around),
    -- the speaker the query names, if it names exactly one
    named AS MATERIALIZED (
        SELECT min(s.speaker) AS speaker FROM (SELECT DISTINCT speaker FROM pool WHERE length(speaker) > 2) s
        WHERE strpos(spaced_words(p_words), s.speaker) > 0
           OR strpos(spaced_words(p_words), ' ' || split_part(s.speaker, ' ', 2) || ' ') > 0
        HAVING count(*) = 1),
    -- both legs scaled to 0..1
    fused AS MATERIALIZED (
        SELECT w.id, w.session, w.created_at, w.cosine, w.words,
               coalesce((w.words - min(w.words) OVER ()) / nullif(max(w.words) OVER () - min(w.words) OVER (), 0), 0) AS by_words,
               coalesce((w.near - min(w.near) OVER ()) / nullif(max(w.near) OVER () - min(w.near) OVER (), 0), 0) AS by_meaning,
               CASE WHEN w.speaker = (SELECT speaker FROM named) THEN p_weights[4] ELSE 0 END AS by_speaker
        FROM weighed w),
    summed AS MATERIALIZED (
        SELECT f.*, p_weights[1] * by_words + (1 - p_weights[1]) * by_meaning + by_speaker AS sum FROM fused f),
    -- a conversation counts by its three best turns
    sessions AS MATERIALIZED (
        SELECT session, avg(sum) AS best FROM (
            SELECT session, sum, row_number() OVER (PARTITION BY session ORDER BY sum DESC) AS place FROM summed) t
        WHERE place <= 3 GROUP BY session),
    ranked AS (
        SELECT s.*, b.best,
               -- divided by the most a turn can reach
               (s.sum + p_weights[5] * b.best) / ((1 + p_weights[4]) * (1 + p_weights[5])) AS score,
               CASE WHEN s.cosine IS NOT NULL THEN rank() OVER (ORDER BY s.cosine DESC NULLS LAST) END AS semantic_rank,
               CASE WHEN s.words > 0 THEN rank() OVER (ORDER BY s.words DESC) END AS keyword_rank
        FROM summed s JOIN sessions b ON b.session = s.session)
    SELECT r.id, r.score, r.cosine, r.semantic_rank::integer, r.words, r.keyword_rank::integer,
           jsonb_build_object('keyword', r.by_words, 'semantic', r.by_meaning, 'speaker', r.by_speaker, 'session', r.best)
    FROM ranked r ORDER BY r.score DESC, r.created_at DESC, r.id LIMIT p_limit;
END $$;
REVOKE EXECUTE ON FUNCTION episodes_deep FROM PUBLIC;
COMMENT ON FUNCTION episodes_deep IS 'The best p_limit episodes in the conversation mode, with the parts of their scores.';
