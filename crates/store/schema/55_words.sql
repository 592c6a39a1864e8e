-- The words of each tenant's memories and of the names of its entities, as written. A word of a query that is not among
-- them is misspelled, or not there at all: near_words finds those that are written alike.
--
-- Triggers keep the table, so that no way of writing a memory can miss it. A word is inserted unless the writer sees it.
-- There is no unique index on purpose: with one, a writer would wait for any other open transaction that writes the same
-- new word, and two could wait for each other. Instead, two writers at the same moment may both insert a word, which does
-- no harm. Nor does a word whose memory is gone: it finds nothing.

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
-- finds the words that a word without accents may stand for (accented_words)
CREATE INDEX words_accented ON words (tenant_id, folded) WHERE word <> folded;
-- The index for similar words needs pg_trgm: functions/create_word_trigrams.sql creates it at start.

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
