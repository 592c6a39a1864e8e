-- An object that is stored as text has a metadata key that callers cannot set. Before, it shared `object` with whatever
-- callers kept there.
DROP INDEX facts_unlinked_object;
UPDATE facts SET metadata = (metadata - 'object') || jsonb_build_object('unlinked_object', metadata -> 'object')
    WHERE object_entity_id IS NULL AND jsonb_typeof(metadata -> 'object') = 'string';
CREATE INDEX facts_unlinked_object ON facts (tenant_id, hashtextextended(folded_name(metadata ->> 'unlinked_object'), 41))
    WHERE object_entity_id IS NULL AND validity = 'active' AND metadata ? 'unlinked_object';

-- A refresh that is sent several times at once gets the same tokens each time. They follow from the refresh token, which only
-- the client has, and this seed.
ALTER TABLE oauth_refresh_tokens
    ADD COLUMN successor_seed bytea,
    ADD CONSTRAINT oauth_refresh_tokens_seed_length CHECK (octet_length(successor_seed) = 32);
COMMENT ON COLUMN oauth_refresh_tokens.successor_seed IS
    'Seed from which, together with the token, its successors are derived. NULL: not replaced recently.';
