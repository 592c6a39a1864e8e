-- mem_020: what a write needs the server itself to do, so that it stays one round trip.

-- The decayed confidence, for statements that filter or sweep by it. The same arithmetic as domain::decay (a test holds
-- them together), in microseconds so that both divide the same numbers. PostgreSQL raises an error where a product or
-- exp() would round to zero, so what is that small is zero beforehand: no threshold lies below it. Plain expressions,
-- because the planner then writes them into the query instead of calling a function for each row.
CREATE FUNCTION days_between(earlier timestamptz, later timestamptz)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (extract(epoch FROM later - earlier) * 1000000)::double precision / 86400000000.0
$$;
CREATE FUNCTION effective_confidence(
    confidence double precision, decay_rate double precision, confirmed_at timestamptz, at timestamptz
) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN decay_rate = 0 THEN confidence
        WHEN confirmed_at IS NULL THEN 0
        WHEN at <= confirmed_at OR decay_rate < 1e-100 THEN confidence
        WHEN confidence < 1e-40 OR decay_rate > 600 / days_between(confirmed_at, at) THEN 0
        ELSE confidence * exp(-decay_rate * days_between(confirmed_at, at))
    END
$$;

-- Makes room for a new fact: waits for other writers of the same key, then supersedes the fact that is active now.
-- A statement sees the data as of its start, hence before such a wait; the statements inside a volatile function see
-- what was committed during it. That is why this is a function, and why storing a fact needs no transaction block.
-- Nothing happens unless `allowed`: the caller's checks run in the same statement.
CREATE FUNCTION supersede_active_fact(
    allowed boolean, of_tenant text, of_entity uuid, in_scope text, of_subject text, of_predicate text
) RETURNS TABLE (old_id uuid) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF NOT allowed THEN
        RETURN;
    END IF;
    PERFORM lock_fact_key(of_tenant, of_entity, in_scope, of_subject, of_predicate);
    IF of_entity IS NULL THEN
        RETURN QUERY
            UPDATE facts f SET validity = 'superseded'
            WHERE f.tenant_id = of_tenant AND f.scope = in_scope AND f.subject = of_subject
              AND f.predicate = of_predicate AND f.entity_id IS NULL AND f.validity = 'active'
            RETURNING f.id;
    ELSE
        RETURN QUERY
            UPDATE facts f SET validity = 'superseded'
            WHERE f.tenant_id = of_tenant AND f.entity_id = of_entity AND f.scope = in_scope
              AND f.predicate = of_predicate AND f.validity = 'active'
            RETURNING f.id;
    END IF;
END $$;

-- Until the end of the transaction nobody else stores a fact of this key. For whoever moves facts from key to key, too.
CREATE FUNCTION lock_fact_key(of_tenant text, of_entity uuid, in_scope text, of_subject text, of_predicate text)
RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT pg_advisory_xact_lock(hashtextextended(
        concat_ws(E'\x1f', current_schema(), of_tenant, in_scope, coalesce(of_entity::text, of_subject), of_predicate), 20))
$$;

-- The inversion job asks for these every time it is woken; there are hardly ever any.
CREATE INDEX rules_needs_inversion ON rules (tenant_id, id) WHERE metadata -> 'needs_inversion' = 'true';

-- Whether a link's end is there: links outlive expired episodes on purpose, so no foreign key can say it.
CREATE FUNCTION memory_exists(of_tenant text, of_type text, of_id uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE of_type
        WHEN 'episode' THEN EXISTS (SELECT FROM episodes WHERE tenant_id = of_tenant AND id = of_id)
        WHEN 'fact' THEN EXISTS (SELECT FROM facts WHERE tenant_id = of_tenant AND id = of_id)
        WHEN 'rule' THEN EXISTS (SELECT FROM rules WHERE tenant_id = of_tenant AND id = of_id)
        ELSE false
    END
$$;
