-- One row of what memory_retrieve returns.

CREATE TYPE retrieved AS (
    kind               text,
    id                 uuid,
    similarity         double precision,
    semantic_rank      integer,
    rank               real,
    strict             boolean,
    keyword_rank       integer,
    content            text,
    subject            text,
    predicate          text,
    scope              text,
    importance         double precision,
    confidence         double precision,
    decay_rate         double precision,
    last_confirmed_at  timestamptz,
    last_referenced_at timestamptz,
    created_at         timestamptz,
    maturity           text,
    effectiveness      double precision,
    entity_id          uuid,
    entity_name        text,
    session_id         uuid,
    fading             boolean,
    info               json
);
COMMENT ON TYPE retrieved IS 'A memory that memory_retrieve found, or what it learned about a store (kind pool).';
COMMENT ON COLUMN retrieved.kind IS
    'fact, rule, episode; reached (a fact that relations lead to); related (an episode of the scope, by the mode '
    'deep), neighbour (a turn next to one of those) and recent (one of the latest episodes); or pool.';
COMMENT ON COLUMN retrieved.semantic_rank IS 'Place in the semantic leg; NULL: that leg did not find it.';
COMMENT ON COLUMN retrieved.rank IS 'ts_rank of the keyword leg.';
COMMENT ON COLUMN retrieved.strict IS 'Whether the memory contains all terms of the query. Of a pool: whether it was learned in this call.';
COMMENT ON COLUMN retrieved.keyword_rank IS 'Place in the keyword leg; NULL: that leg did not find it.';
COMMENT ON COLUMN retrieved.scope IS 'Of an episode: its butler.';
COMMENT ON COLUMN retrieved.info IS 'Which paths were taken, which terms matched; of a pool: its size.';
COMMENT ON COLUMN retrieved.confidence IS 'Confidence when last confirmed, before decay. NULL: an episode.';
COMMENT ON COLUMN retrieved.effectiveness IS 'Of a rule: its effectiveness_score.';
COMMENT ON COLUMN retrieved.entity_name IS 'Of a fact: the canonical name of the entity it is about.';
