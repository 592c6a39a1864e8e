-- mem_001: episodes, facts, rules and the links between them.
--
-- Names are unqualified: the connection's search_path puts the butler's own schema first, so that a butler's home can
-- be any schema of any database. Extensions are created by the program beforehand (store::migrate), because a role
-- that may not create them is fine when they already exist.
--
-- Vectors are STORAGE PLAIN: out of line they cost three times the scan. fillfactor leaves room for one more row
-- version (about 2 KB with its vector) on each page, so that counting a reference stays a HOT update.

-- What is indexed for keyword search. A text within its limit can still have more distinct words than a tsvector holds
-- (1 MB with their positions); its beginning is then indexed rather than the whole memory refused.
CREATE FUNCTION memory_search_vector(body text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    -- so little always fits, and needs no subtransaction
    IF octet_length(body) <= 131072 THEN
        RETURN to_tsvector('pg_catalog.english', body);
    END IF;
    LOOP
        BEGIN
            RETURN to_tsvector('pg_catalog.english', body);
        EXCEPTION
            WHEN program_limit_exceeded THEN body := left(body, length(body) / 2);
        END;
    END LOOP;
END $$;

CREATE TABLE episodes (
    id                          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id                   text NOT NULL DEFAULT 'default',
    butler                      text NOT NULL,
    session_id                  uuid,
    content                     text NOT NULL,
    embedding                   vector(384),
    search_vector               tsvector,
    importance                  double precision NOT NULL DEFAULT 5.0,
    reference_count             integer NOT NULL DEFAULT 0,
    consolidated                boolean NOT NULL DEFAULT false,
    consolidation_status        varchar(20) NOT NULL DEFAULT 'pending',
    retry_count                 integer NOT NULL DEFAULT 0,
    last_error                  text,
    -- the normative document's names for the two columns above
    consolidation_attempts      integer GENERATED ALWAYS AS (retry_count) STORED,
    last_consolidation_error    text GENERATED ALWAYS AS (last_error) STORED,
    next_consolidation_retry_at timestamptz,
    -- a worker's claim: it may write only while the row still carries its token
    lease_token                 uuid,
    leased_until                timestamptz,
    created_at                  timestamptz NOT NULL DEFAULT now(),
    last_referenced_at          timestamptz,
    expires_at                  timestamptz DEFAULT now() + interval '7 days',
    metadata                    jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT episodes_status_known CHECK (consolidation_status IN ('pending', 'consolidated', 'failed', 'dead_letter')),
    CONSTRAINT episodes_status_agrees CHECK (consolidated = (consolidation_status = 'consolidated')),
    CONSTRAINT episodes_importance_range CHECK (importance >= 0 AND importance <= 10),
    CONSTRAINT episodes_lease_whole CHECK ((lease_token IS NULL) = (leased_until IS NULL)),
    CONSTRAINT episodes_metadata_object CHECK (jsonb_typeof(metadata) = 'object')
) WITH (fillfactor = 75);
ALTER TABLE episodes ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE INDEX episodes_butler_created ON episodes (butler, created_at DESC);
CREATE INDEX episodes_expires ON episodes (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX episodes_pending ON episodes (butler, created_at) WHERE consolidation_status = 'pending';
CREATE INDEX episodes_search ON episodes USING gin (search_vector);
CREATE INDEX episodes_embedding ON episodes USING ivfflat (embedding vector_cosine_ops) WITH (lists = 20);
-- ours: retrieval and lists within a tenant, the neighbours of an episode in its session, the retry queue
CREATE INDEX episodes_tenant_butler_created ON episodes (tenant_id, butler, created_at DESC, id);
CREATE INDEX episodes_tenant_created ON episodes (tenant_id, created_at DESC, id);
CREATE INDEX episodes_session ON episodes (tenant_id, session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX episodes_queue ON episodes (tenant_id, butler, created_at) WHERE consolidation_status IN ('pending', 'failed');

CREATE TABLE facts (
    id                 uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id          text NOT NULL DEFAULT 'default',
    subject            text NOT NULL,
    predicate          text NOT NULL,
    content            text NOT NULL,
    embedding          vector(384),
    search_vector      tsvector,
    importance         double precision NOT NULL DEFAULT 5.0,
    confidence         double precision NOT NULL DEFAULT 1.0,
    decay_rate         double precision NOT NULL DEFAULT 0.008,
    permanence         text NOT NULL DEFAULT 'standard',
    source_butler      text,
    source_episode_id  uuid REFERENCES episodes (id) ON DELETE SET NULL,
    supersedes_id      uuid REFERENCES facts (id) ON DELETE SET NULL,
    validity           text NOT NULL DEFAULT 'active',
    scope              text NOT NULL DEFAULT 'global',
    reference_count    integer NOT NULL DEFAULT 0,
    created_at         timestamptz NOT NULL DEFAULT now(),
    last_referenced_at timestamptz,
    last_confirmed_at  timestamptz,
    tags               jsonb NOT NULL DEFAULT '[]',
    metadata           jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT facts_validity_known CHECK (validity IN ('active', 'superseded', 'expired', 'retracted')),
    CONSTRAINT facts_permanence_known CHECK (permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
    CONSTRAINT facts_importance_range CHECK (importance >= 0 AND importance <= 10),
    CONSTRAINT facts_confidence_range CHECK (confidence >= 0 AND confidence <= 1),
    CONSTRAINT facts_decay_range CHECK (decay_rate >= 0 AND decay_rate < 'infinity'),
    CONSTRAINT facts_not_own_ancestor CHECK (supersedes_id <> id),
    CONSTRAINT facts_tags_list CHECK (jsonb_typeof(tags) = 'array'),
    CONSTRAINT facts_metadata_object CHECK (jsonb_typeof(metadata) = 'object')
) WITH (fillfactor = 75);
ALTER TABLE facts ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE INDEX facts_scope_validity ON facts (scope, validity) WHERE validity = 'active';
CREATE INDEX facts_subject_predicate ON facts (subject, predicate);
CREATE INDEX facts_search ON facts USING gin (search_vector);
CREATE INDEX facts_tags ON facts USING gin (tags);
CREATE INDEX facts_embedding ON facts USING ivfflat (embedding vector_cosine_ops) WITH (lists = 20);
-- ours: exact search within a tenant, lists by age, and the reverse of each foreign key (or a deleted episode scans facts)
CREATE INDEX facts_tenant_validity_scope ON facts (tenant_id, validity, scope);
CREATE INDEX facts_tenant_created ON facts (tenant_id, created_at DESC, id);
CREATE INDEX facts_source_episode ON facts (source_episode_id) WHERE source_episode_id IS NOT NULL;
CREATE INDEX facts_supersedes ON facts (supersedes_id) WHERE supersedes_id IS NOT NULL;

CREATE TABLE rules (
    id                  uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id           text NOT NULL DEFAULT 'default',
    content             text NOT NULL,
    embedding           vector(384),
    search_vector       tsvector,
    scope               text NOT NULL DEFAULT 'global',
    maturity            text NOT NULL DEFAULT 'candidate',
    confidence          double precision NOT NULL DEFAULT 0.5,
    decay_rate          double precision NOT NULL DEFAULT 0.008,
    permanence          text NOT NULL DEFAULT 'standard',
    effectiveness_score double precision NOT NULL DEFAULT 0.0,
    applied_count       integer NOT NULL DEFAULT 0,
    success_count       integer NOT NULL DEFAULT 0,
    harmful_count       integer NOT NULL DEFAULT 0,
    source_episode_id   uuid REFERENCES episodes (id) ON DELETE SET NULL,
    source_butler       text,
    created_at          timestamptz NOT NULL DEFAULT now(),
    last_applied_at     timestamptz,
    last_evaluated_at   timestamptz,
    last_confirmed_at   timestamptz,
    reference_count     integer NOT NULL DEFAULT 0,
    last_referenced_at  timestamptz,
    tags                jsonb NOT NULL DEFAULT '[]',
    metadata            jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT rules_maturity_known CHECK (maturity IN ('candidate', 'established', 'proven', 'anti_pattern')),
    CONSTRAINT rules_permanence_known CHECK (permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
    CONSTRAINT rules_confidence_range CHECK (confidence >= 0 AND confidence <= 1),
    CONSTRAINT rules_decay_range CHECK (decay_rate >= 0 AND decay_rate < 'infinity'),
    CONSTRAINT rules_effectiveness_range CHECK (effectiveness_score >= 0 AND effectiveness_score <= 1),
    CONSTRAINT rules_counts_add_up CHECK (success_count >= 0 AND harmful_count >= 0 AND applied_count >= success_count + harmful_count),
    CONSTRAINT rules_tags_list CHECK (jsonb_typeof(tags) = 'array'),
    CONSTRAINT rules_metadata_object CHECK (jsonb_typeof(metadata) = 'object')
) WITH (fillfactor = 75);
ALTER TABLE rules ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE INDEX rules_scope_maturity ON rules (scope, maturity);
CREATE INDEX rules_search ON rules USING gin (search_vector);
CREATE INDEX rules_embedding ON rules USING ivfflat (embedding vector_cosine_ops) WITH (lists = 20);
-- ours
CREATE INDEX rules_tenant_scope ON rules (tenant_id, scope, maturity);
CREATE INDEX rules_tenant_created ON rules (tenant_id, created_at DESC, id);
CREATE INDEX rules_source_episode ON rules (source_episode_id) WHERE source_episode_id IS NOT NULL;
CREATE INDEX rules_tags ON rules USING gin (tags);

CREATE TABLE memory_links (
    source_type text NOT NULL,
    source_id   uuid NOT NULL,
    target_type text NOT NULL,
    target_id   uuid NOT NULL,
    relation    text NOT NULL,
    tenant_id   text NOT NULL DEFAULT 'default',
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source_type, source_id, target_type, target_id),
    CONSTRAINT memory_links_relation_known
        CHECK (relation IN ('derived_from', 'supports', 'contradicts', 'supersedes', 'related_to')),
    CONSTRAINT memory_links_types_known
        CHECK (source_type IN ('episode', 'fact', 'rule') AND target_type IN ('episode', 'fact', 'rule')),
    CONSTRAINT memory_links_not_to_itself CHECK (NOT (source_type = target_type AND source_id = target_id))
);
CREATE INDEX memory_links_target ON memory_links (target_type, target_id);
