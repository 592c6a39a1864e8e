-- The functions of uuid-ossp that need no library. The fetched PostgreSQL is built without one, and a migration
-- that says CREATE EXTENSION "uuid-ossp" must work there as everywhere else.
-- Left out: version 1 (needs the machine's network address) and version 5 (needs SHA-1).
\echo Use "CREATE EXTENSION ""uuid-ossp""" to load this file. \quit

CREATE FUNCTION uuid_nil() RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT '00000000-0000-0000-0000-000000000000'::pg_catalog.uuid $$;

CREATE FUNCTION uuid_ns_dns() RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT '6ba7b810-9dad-11d1-80b4-00c04fd430c8'::pg_catalog.uuid $$;

CREATE FUNCTION uuid_ns_url() RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT '6ba7b811-9dad-11d1-80b4-00c04fd430c8'::pg_catalog.uuid $$;

CREATE FUNCTION uuid_ns_oid() RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT '6ba7b812-9dad-11d1-80b4-00c04fd430c8'::pg_catalog.uuid $$;

CREATE FUNCTION uuid_ns_x500() RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT '6ba7b814-9dad-11d1-80b4-00c04fd430c8'::pg_catalog.uuid $$;

CREATE FUNCTION uuid_generate_v4() RETURNS uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.gen_random_uuid() $$;

-- MD5 of namespace and name, with the version nibble set to 3 and the variant bits to 10 (RFC 9562, section 5.3).
CREATE FUNCTION uuid_generate_v3(namespace uuid, name text) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT pg_catalog.encode(
        pg_catalog.set_byte(
            pg_catalog.set_byte(hash, 6, (pg_catalog.get_byte(hash, 6) & 15) | 48),
            8, (pg_catalog.get_byte(hash, 8) & 63) | 128),
        'hex')::pg_catalog.uuid
    FROM (SELECT pg_catalog.decode(pg_catalog.md5(pg_catalog.uuid_send(namespace) || pg_catalog.convert_to(name, 'UTF8')), 'hex') AS hash) AS h
    $$;
