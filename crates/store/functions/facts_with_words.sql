-- What to ask the word index for, in a tenant that is not small.
--
-- Each typed word is a prefix, and for a prefix the index first collects the rows of all tenants: of a million facts that
-- all say "note", `note 4321` collected a million. So a sample of the tenant's facts tells which words are frequent;
-- those are checked on the rows that the others lead to.
CREATE OR REPLACE FUNCTION facts_with_words(p_tenant text, p_words tsquery, OUT indexed tsquery, OUT ids uuid[], OUT often boolean)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
    -- The sample: from each of 30 parts of the tenant's time, 10 facts.
    parts constant integer := 30;
    each constant integer := 10;
    -- A word in at most this share of the sample.
    rare constant double precision := 0.01;
    uncommon constant double precision := 0.1;
    -- Matches of all tenants that are read at most.
    most constant integer := 3000;
    since timestamptz;
    until timestamptz;
    part_end timestamptz;
    before timestamptz := 'infinity';
    sample tsvector[] := '{}';
    found tsvector[];
    rarest tsquery;
BEGIN
    -- The sample, from the newest back and without replacement: where nothing was stored for long, the next older facts
    -- are taken.
    SELECT min(f.created_at), max(f.created_at) INTO since, until FROM facts f WHERE f.tenant_id = p_tenant;
    FOR part IN 1 .. parts LOOP
        part_end := until - (until - since) * ((part - 1)::double precision / parts) + interval '1 microsecond';
        SELECT array_agg(s.search_vector), min(s.created_at) INTO found, before
            FROM (SELECT f.search_vector, f.created_at FROM facts f
                  WHERE f.tenant_id = p_tenant AND f.created_at < least(before, part_end)
                  ORDER BY f.created_at DESC, f.id LIMIT each) s;
        EXIT WHEN found IS NULL;
        sample := sample || found;
    END LOOP;

    -- Which words are frequent in it.
    WITH terms AS MATERIALIZED (
        SELECT t.term, (SELECT count(*) FROM unnest(sample) AS s (words) WHERE s.words @@ t.term::tsquery)::double precision
                       / greatest(1, cardinality(sample)) AS share
        FROM unnest(query_terms(p_words)) AS t (term))
    SELECT string_agg(term, ' & ') FILTER (WHERE share <= greatest(uncommon, 4 * (SELECT min(share) FROM terms)))::tsquery,
           string_agg(term, ' & ') FILTER (WHERE share <= rare)::tsquery
        INTO indexed, rarest FROM terms;
    often := (SELECT count(*) > 0.02 * cardinality(sample) FROM unnest(sample) AS s (words) WHERE s.words @@ p_words);

    -- The facts with the rare words.
    IF rarest IS NOT NULL THEN
        SELECT CASE WHEN count(*) < most THEN coalesce(array_agg(m.id) FILTER (WHERE m.tenant_id = p_tenant), '{}') END INTO ids
            FROM (SELECT f.id, f.tenant_id FROM facts f WHERE f.search_vector @@ rarest LIMIT most) m;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION facts_with_words FROM PUBLIC;
COMMENT ON FUNCTION facts_with_words IS
    'indexed: the less frequent words. ids: the tenant''s facts with the rare words, NULL if there are none or too many. '
    'often: several in a hundred of its facts have all words.';
