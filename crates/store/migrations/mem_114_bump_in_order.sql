-- mem_114: references are counted in the order of ids, said rather than hoped for.
--
-- mem_090 relied on the way an index is scanned. With few rows and no statistics the planner takes an index in whose order
-- the ids are not, sessions differ in which, and two calls that count the same rows waited for each other until the server
-- ended one of them: its counts were lost.
CREATE OR REPLACE FUNCTION memory_bump(p_tenant text, p_at timestamptz, p_facts uuid[], p_rules uuid[], p_episodes uuid[])
    RETURNS void LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    IF cardinality(p_facts) > 0 THEN
        PERFORM FROM facts WHERE id = ANY (p_facts) AND tenant_id = p_tenant ORDER BY id FOR NO KEY UPDATE;
        UPDATE facts SET reference_count = reference_count + 1, last_referenced_at = p_at WHERE id = ANY (p_facts) AND tenant_id = p_tenant;
    END IF;
    IF cardinality(p_rules) > 0 THEN
        PERFORM FROM rules WHERE id = ANY (p_rules) AND tenant_id = p_tenant ORDER BY id FOR NO KEY UPDATE;
        UPDATE rules SET reference_count = reference_count + 1, last_referenced_at = p_at WHERE id = ANY (p_rules) AND tenant_id = p_tenant;
    END IF;
    IF cardinality(p_episodes) > 0 THEN
        PERFORM FROM episodes WHERE id = ANY (p_episodes) AND tenant_id = p_tenant ORDER BY id FOR NO KEY UPDATE;
        UPDATE episodes SET reference_count = reference_count + 1, last_referenced_at = p_at WHERE id = ANY (p_episodes) AND tenant_id = p_tenant;
    END IF;
END $$;
