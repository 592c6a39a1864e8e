-- A retry with the same key reads this response (store::idempotency). Two concurrent calls with one key: the primary key
-- rejects the second, and with it all that the second call wrote.
CREATE OR REPLACE FUNCTION keep_response(p_tenant text, p_at timestamptz, p_request jsonb, p_response jsonb)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_request IS NOT NULL THEN
        INSERT INTO idempotency_keys (tenant_id, key, tool, request, response, created_at)
            VALUES (p_tenant, p_request ->> 'key', p_request ->> 'tool', decode(p_request ->> 'digest', 'hex'), p_response, p_at);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION keep_response FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_response TO butler_app;
COMMENT ON FUNCTION keep_response IS
    'Keeps the response to a request that has an idempotency key; p_request is NULL for one without.';
