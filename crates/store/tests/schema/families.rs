//! Facts, rules and episodes are searched by the same SQL. Each has plain files of its own, because PostgreSQL plans them
//! separately; this test keeps them equal. Change the file of facts first, then make the others follow.

use std::path::Path;

/// A text in the file of facts, and what stands there in the file of the other table.
type Difference = (&'static str, &'static str);

/// A rule is never superseded: it is remembered or forgotten.
const RULES: &[Difference] = &[
    // a warning passes every threshold
    ("(p_min <= 0 OR effective_confidence(", "(p_min <= 0 OR r.maturity = 'anti_pattern' OR effective_confidence("),
    ("active constant text := 'active';", ""),
    ("DECLARE BEGIN", "BEGIN"),
    ("AND r.validity = active", ""),
    ("AND (r.validity = active) IS TRUE", ""),
    ("AND fact_is_active(r.validity || '')", ""),
    ("fact_is_active(r.validity)", "rule_is_remembered(r.metadata)"),
    ("facts", "rules"),
    ("'fact'", "'rule'"),
];

/// The scope of an episode is its butler, and it has no confidence.
const EPISODES: &[Difference] = &[
    ("active constant text := 'active';", ""),
    ("DECLARE BEGIN", "BEGIN"),
    ("AND r.validity = active", ""),
    ("AND (r.validity = active) IS TRUE", ""),
    ("AND fact_is_active(r.validity || '')", ""),
    ("fact_is_active(r.validity)", "episode_is_alive(r.expires_at, p_at)"),
    ("AND (p_min <= 0 OR effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, p_at) >= p_min)", ""),
    ("r.scope = ANY (ARRAY['global', p_scope])", "r.butler = p_scope"),
    ("facts", "episodes"),
    ("'fact'", "'episode'"),
];

/// What is shown of a row.
const SHOWN_OF_RULES: &[Difference] = &[
    (
        ", 'dates', fact_dates_then(r.id, r.valid_from, r.valid_to, r.observed_at, r.dates, r.holds_from, r.holds_to, as_of)",
        "",
    ),
    ("r.subject, r.predicate, r.scope, r.importance,", "NULL::text, NULL::text, r.scope, NULL::double precision,"),
    (
        "r.created_at, NULL::text, NULL::double precision, r.entity_id, e.canonical_name::text,",
        "r.created_at, r.maturity, r.effectiveness_score, NULL::uuid, NULL::text,",
    ),
];
const SHOWN_OF_EPISODES: &[Difference] = &[
    (
        "'dates', fact_dates_then(r.id, r.valid_from, r.valid_to, r.observed_at, r.dates, r.holds_from, r.holds_to, as_of)",
        "'occurred_at', r.occurred_at, 'held', r.held_for IS NOT NULL",
    ),
    (
        "r.subject, r.predicate, r.scope, r.importance, r.confidence, r.decay_rate, r.last_confirmed_at,",
        "NULL::text, NULL::text, r.butler, r.importance, NULL::double precision, NULL::double precision, NULL::timestamptz,",
    ),
    (
        "r.entity_id, e.canonical_name::text, NULL::uuid, memory_is_fading(r.metadata),",
        "NULL::uuid, NULL::text, r.session_id, false,",
    ),
];

/// Only a fact is true at some times and not at others.
const NO_DATES: &[Difference] = &[
    ("as_of constant timestamptz := time_filter ->> 'as_of';", ""),
    ("by_held constant boolean := time_filter ?| '{first,as_of}' AND NOT is_small;", ""),
    (" AND by_held IS NOT TRUE", ""),
    (
        "holding constant timestamptz := \
         CASE WHEN time_filter IS NULL AND (p_options ->> 'holding')::boolean THEN p_at END;",
        "",
    ),
    (
        "IF by_held THEN vector_path := 'held'; \
         PERFORM set_config('ivfflat.probes', greatest(1, probes)::text, true); \
         SELECT array_agg(n.place), array_agg(n.distance), count(*) INTO near, distances, near_taken \
         FROM facts_near_held(p_tenant, p_scope, p_query, CASE WHEN probes > 0 THEN take ELSE 0 END, time_filter) n; \
         fits := CASE WHEN near_taken < take THEN facts_fitting(p_tenant, p_scope, p_at, time_filter) END; END IF;",
        "",
    ),
    ("ELSIF by_held THEN NULL;", ""),
    (
        "ELSIF by_held THEN keyword_path := 'held'; \
         SELECT CASE WHEN any_term OR c.rare IS NULL THEN c.rare ELSE p_strict END INTO candidate_words \
         FROM candidate_terms(p_terms, p_pool -> 'terms', greatest(tenant_rows, 1), budget) c; \
         SELECT m.*, coalesce(cardinality(m.places), 0) INTO matched, ids, hits, lengths, standings, match_taken \
         FROM facts_match_held(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named, \
         candidate_words, newest, time_filter) m;",
        "",
    ),
    ("AND fact_holds(r.holds_from, r.holds_to, holding)", ""),
    ("AND fact_holds(r.holds_from, r.holds_to, p_holding)", ""),
    (", p_holding timestamptz", ""),
    (", holding", ""),
];

/// Only a fact has an entity, which the query may name.
const NO_NAMES: &[Difference] = &[
    ("named constant uuid[] := coalesce(translate(p_options ->> 'named', '[]', '{}'), '{}');", ""),
    (
        "name_weights constant double precision[] := coalesce(translate(p_options ->> 'name_weights', '[]', '{}'), '{}');",
        "",
    ),
    (
        "IF named <> '{}' THEN keyword_path := concat_ws('+', keyword_path, 'names'); \
         SELECT matched || array_agg(u.place), ids || array_agg(u.id), hits || array_agg(u.bits), \
         lengths || array_agg(u.length), standings || array_agg(u.standing), match_taken + count(*) \
         INTO matched, ids, hits, lengths, standings, match_taken FROM (SELECT DISTINCT u.* \
         FROM facts_match_named(p_tenant, p_scope, terms, p_strict, p_broad, by_rank, named) n, \
         unnest(n.places, n.ids, n.hits, n.lengths, n.standings) AS u (place, id, bits, length, standing)) u \
         LEFT JOIN unnest(matched) AS m (place) ON m.place = u.place WHERE m.place IS NULL; END IF;",
        "",
    ),
    (" || name_weights", ""),
    ("terms, r.entity_id, r.object_entity_id, named, legs.weights)", "terms, NULL, NULL, NULL, legs.weights)"),
    (", 'named', ARRAY[r.entity_id, r.object_entity_id] && named", ""),
    (", named", ""),
    (
        ", 'sharing', CASE WHEN background THEN fact_named( \
         r.tenant_id, r.subject, r.entity_id, e.canonical_name, e.aliases, p_options ->> 'query') END",
        "",
    ),
    ("LEFT JOIN entities e ON e.id = r.entity_id", ""),
    (", p_named uuid[]", ""),
    (" | name_hit(m.entity_id, m.object_entity_id, p_named, cardinality(p_terms))", ""),
    (
        "(r.search_vector @@ p_broad OR r.entity_id = ANY (p_named) OR r.object_entity_id = ANY (p_named)) IS TRUE",
        "(r.search_vector @@ p_broad) IS TRUE",
    ),
    (
        "(r.search_vector @@ p_broad OR r.entity_id = ANY (p_named) OR r.object_entity_id = ANY (p_named))",
        "r.search_vector @@ p_broad",
    ),
    ("r.entity_id, r.object_entity_id, ", ""),
];

/// Only an episode has a session, which counts by its three best episodes.
const SESSIONS: &[Difference] = &[
    (
        "r.created_at, n.place IS NOT NULL AS is_near,",
        "r.created_at, coalesce(r.session_id, r.id) AS session, n.place IS NOT NULL AS is_near,",
    ),
    ("SELECT c.id, c.place, c.created_at, c.is_near,", "SELECT c.id, c.place, c.created_at, c.session, c.is_near,"),
    (
        "standing AS (SELECT j.*, j.score AS standing FROM judged j),",
        "standing AS ( SELECT j.*, j.score + CASE WHEN by_rank THEN 0 ELSE \
         0.1 * sum(j.score) FILTER (WHERE j.score_place <= 3) OVER (PARTITION BY j.session) END AS standing \
         FROM (SELECT i.*, row_number() OVER (PARTITION BY i.session ORDER BY i.score DESC NULLS LAST) AS score_place \
         FROM judged i) j),",
    ),
    (
        "fused AS (SELECT s.*, s.sum AS fused, NULL::double precision AS session_part FROM summed s),",
        "fused AS ( SELECT s.*, (s.sum + 0.1 * s.session_sum) / 1.3 AS fused, s.session_sum / 3 AS session_part \
         FROM (SELECT i.*, sum(i.sum) FILTER (WHERE i.sum_place <= 3) OVER (PARTITION BY i.session) AS session_sum \
         FROM (SELECT h.*, row_number() OVER (PARTITION BY h.session ORDER BY h.sum DESC) AS sum_place \
         FROM summed h) i) s),",
    ),
];

/// The statements of a file, without comments and line breaks.
fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("functions").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let code = text.lines().filter(|line| !line.trim_start().starts_with("--"));
    code.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

fn assert_follows(file: &str, table: &str, differences: &[&[Difference]]) {
    let mut expected = read(&format!("facts_{file}.sql"));
    for (fact, other) in differences.iter().copied().flatten() {
        expected = expected.replace(fact, other).split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let found = read(&format!("{table}_{file}.sql"));
    let (mut at, mut words) = (0_usize, found.split(' '));
    for word in expected.split(' ') {
        let context = || expected[at.saturating_sub(120)..(at + 120).min(expected.len())].to_owned();
        assert_eq!(
            words.next(),
            Some(word),
            "{table}_{file}.sql does not follow facts_{file}.sql near:\n…{}…",
            context()
        );
        at += word.len() + 1;
    }
    assert_eq!(words.next(), None, "{table}_{file}.sql has more than facts_{file}.sql");
}

#[test]
fn the_search_of_rules_follows_that_of_facts() {
    assert_follows("found", "rules", &[SHOWN_OF_RULES, NO_DATES, NO_NAMES, RULES]);
    assert_follows("legs", "rules", &[NO_DATES, NO_NAMES, RULES]);
    assert_follows("candidates", "rules", &[NO_DATES, NO_NAMES, RULES]);
    assert_follows("pool", "rules", &[RULES]);
    assert_follows("near_exact", "rules", &[RULES]);
}

#[test]
fn the_search_of_episodes_follows_that_of_facts() {
    assert_follows("found", "episodes", &[SHOWN_OF_EPISODES, SESSIONS, NO_DATES, NO_NAMES, EPISODES]);
    assert_follows("legs", "episodes", &[NO_DATES, NO_NAMES, EPISODES]);
    assert_follows("candidates", "episodes", &[NO_DATES, NO_NAMES, EPISODES]);
    assert_follows("pool", "episodes", &[EPISODES]);
}
