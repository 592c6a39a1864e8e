-- Changes of tokens. Each takes the same lock first: a revocation must see every token that its holder made, even at the
-- same moment, and two live tokens must not share a name. The owner's sessions call these; butler_app sees no tokens.

CREATE OR REPLACE FUNCTION lock_tokens() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('butler_tokens.' || current_schema(), 0));
END $$;
REVOKE EXECUTE ON FUNCTION lock_tokens FROM PUBLIC;
COMMENT ON FUNCTION lock_tokens IS 'Lets one transaction at a time change the tokens of this schema.';

CREATE OR REPLACE FUNCTION token_is_live(p_revoked_at timestamptz, p_expires_at timestamptz, p_at timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_revoked_at IS NULL AND (p_expires_at IS NULL OR p_expires_at > p_at)
$$;
REVOKE EXECUTE ON FUNCTION token_is_live FROM PUBLIC;
COMMENT ON FUNCTION token_is_live IS 'Whether a token is neither revoked nor expired.';

-- A parent that is not here was not copied to this database yet, and the server refuses the descendants of a token that is
-- revoked in any database.
CREATE OR REPLACE FUNCTION create_token(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_token jsonb)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    token record;
BEGIN
    SELECT * INTO token FROM jsonb_to_record(p_token) AS given (
        id uuid, butler text, name text, token_hash bytea, rights text[], expires_at timestamptz, parent_id uuid);
    PERFORM lock_tokens();
    IF EXISTS (SELECT FROM tokens t WHERE t.id = token.parent_id AND NOT token_is_live(t.revoked_at, t.expires_at, p_at)) THEN
        RETURN 'parent_not_live';
    END IF;
    IF token.name <> '' AND EXISTS (
        SELECT FROM tokens t WHERE t.tenant_id = p_tenant AND t.butler IS NOT DISTINCT FROM token.butler AND t.name = token.name
            AND token_is_live(t.revoked_at, t.expires_at, p_at)) THEN
        RETURN 'name_taken';
    END IF;
    INSERT INTO tokens (id, tenant_id, butler, name, token_hash, rights, created_at, expires_at, parent_id)
        VALUES (token.id, p_tenant, token.butler, token.name, token.token_hash, token.rights, p_at, token.expires_at, token.parent_id);
    PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, p_event_id, 'token_created', NULL, NULL,
        jsonb_build_object('token_id', token.id, 'name', token.name, 'butler', token.butler, 'rights', token.rights,
                           'expires_at', token.expires_at, 'parent_id', token.parent_id));
    RETURN 'created';
END $$;
REVOKE EXECUTE ON FUNCTION create_token FROM PUBLIC;
COMMENT ON FUNCTION create_token IS
    'Creates a token unless its parent was revoked or has expired, or a live token of the same tenant and butler has its name.';

CREATE OR REPLACE FUNCTION revoke_tokens(p_actor text, p_request_id text, p_at timestamptz, p_ids uuid[])
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    token record;
    revoked_ids uuid[] := '{}';
BEGIN
    PERFORM lock_tokens();
    FOR token IN
        WITH RECURSIVE family (id) AS (
            SELECT unnest(p_ids)
            UNION
            SELECT t.id FROM tokens t JOIN family f ON t.parent_id = f.id
        )
        UPDATE tokens t SET revoked_at = p_at FROM family f WHERE t.id = f.id AND t.revoked_at IS NULL
            RETURNING t.id, t.tenant_id, t.name, t.parent_id
    LOOP
        PERFORM record_event(token.tenant_id, p_actor, p_request_id, p_at, gen_random_uuid(), 'token_revoked', NULL, NULL,
            jsonb_build_object('token_id', token.id, 'name', token.name, 'parent_id', token.parent_id,
                               'with_parent', token.id <> ALL (p_ids)));
        revoked_ids := revoked_ids || token.id;
    END LOOP;
    RETURN revoked_ids;
END $$;
REVOKE EXECUTE ON FUNCTION revoke_tokens FROM PUBLIC;
COMMENT ON FUNCTION revoke_tokens IS
    'Revokes these tokens and all tokens they made, directly or not; returns those that were not revoked before.';

CREATE OR REPLACE FUNCTION rotate_token(
    p_actor text, p_request_id text, p_at timestamptz, p_event_id uuid, p_id uuid, p_hash bytea, p_grace_until timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    token tokens;
BEGIN
    PERFORM lock_tokens();
    SELECT * INTO token FROM tokens t WHERE t.id = p_id;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF NOT token_is_live(token.revoked_at, token.expires_at, p_at) THEN
        RETURN false;
    END IF;
    UPDATE tokens t SET token_hash = p_hash, rotated_at = p_at, previous_hash = t.token_hash, previous_until = p_grace_until
        WHERE t.id = p_id;
    PERFORM record_event(token.tenant_id, p_actor, p_request_id, p_at, p_event_id, 'token_rotated', NULL, NULL,
        jsonb_build_object('token_id', p_id, 'name', token.name, 'grace_until', p_grace_until));
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION rotate_token FROM PUBLIC;
COMMENT ON FUNCTION rotate_token IS
    'Gives a live token a new secret; the old one works until p_grace_until. NULL: there is no such token.';
