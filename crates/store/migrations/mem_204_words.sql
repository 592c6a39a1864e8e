-- Misspelled words are corrected to words that the tenant's memories contain. The vocabulary is kept by triggers and filled
-- here from what is stored already. The functions of functions/ do not exist yet, so the migration brings its own
-- memory_words and folded_word.

CREATE TABLE words (
    tenant_id text NOT NULL DEFAULT 'default',
    word      text NOT NULL,
    folded    text NOT NULL
);
COMMENT ON TABLE words IS 'The words of a tenant''s memories and entities, to correct misspelled queries. A word may occur twice.';
COMMENT ON COLUMN words.word IS 'In lower case, 4 to 40 letters of an alphabet, no stop word (memory_words).';
COMMENT ON COLUMN words.folded IS 'Without accents (folded_word).';
-- text_pattern_ops: a prefix is a range of this index, whatever the database's collation
CREATE INDEX words_word ON words (tenant_id, word text_pattern_ops);

GRANT SELECT, INSERT ON words TO butler_app;
ALTER TABLE words ENABLE ROW LEVEL SECURITY;
ALTER TABLE words FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON words TO butler_app
    USING (tenant_id = current_setting('butler.tenant', true)) WITH CHECK (tenant_id = current_setting('butler.tenant', true));
CREATE POLICY owner_all ON words TO CURRENT_USER USING (true) WITH CHECK (true);

-- Until the program has created its own: another server may store a memory in between.
CREATE FUNCTION note_words(p_tenant text, p_texts text[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN END $$;

CREATE FUNCTION words_stored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'facts' THEN
        PERFORM note_words(s.tenant_id, array_agg(concat_ws(' ', s.subject, s.predicate, s.content))) FROM stored s GROUP BY s.tenant_id;
    ELSIF TG_TABLE_NAME = 'entities' THEN
        PERFORM note_words(s.tenant_id, array_agg(s.lower_names)) FROM stored s GROUP BY s.tenant_id;
    ELSE
        PERFORM note_words(s.tenant_id, array_agg(s.content)) FROM stored s GROUP BY s.tenant_id;
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION words_stored IS 'Trigger: notes the words of new rows.';
CREATE TRIGGER words_stored AFTER INSERT ON episodes REFERENCING NEW TABLE AS stored
    FOR EACH STATEMENT EXECUTE FUNCTION words_stored();
CREATE TRIGGER words_stored AFTER INSERT ON facts REFERENCING NEW TABLE AS stored
    FOR EACH STATEMENT EXECUTE FUNCTION words_stored();
CREATE TRIGGER words_stored AFTER INSERT ON rules REFERENCING NEW TABLE AS stored
    FOR EACH STATEMENT EXECUTE FUNCTION words_stored();
CREATE TRIGGER words_stored AFTER INSERT ON entities REFERENCING NEW TABLE AS stored
    FOR EACH STATEMENT EXECUTE FUNCTION words_stored();

-- Only a rule's text and an entity's names ever change. For each row, because a trigger for a statement cannot be limited
-- to columns, and would run whenever references are counted.
CREATE FUNCTION words_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'entities' THEN
        PERFORM note_words(NEW.tenant_id, ARRAY[NEW.lower_names]);
    ELSE
        PERFORM note_words(NEW.tenant_id, ARRAY[NEW.content]);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION words_changed IS 'Trigger: notes the words of a changed row.';
CREATE TRIGGER words_changed AFTER UPDATE OF content ON rules FOR EACH ROW EXECUTE FUNCTION words_changed();
CREATE TRIGGER words_changed AFTER UPDATE OF canonical_name, aliases ON entities FOR EACH ROW EXECUTE FUNCTION words_changed();

-- The triggers have locked the tables, so no memory can be missed between them and this.
CREATE FUNCTION pg_temp.words_of(body text) RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN ARRAY(SELECT w.word FROM unnest(tsvector_to_array(to_tsvector('pg_catalog.simple', left(body, 65536)))) AS w (word)
                 WHERE length(w.word) BETWEEN 4 AND 40 AND w.word !~ '[^a-z\u00aa-\u0dff\u1e00-\u1fff]'
                   -- the stop words of the english configuration, which no search finds
                   AND w.word <> ALL ('{
                       myself,ours,ourselves,your,yours,yourself,yourselves,himself,hers,herself,itself,they,
                       them,their,theirs,themselves,what,which,whom,this,that,these,those,were,been,being,
                       have,having,does,doing,because,until,while,with,about,against,between,into,through,
                       during,before,after,above,below,from,down,over,under,again,further,then,once,here,
                       there,when,where,both,each,more,most,other,some,such,only,same,than,very,will,just,
                       should}'::text[]));
END $$;
CREATE FUNCTION pg_temp.folded(word text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF octet_length(word) = length(word) OR getdatabaseencoding() <> 'UTF8' THEN
        RETURN word;
    END IF;
    RETURN replace(replace(replace(replace(
        regexp_replace(normalize(translate(word, 'øłđðħıŧ', 'olddhit'), NFD), '[\u0300-\u036f]', '', 'g'),
        'æ', 'ae'), 'œ', 'oe'), 'ß', 'ss'), 'þ', 'th');
END $$;

INSERT INTO words (tenant_id, word, folded)
    SELECT d.tenant_id, d.word, pg_temp.folded(d.word)
    FROM (SELECT tenant_id, unnest(pg_temp.words_of(content)) AS word FROM episodes
          UNION
          SELECT tenant_id, unnest(pg_temp.words_of(concat_ws(' ', subject, predicate, content))) FROM facts
          UNION
          SELECT tenant_id, unnest(pg_temp.words_of(content)) FROM rules
          UNION
          SELECT tenant_id, unnest(pg_temp.words_of(lower_names)) FROM entities) d;

DROP FUNCTION pg_temp.words_of;
DROP FUNCTION pg_temp.folded;
