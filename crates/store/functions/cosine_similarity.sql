-- Vectors of two models are never compared. The distance to a vector of zeros is not a number, hence the bound.
CREATE OR REPLACE FUNCTION cosine_similarity(embedding vector, query vector, embedded_by uuid, version uuid)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN embedded_by = version AND embedding <=> query <= 2 THEN 1 - (embedding <=> query) END $$;
COMMENT ON FUNCTION cosine_similarity IS 'Cosine similarity; NULL if another model embedded the row.';
