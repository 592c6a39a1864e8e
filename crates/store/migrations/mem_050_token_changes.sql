-- mem_050: a server keeps the tokens in memory, so that a request costs no round trip. It must learn of a token that
-- was made or revoked by another process, or by hand, within a second, and without asking again and again.

CREATE FUNCTION tell_of_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- the channel is the database's: the payload says which butler's schema it was
    PERFORM pg_notify('butler_tokens', TG_TABLE_SCHEMA);
    RETURN NULL;
END $$;

-- last_used_at is left out: a use changes nothing about who may enter
CREATE TRIGGER tokens_tell
    AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF tenant_id, butler, name, token_hash, rights, expires_at, revoked_at
    ON tokens FOR EACH STATEMENT EXECUTE FUNCTION tell_of_tokens();
