CREATE OR REPLACE FUNCTION content_key(content text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    composed text := content;
BEGIN
    IF octet_length(content) <> length(content) AND getdatabaseencoding() = 'UTF8' THEN
        composed := normalize(content, NFC);
    END IF;
    RETURN md5(lower(btrim(regexp_replace(composed, '[[:space:]]+', ' ', 'g'), ' .!')));
END $$;
COMMENT ON FUNCTION content_key IS
    'A hash of a statement. Case, Unicode composition, white space, and full stops and exclamation marks at its ends do not count.';
