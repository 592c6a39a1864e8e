-- OAuth for remote clients. A grant is what a person allowed a client; its access token is the token with the same id.
-- Clients and logins are in the database of the first butler, grants in that of the butler they open.

CREATE TABLE oauth_clients (
    id            text PRIMARY KEY,
    name          text NOT NULL,
    redirect_uris text[] NOT NULL,
    created_at    timestamptz NOT NULL,
    granted       boolean NOT NULL DEFAULT false,
    CONSTRAINT oauth_clients_redirects CHECK (cardinality(redirect_uris) > 0),
    CONSTRAINT oauth_clients_times_plausible CHECK (time_is_plausible(created_at))
);
COMMENT ON TABLE oauth_clients IS 'OAuth clients that registered themselves. They have no secret.';
COMMENT ON COLUMN oauth_clients.granted IS 'Whether a person ever allowed it anything. If there are too many, others are removed.';

CREATE TABLE oauth_logins (
    id                 uuid PRIMARY KEY,
    tenant_id          text NOT NULL DEFAULT 'default',
    butler             text,
    rights             text[] NOT NULL,
    link_hash          bytea NOT NULL,
    link_expires_at    timestamptz NOT NULL,
    session_hash       bytea,
    session_expires_at timestamptz,
    created_at         timestamptz NOT NULL,
    CONSTRAINT oauth_logins_link_unique UNIQUE (link_hash),
    CONSTRAINT oauth_logins_session_unique UNIQUE (session_hash),
    CONSTRAINT oauth_logins_hash_length CHECK (octet_length(link_hash) = 32 AND octet_length(session_hash) = 32),
    CONSTRAINT oauth_logins_rights_known CHECK (cardinality(rights) > 0 AND rights <@ ARRAY['read', 'write', 'admin']),
    CONSTRAINT oauth_logins_session_whole CHECK (num_nulls(session_hash, session_expires_at) IN (0, 2)),
    CONSTRAINT oauth_logins_times_plausible
        CHECK (time_is_plausible(link_expires_at) AND time_is_plausible(session_expires_at) AND time_is_plausible(created_at))
);
COMMENT ON TABLE oauth_logins IS 'Links of `butler login-link`, and the browser session that each one opened.';
COMMENT ON COLUMN oauth_logins.butler IS 'The only butler that this person may give access to; NULL: any.';
COMMENT ON COLUMN oauth_logins.rights IS 'The most that this person may allow a client.';
COMMENT ON COLUMN oauth_logins.session_hash IS 'SHA-256 of the session''s cookie; NULL: the link was not used yet.';

CREATE TABLE oauth_grants (
    id               uuid PRIMARY KEY,
    tenant_id        text NOT NULL DEFAULT 'default',
    butler           text NOT NULL,
    rights           text[] NOT NULL,
    client_id        text NOT NULL,
    client_name      text NOT NULL,
    redirect_uri     text NOT NULL,
    login_id         uuid NOT NULL,
    created_at       timestamptz NOT NULL,
    code_hash        bytea NOT NULL,
    code_challenge   text NOT NULL,
    code_expires_at  timestamptz NOT NULL,
    code_used_at     timestamptz,
    expires_at       timestamptz,
    CONSTRAINT oauth_grants_code_unique UNIQUE (code_hash),
    CONSTRAINT oauth_grants_code_length CHECK (octet_length(code_hash) = 32),
    CONSTRAINT oauth_grants_rights_known CHECK (cardinality(rights) > 0 AND rights <@ ARRAY['read', 'write', 'admin']),
    CONSTRAINT oauth_grants_times_plausible
        CHECK (time_is_plausible(created_at) AND time_is_plausible(code_expires_at) AND time_is_plausible(code_used_at)
               AND time_is_plausible(expires_at))
);
COMMENT ON TABLE oauth_grants IS
    'What people allowed OAuth clients. The token with the same id is the access token: it holds the revocation and the last use.';
COMMENT ON COLUMN oauth_grants.login_id IS 'The login whose session allowed it.';
COMMENT ON COLUMN oauth_grants.code_challenge IS 'PKCE: the S256 challenge that the code''s verifier must match.';
COMMENT ON COLUMN oauth_grants.code_used_at IS 'When the code was presented. It works once; a second time revokes the grant.';
COMMENT ON COLUMN oauth_grants.expires_at IS 'Until when the client may refresh its access; NULL: the code was not exchanged.';
COMMENT ON COLUMN oauth_grants.butler IS 'The only butler that the client may use.';
COMMENT ON COLUMN oauth_grants.rights IS 'What the person allowed, at most the rights of the login.';
COMMENT ON COLUMN oauth_grants.code_hash IS 'SHA-256 of the authorization code, which the client exchanges for tokens.';
CREATE INDEX oauth_grants_tenant ON oauth_grants (tenant_id, created_at DESC);

CREATE TABLE oauth_refresh_tokens (
    token_hash     bytea PRIMARY KEY,
    tenant_id      text NOT NULL DEFAULT 'default',
    grant_id       uuid NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
    created_at     timestamptz NOT NULL,
    replaced_at    timestamptz,
    successor_seed bytea,
    CONSTRAINT oauth_refresh_tokens_hash_length CHECK (octet_length(token_hash) = 32),
    CONSTRAINT oauth_refresh_tokens_times_plausible CHECK (time_is_plausible(created_at) AND time_is_plausible(replaced_at)),
    CONSTRAINT oauth_refresh_tokens_seed_length CHECK (octet_length(successor_seed) = 32)
);
COMMENT ON TABLE oauth_refresh_tokens IS
    'Refresh tokens of grants, also replaced ones: whoever presents one of those makes the grant be revoked.';
COMMENT ON COLUMN oauth_refresh_tokens.successor_seed IS
    'Seed from which, together with the token, its successors are derived. NULL: not replaced recently.';
CREATE INDEX oauth_refresh_tokens_grant ON oauth_refresh_tokens (grant_id, created_at DESC);
