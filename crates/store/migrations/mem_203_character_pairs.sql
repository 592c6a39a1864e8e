-- Keyword search finds Chinese, Japanese, Thai, Lao, Khmer and Burmese by pairs of characters. The search vectors of existing
-- memories in these scripts are made again; all others stay. The functions of functions/ do not exist yet, so the migration
-- brings its own: script_pairs and memory_search_vector in one.
CREATE FUNCTION pg_temp.paired_vector(body text) RETURNS tsvector LANGUAGE plpgsql AS $$
DECLARE
    letters constant text := '\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3041-\u3096\u309d-\u309f\u30a1-\u30fa'
        '\u30fc-\u30ff\uff66-\uff9d\u0e01-\u0e30\u0e32-\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2-\u0eb3\u0ebd'
        '\u0ec0-\u0ec6\u0edc-\u0edf\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065-\u1066'
        '\u106e-\u1070\u1075-\u1081\u108e\uaa60-\uaa76\u1780-\u17b3\u17d7\u17dc';
    marks constant text := '\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059'
        '\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u17b4-\u17d3\u17dd'
        '\u3099-\u309a\uff9e-\uff9f';
    any_of_them constant text := letters || marks;
BEGIN
    -- NULL: no such character.
    IF octet_length(body) = length(body) OR body !~ ('[' || letters || ']') THEN
        RETURN NULL;
    END IF;
    body := regexp_replace(
        regexp_replace(body, format('(?<=[%1$s])(?=[^%1$s\s])|(?<=[^%1$s\s])(?=[%1$s])', any_of_them), ' ', 'g'),
        format('(?<=[%s])([%s][%s]*)(?=[%s])', any_of_them, letters, marks, letters), '\1 \1', 'g');
    LOOP
        BEGIN
            RETURN to_tsvector('pg_catalog.english', body);
        EXCEPTION
            WHEN program_limit_exceeded THEN body := left(body, length(body) / 2);
        END;
    END LOOP;
END $$;

UPDATE episodes m SET search_vector = v.paired
    FROM (SELECT id, pg_temp.paired_vector(content) AS paired FROM episodes) v WHERE v.id = m.id AND v.paired IS NOT NULL;
UPDATE facts m SET search_vector = v.paired
    FROM (SELECT id, pg_temp.paired_vector(concat_ws(' ', subject, predicate, content)) AS paired FROM facts) v
    WHERE v.id = m.id AND v.paired IS NOT NULL;
UPDATE rules m SET search_vector = v.paired
    FROM (SELECT id, pg_temp.paired_vector(content) AS paired FROM rules) v WHERE v.id = m.id AND v.paired IS NOT NULL;

DROP FUNCTION pg_temp.paired_vector;
