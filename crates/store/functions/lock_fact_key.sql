-- Serializes writers of one key, whatever its slot, also those that move facts from key to key. Released at the end of the
-- transaction.
CREATE OR REPLACE FUNCTION fact_key_lock(of_tenant text, in_scope text, of_holder text, of_predicate_key text)
RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT hashtextextended(concat_ws(E'\x1f', current_schema(), of_tenant, in_scope, of_holder, of_predicate_key), 20)
$$;
COMMENT ON FUNCTION fact_key_lock IS 'The number under which the key of a fact is locked.';

CREATE OR REPLACE FUNCTION lock_fact_key(of_tenant text, in_scope text, of_holder text, of_predicate_key text)
RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT pg_advisory_xact_lock(fact_key_lock(of_tenant, in_scope, of_holder, of_predicate_key))
$$;
COMMENT ON FUNCTION lock_fact_key IS 'Until the end of the transaction nobody else stores a fact of this key.';
