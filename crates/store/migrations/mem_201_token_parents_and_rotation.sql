-- Tokens know the token that made them, so that a revocation reaches all its descendants, and keep their id when their
-- secret is rotated. The parents of existing tokens are unknown.

ALTER TABLE tokens
    ADD COLUMN parent_id uuid,
    ADD COLUMN rotated_at timestamptz,
    ADD COLUMN previous_hash bytea,
    ADD COLUMN previous_until timestamptz,
    ADD CONSTRAINT tokens_previous_length CHECK (octet_length(previous_hash) = 32),
    ADD CONSTRAINT tokens_rotation_whole CHECK (num_nulls(rotated_at, previous_hash, previous_until) IN (0, 3));
COMMENT ON COLUMN tokens.parent_id IS 'The token that created this one. Revoking a token revokes all its descendants.';
COMMENT ON COLUMN tokens.rotated_at IS 'When the token got its current secret; NULL: when it was created.';
COMMENT ON COLUMN tokens.previous_hash IS 'The secret before the last rotation, accepted until previous_until.';

-- Lists and logs show names. Control characters were accepted in them.
UPDATE tokens SET name = btrim(regexp_replace(name, '[[:cntrl:]]+', ' ', 'g')) WHERE name ~ '[[:cntrl:]]|^\s|\s$';

DROP TRIGGER tokens_tell ON tokens;
CREATE TRIGGER tokens_tell
    AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF tenant_id, butler, name, token_hash, rights, expires_at, revoked_at,
        parent_id, rotated_at, previous_hash, previous_until
    ON tokens FOR EACH STATEMENT EXECUTE FUNCTION tell_of_tokens();
