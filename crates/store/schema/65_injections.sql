-- What agents were given: which memories, in which session and call; and the ends of ids by which they refer to them.

CREATE TABLE injections (
    id           uuid NOT NULL,
    tenant_id    text NOT NULL DEFAULT 'default',
    kind         text NOT NULL,
    actor        text,
    session_id   text,
    request_id   text,
    query_hash   bytea,
    memory_types text[] NOT NULL,
    memory_ids   uuid[] NOT NULL,
    scores       real[] NOT NULL,
    served_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, served_at, id),
    CONSTRAINT injections_kind_known CHECK (kind IN ('context', 'recall', 'search')),
    CONSTRAINT injections_whole
        CHECK (cardinality(memory_types) = cardinality(memory_ids) AND cardinality(scores) = cardinality(memory_ids)),
    CONSTRAINT injections_times_plausible CHECK (time_is_plausible(served_at))
);
COMMENT ON TABLE injections IS
    'Each call that gave memories to an agent, and which. Without their text. Kept for injections_retention_days.';
COMMENT ON COLUMN injections.kind IS 'The tool that was called: memory_context, memory_recall or memory_search.';
COMMENT ON COLUMN injections.actor IS 'Who called: a token, a client or the butler.';
COMMENT ON COLUMN injections.session_id IS 'The caller''s session, as request_context names it.';
COMMENT ON COLUMN injections.query_hash IS 'SHA-256 of the tenant and the query. NULL: an erasure removed it.';
COMMENT ON COLUMN injections.memory_ids IS 'In the order of the answer: the place in the array is the rank. NULL: the memory was erased.';
COMMENT ON COLUMN injections.scores IS 'The score of each memory. NULL: it was not ranked by a score.';
COMMENT ON COLUMN injections.memory_types IS 'The type of each memory, in the order of memory_ids.';
CREATE INDEX injections_session ON injections (tenant_id, session_id, served_at) WHERE session_id IS NOT NULL;
CREATE INDEX injections_memory ON injections USING gin (memory_ids);
-- for the removal of old rows, which lie side by side
CREATE INDEX injections_served ON injections USING brin (served_at);

-- Part of indexes: it calls nothing outside pg_catalog, and changing it needs a migration that rebuilds them. An id is a UUIDv7,
-- so its end is random.
CREATE FUNCTION id_ends(id uuid) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN ARRAY[right(id::text, 4)];
END $$;
COMMENT ON FUNCTION id_ends IS 'The last four characters of an id, the shortest reference to a memory. An array, for a GIN index.';
-- GIN, because it collects new entries in one place. In a B-tree each random key changes another page, and the first change of
-- a page after a checkpoint writes all of it to the log: a seventh of the cost of storing a fact. The tenant is not in these
-- indexes: an end leaves few rows, and a plan that starts with the tenant would read all of its rows.
CREATE INDEX facts_ends ON facts USING gin (id_ends(id));
CREATE INDEX rules_ends ON rules USING gin (id_ends(id));
CREATE INDEX episodes_ends ON episodes USING gin (id_ends(id));
