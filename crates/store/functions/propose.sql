-- Part of store_fact and store_rule: what needs approval waits in proposals.

CREATE OR REPLACE FUNCTION least_trusted(p_tenant text, p_source text, p_episodes uuid[]) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT s.source
    FROM (SELECT p_source AS source
          UNION ALL SELECT e.source FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = ANY (p_episodes)) s
    ORDER BY array_position(ARRAY['untrusted', 'import', 'session', 'agent', 'person'], s.source) LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION least_trusted FROM PUBLIC;
GRANT EXECUTE ON FUNCTION least_trusted TO butler_app;
COMMENT ON FUNCTION least_trusted IS 'The least trusted of a source and the sources of these episodes.';

CREATE OR REPLACE FUNCTION propose(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_memory_type text, p_id uuid, p_memory jsonb,
    p_statement_key text, p_source text)
RETURNS TABLE (outcome text, proposal_id uuid) LANGUAGE plpgsql AS $$
BEGIN
    -- What was approved once and is no longer known may be proposed again.
    UPDATE proposals p SET
        id = p_id, memory = p_memory, source = p_source, proposed_by = p_actor, created_at = p_at, state = 'open',
        decided_at = NULL, decided_by = NULL
        WHERE p.tenant_id = p_tenant AND p.statement_key = p_statement_key AND p.state = 'approved'
        RETURNING p.id INTO proposal_id;
    IF NOT FOUND THEN
        -- Keys of earlier versions have the second half only.
        SELECT p.id INTO proposal_id FROM proposals p
            WHERE p.tenant_id = p_tenant AND p.statement_key = right(p_statement_key, 32) AND p.state = 'open';
        IF FOUND THEN
            outcome := 'proposed';
            RETURN NEXT;
            RETURN;
        END IF;
        INSERT INTO proposals (id, tenant_id, memory_type, memory, statement_key, source, proposed_by, created_at)
            VALUES (p_id, p_tenant, p_memory_type, p_memory, p_statement_key, p_source, p_actor, p_at)
            ON CONFLICT (tenant_id, statement_key) DO NOTHING
            RETURNING proposals.id INTO proposal_id;
    END IF;
    IF proposal_id IS NOT NULL THEN
        outcome := 'proposed';
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'proposal_made', p_memory_type, p_id,
            jsonb_build_object('source', p_source));
    ELSE
        SELECT p.id, CASE p.state WHEN 'rejected' THEN 'rejected' ELSE 'proposed' END INTO proposal_id, outcome
            FROM proposals p WHERE p.tenant_id = p_tenant AND p.statement_key = p_statement_key;
    END IF;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION propose FROM PUBLIC;
GRANT EXECUTE ON FUNCTION propose TO butler_app;
COMMENT ON FUNCTION propose IS 'Keeps a memory until a person approves it. outcome: proposed (also if it was before), or rejected.';

-- The key of a proposal has 32 digits for the statement, then 32 for the statement with its scope and dates: in another scope
-- or with other dates it is another proposal, but a rejection holds for all of them.
CREATE OR REPLACE FUNCTION fact_statement(p_holder text, p_predicate_key text, p_content text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT md5('fact' || E'\x1f' || p_holder || E'\x1f' || p_predicate_key || E'\x1f' || content_key(p_content))
$$;
COMMENT ON FUNCTION fact_statement IS 'A hash of what a fact states, whatever its scope and dates.';

-- Keys of earlier versions have the second half only.
CREATE OR REPLACE FUNCTION was_rejected(p_tenant text, p_key text, p_statements text[]) RETURNS boolean
LANGUAGE sql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
    SELECT bool_or(EXISTS (
        SELECT FROM proposals p
        WHERE p.tenant_id = p_tenant AND p.statement_key COLLATE "C" BETWEEN k.least AND k.greatest AND p.state = 'rejected'))
    FROM (SELECT s || repeat('0', 32), s || repeat('f', 32) FROM unnest(p_statements) AS s
          UNION ALL SELECT right(p_key, 32), right(p_key, 32)) AS k (least, greatest)
$$;
REVOKE EXECUTE ON FUNCTION was_rejected FROM PUBLIC;
GRANT EXECUTE ON FUNCTION was_rejected TO butler_app;
COMMENT ON FUNCTION was_rejected IS 'Whether a person rejected a proposal with this key, or with one of these statements.';
