-- Scripts without spaces between words, for keyword search: the same as butler_domain::scripts::pair_characters, for text that
-- only the database has (a test compares the two). The parser takes a whole sentence of such a script for one word.
--
-- letters start a syllable or stand alone; marks belong to the letter before them.
CREATE OR REPLACE FUNCTION script_pairs(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
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
    IF octet_length(body) = length(body) OR body !~ ('[' || letters || ']') THEN
        RETURN body;
    END IF;
    -- First spaces between a run and other text; then each character in the middle of a run twice: it ends one pair and
    -- starts the next.
    RETURN regexp_replace(
        regexp_replace(body, format('(?<=[%1$s])(?=[^%1$s\s])|(?<=[^%1$s\s])(?=[%1$s])', any_of_them), ' ', 'g'),
        format('(?<=[%s])([%s][%s]*)(?=[%s])', any_of_them, letters, marks, letters), '\1 \1', 'g');
END $$;
COMMENT ON FUNCTION script_pairs IS
    'Each run of Han, Kana, Thai, Lao, Khmer or Burmese as its overlapping pairs of characters, separated by spaces.';
