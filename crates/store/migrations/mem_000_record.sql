-- Which migrations this schema has seen. Run at every start, before the numbered ones, and therefore never recorded.
CREATE TABLE IF NOT EXISTS butler_migrations (
    version    text PRIMARY KEY,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
