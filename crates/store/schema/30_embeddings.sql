-- Which model embedded a memory, and what each vector index was trained on.

CREATE TABLE embedding_versions (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id  text NOT NULL DEFAULT 'default',
    model      text NOT NULL,
    version    text NOT NULL,
    dimensions integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT embedding_versions_unique UNIQUE (tenant_id, model, version),
    CONSTRAINT embedding_versions_dimensions_positive CHECK (dimensions > 0),
    CONSTRAINT embedding_versions_times_plausible CHECK (time_is_plausible(created_at))
);
COMMENT ON TABLE embedding_versions IS
    'The embedding models a tenant''s memories were embedded with. Vectors of two versions are never compared.';

CREATE TABLE vector_indexes (
    relation   text PRIMARY KEY,
    lists      integer NOT NULL,
    row_count  bigint NOT NULL,
    CONSTRAINT vector_indexes_relation_known CHECK (relation IN ('episodes', 'facts', 'rules'))
);
COMMENT ON TABLE vector_indexes IS
    'What the vector index of a table was last trained on. A table without a row has an untrained index.';
COMMENT ON COLUMN vector_indexes.relation IS 'The table; its index is relation_embedding.';
COMMENT ON COLUMN vector_indexes.lists IS 'IVFFlat lists the index was built with.';
COMMENT ON COLUMN vector_indexes.row_count IS 'Vectors in the table when the index was built.';
