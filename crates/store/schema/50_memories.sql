-- Episodes, facts, rules, and the links between them.
--
-- Storage of the three tables with vectors:
-- - embedding is STORAGE PLAIN: a vector stored out of line makes a scan three times as slow.
-- - toast_tuple_target 4080 keeps an ordinary memory whole in its row, so ranking candidates fetches no TOAST.
-- - fillfactor 75 leaves room for one more version of a row (about 2 kB), so counting a reference stays a HOT update.
--
-- These functions are part of indexes and columns: they call nothing outside pg_catalog, and changing one needs a migration that
-- rebuilds the index.

CREATE FUNCTION memory_is_fading(metadata jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT metadata ->> 'status' IS NOT DISTINCT FROM 'fading' $$;
COMMENT ON FUNCTION memory_is_fading IS 'Whether the decay sweep marked a memory as fading.';

-- No index can hold effective confidence, because it changes every moment. But two facts that decay at the same rate
-- keep their order: ln(effective) = ln(confidence) − rate · days. Counting the days from a fixed moment gives each fact a
-- constant rank, and a tenant has a handful of rates. The bound on the rate keeps the product finite; above it nothing is
-- left after a second.
CREATE FUNCTION decay_rank(confidence double precision, decay_rate double precision, confirmed_at timestamptz)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN confidence < 1e-40 OR (confirmed_at IS NULL AND decay_rate > 0) THEN '-Infinity'
        WHEN decay_rate = 0 THEN ln(confidence)
        ELSE ln(confidence)
            + least(decay_rate, 1e6) * (date_part('epoch', confirmed_at - timestamptz '2020-01-01 00:00:00+00') / 86400) END
$$;
COMMENT ON FUNCTION decay_rank IS
    'A constant that orders facts of one decay rate by effective confidence: effective_confidence = exp(decay_rank − decay_elapsed).';

-- At most one fact is active per tenant, scope, holder, predicate_key and slot (the index facts_one_active_per_key).
CREATE FUNCTION fact_holder(entity_id uuid, subject text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF entity_id IS NOT NULL THEN
        RETURN entity_id::text;
    END IF;
    -- The colon keeps a subject that looks like an id apart from the entity of that id.
    IF octet_length(subject) = length(subject) OR getdatabaseencoding() <> 'UTF8' THEN
        RETURN ':' || lower(btrim(subject));
    END IF;
    RETURN ':' || lower(normalize(btrim(subject), NFC));
END $$;
COMMENT ON FUNCTION fact_holder IS
    'What a fact is about: its entity or, without one, its subject in normal form, which ignores case and Unicode composition.';

CREATE FUNCTION predicate_key(predicate text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    composed text := predicate;
BEGIN
    IF octet_length(predicate) <> length(predicate) AND getdatabaseencoding() = 'UTF8' THEN
        composed := normalize(predicate, NFC);
    END IF;
    RETURN lower(regexp_replace(btrim(composed), '[[:space:]_-]+', '_', 'g'));
END $$;
COMMENT ON FUNCTION predicate_key IS
    'A predicate in normal form: case, Unicode composition, and whether words are joined by space, underscore or hyphen do not count.';

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
    consolidation_attempts      integer GENERATED ALWAYS AS (retry_count) STORED,
    last_consolidation_error    text GENERATED ALWAYS AS (last_error) STORED,
    next_consolidation_retry_at timestamptz,
    lease_token                 uuid,
    leased_until                timestamptz,
    created_at                  timestamptz NOT NULL DEFAULT now(),
    last_referenced_at          timestamptz,
    expires_at                  timestamptz DEFAULT now() + interval '7 days',
    metadata                    jsonb NOT NULL DEFAULT '{}',
    embedding_version_id        uuid REFERENCES embedding_versions (id),
    occurred_at                 timestamptz NOT NULL DEFAULT now(),
    source                      text NOT NULL DEFAULT 'session',
    held_for                    jsonb,
    CONSTRAINT episodes_status_known CHECK (consolidation_status IN ('pending', 'consolidated', 'failed', 'dead_letter')),
    CONSTRAINT episodes_status_agrees CHECK (consolidated = (consolidation_status = 'consolidated')),
    CONSTRAINT episodes_importance_range CHECK (importance >= 0 AND importance <= 10),
    CONSTRAINT episodes_lease_whole CHECK ((lease_token IS NULL) = (leased_until IS NULL)),
    CONSTRAINT episodes_metadata_object CHECK (jsonb_typeof(metadata) = 'object'),
    CONSTRAINT episodes_times_plausible
        CHECK (time_is_plausible(next_consolidation_retry_at) AND time_is_plausible(leased_until)
               AND time_is_plausible(created_at) AND time_is_plausible(last_referenced_at)
               AND time_is_plausible(expires_at)),
    CONSTRAINT episodes_occurred_plausible CHECK (time_is_plausible(occurred_at)),
    CONSTRAINT episodes_source_known CHECK (source IN ('person', 'agent', 'session', 'import', 'untrusted')),
    CONSTRAINT episodes_held_for_list CHECK (jsonb_typeof(held_for) = 'array')
) WITH (fillfactor = 75, toast_tuple_target = 4080);
ALTER TABLE episodes ALTER COLUMN embedding SET STORAGE PLAIN;
COMMENT ON TABLE episodes IS 'What happened in a conversation. Consolidation turns episodes into facts and rules; then they expire.';
COMMENT ON COLUMN episodes.butler IS 'The butler the episode belongs to; the scope of an episode.';
COMMENT ON COLUMN episodes.session_id IS 'The conversation the episode is a turn of.';
COMMENT ON COLUMN episodes.search_vector IS 'The words of content (memory_search_vector).';
COMMENT ON COLUMN episodes.reference_count IS 'How often a recall returned this row.';
COMMENT ON COLUMN episodes.retry_count IS 'Failed consolidation attempts.';
COMMENT ON COLUMN episodes.consolidation_attempts IS 'The specification''s name for retry_count.';
COMMENT ON COLUMN episodes.last_consolidation_error IS 'The specification''s name for last_error.';
COMMENT ON COLUMN episodes.lease_token IS 'A worker''s claim: it writes its result only while the row still carries its token.';
COMMENT ON COLUMN episodes.expires_at IS 'NULL: never.';
COMMENT ON COLUMN episodes.occurred_at IS 'When it happened. An import or a transcript is stored later (created_at).';
COMMENT ON COLUMN episodes.source IS 'Where it comes from: person, agent, session, import or untrusted. Facts and rules inherit the least trusted.';
COMMENT ON COLUMN episodes.held_for IS 'Why consolidation leaves it out until somebody releases it: what in it looks like an instruction. NULL: not held.';
COMMENT ON COLUMN episodes.embedding_version_id IS 'The model that made embedding.';
COMMENT ON COLUMN episodes.last_error IS
    'Why the last attempt to consolidate it failed; of an episode that is a dead letter, why it is one.';

CREATE INDEX episodes_butler_created ON episodes (butler, created_at DESC);
CREATE INDEX episodes_expires ON episodes (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX episodes_pending ON episodes (butler, created_at) WHERE consolidation_status = 'pending';
CREATE INDEX episodes_search ON episodes USING gin (search_vector);
CREATE INDEX episodes_embedding ON episodes USING ivfflat (embedding vector_cosine_ops) WITH (lists = 20);
-- The indexes above are the specification's. Ours: retrieval and lists within a tenant, the neighbours of an episode in
-- its session, the retry queue, cleanup, and what re-embedding has left to do.
CREATE INDEX episodes_tenant_butler_created ON episodes (tenant_id, butler, created_at DESC, id);
CREATE INDEX episodes_tenant_occurred ON episodes (tenant_id, occurred_at DESC, id);
CREATE INDEX episodes_tenant_created ON episodes (tenant_id, created_at DESC, id);
CREATE INDEX episodes_session ON episodes (tenant_id, session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX episodes_queue ON episodes (tenant_id, butler, created_at) WHERE consolidation_status IN ('pending', 'failed');
CREATE INDEX episodes_consolidated_oldest ON episodes (tenant_id, created_at, id) WHERE consolidated;
CREATE INDEX episodes_dead_letters ON episodes (tenant_id, created_at) WHERE consolidation_status = 'dead_letter';
CREATE INDEX episodes_embedding_version ON episodes (embedding_version_id, id);

-- Before each statement that writes to a table, PostgreSQL reads the constraints of that table from their stored text, which
-- took a sixth of storing a fact. Functions stay parsed, and a constraint that calls one is short. NULL passes, as it does in a
-- constraint.
CREATE FUNCTION fact_kinds_are_known(validity text, permanence text, source text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN validity IN ('active', 'superseded', 'expired', 'retracted')
        AND permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')
        AND source IN ('person', 'agent', 'session', 'import', 'untrusted');
END $$;
COMMENT ON FUNCTION fact_kinds_are_known IS 'Constraint: the values that validity, permanence and source of a fact may have.';

CREATE FUNCTION fact_numbers_are_in_range(importance double precision, confidence double precision, decay_rate double precision)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN importance >= 0 AND importance <= 10 AND confidence >= 0 AND confidence <= 1
        AND decay_rate >= 0 AND decay_rate < 'infinity';
END $$;
COMMENT ON FUNCTION fact_numbers_are_in_range IS 'Constraint: importance from 0 to 10, confidence from 0 to 1, a finite decay rate from 0.';

CREATE FUNCTION fact_documents_are_shaped(tags jsonb, metadata jsonb, dates jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN jsonb_typeof(tags) = 'array' AND jsonb_typeof(metadata) = 'object' AND jsonb_typeof(dates) = 'object';
END $$;
COMMENT ON FUNCTION fact_documents_are_shaped IS 'Constraint: tags are a list, metadata and dates are objects.';

CREATE TABLE facts (
    id                   uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id            text NOT NULL DEFAULT 'default',
    subject              text NOT NULL,
    predicate            text NOT NULL,
    content              text NOT NULL,
    embedding            vector(384),
    search_vector        tsvector,
    importance           double precision NOT NULL DEFAULT 5.0,
    confidence           double precision NOT NULL DEFAULT 1.0,
    decay_rate           double precision NOT NULL DEFAULT 0.008,
    permanence           text NOT NULL DEFAULT 'standard',
    source_butler        text,
    source_episode_id    uuid REFERENCES episodes (id) ON DELETE SET NULL,
    supersedes_id        uuid REFERENCES facts (id) ON DELETE SET NULL,
    validity             text NOT NULL DEFAULT 'active',
    scope                text NOT NULL DEFAULT 'global',
    reference_count      integer NOT NULL DEFAULT 0,
    created_at           timestamptz NOT NULL DEFAULT now(),
    last_referenced_at   timestamptz,
    last_confirmed_at    timestamptz,
    tags                 jsonb NOT NULL DEFAULT '[]',
    metadata             jsonb NOT NULL DEFAULT '{}',
    entity_id            uuid,
    embedding_version_id uuid REFERENCES embedding_versions (id),
    holder               text NOT NULL GENERATED ALWAYS AS (fact_holder(entity_id, subject)) STORED,
    predicate_key        text NOT NULL GENERATED ALWAYS AS (predicate_key(predicate)) STORED,
    slot                 text NOT NULL DEFAULT '',
    object_entity_id     uuid,
    valid_from           timestamptz,
    valid_to             timestamptz,
    observed_at          timestamptz,
    dates                jsonb,
    holds_from           timestamptz NOT NULL DEFAULT '-infinity',
    holds_to             timestamptz NOT NULL DEFAULT 'infinity',
    placed_at            timestamptz,
    ended_at             timestamptz,
    corrected            boolean NOT NULL DEFAULT false,
    source               text NOT NULL DEFAULT 'agent',
    CONSTRAINT facts_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES entities (id) ON DELETE RESTRICT,
    -- the database itself refuses a fact about another tenant's entity
    CONSTRAINT facts_entity_same_tenant
        FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id) ON DELETE RESTRICT,
    CONSTRAINT facts_object_same_tenant
        FOREIGN KEY (tenant_id, object_entity_id) REFERENCES entities (tenant_id, id) ON DELETE RESTRICT,
    CONSTRAINT facts_kinds_known CHECK (fact_kinds_are_known(validity, permanence, source)),
    CONSTRAINT facts_numbers_in_range CHECK (fact_numbers_are_in_range(importance, confidence, decay_rate)),
    CONSTRAINT facts_documents_shaped CHECK (fact_documents_are_shaped(tags, metadata, dates)),
    CONSTRAINT facts_not_own_ancestor CHECK (supersedes_id <> id),
    CONSTRAINT facts_times_plausible
        CHECK (times_are_plausible(created_at, last_referenced_at, last_confirmed_at, valid_from, valid_to, observed_at,
                                   placed_at, ended_at)),
    CONSTRAINT facts_holds_plausible CHECK (bounds_are_plausible(holds_from, holds_to)),
    CONSTRAINT facts_valid_interval CHECK (valid_from < valid_to)
) WITH (fillfactor = 75, toast_tuple_target = 4080);
ALTER TABLE facts ALTER COLUMN embedding SET STORAGE PLAIN;
COMMENT ON TABLE facts IS
    'What is known: subject, predicate, content. At most one fact per key is active; a newer one supersedes it.';
COMMENT ON COLUMN facts.search_vector IS 'The words of subject, predicate and content (memory_search_vector).';
COMMENT ON COLUMN facts.confidence IS 'Confidence when last confirmed; effective_confidence applies the decay since.';
COMMENT ON COLUMN facts.decay_rate IS 'Per day; 0 never decays. Follows from permanence.';
COMMENT ON COLUMN facts.supersedes_id IS 'The fact this one replaced.';
COMMENT ON COLUMN facts.scope IS 'A butler''s name, or global.';
COMMENT ON COLUMN facts.reference_count IS 'How often a recall returned this row.';
COMMENT ON COLUMN facts.source IS 'The least trusted of who stored it and the episodes it is derived from.';
COMMENT ON COLUMN facts.metadata IS 'The caller''s; status fading is the decay sweep''s mark.';
COMMENT ON COLUMN facts.entity_id IS 'Whom or what the fact is about, if an entity is known.';
COMMENT ON COLUMN facts.holder IS 'What the fact is about: the entity or the subject in normal form (fact_holder). Part of the key.';
COMMENT ON COLUMN facts.predicate_key IS 'The predicate in normal form (predicate_key). Part of the key.';
COMMENT ON COLUMN facts.slot IS
    'Part of the key: empty for the present value of a predicate of one value; of several values, the object entity or a hash of the '
    'content. A fact of another time than the present adds @ and when it began to hold.';
COMMENT ON COLUMN facts.object_entity_id IS 'The other end of a relation: with it, the fact is an edge from entity_id to this entity.';
COMMENT ON COLUMN facts.valid_from IS 'Since when it is true, as stated. NULL: unknown.';
COMMENT ON COLUMN facts.valid_to IS 'The first moment at which it is no longer true, as stated. NULL: unknown.';
COMMENT ON COLUMN facts.observed_at IS 'When the source said it. NULL: at created_at.';
COMMENT ON COLUMN facts.dates IS 'valid_from, valid_to and observed_at as they were given, in their precision: 2023-03.';
COMMENT ON COLUMN facts.holds_from IS 'Since when it holds, as far as all statements of its key tell (placed_facts).';
COMMENT ON COLUMN facts.holds_to IS 'The first moment at which it no longer holds. Equal to holds_from: it never held.';
COMMENT ON COLUMN facts.placed_at IS 'Since when holds_from and holds_to are believed. NULL: since created_at.';
COMMENT ON COLUMN facts.ended_at IS 'When it was forgotten or expired. NULL: it is believed for the time that it holds.';
COMMENT ON COLUMN facts.corrected IS 'Whether another fact took its place as a correction, so that it tells nothing about any time.';
COMMENT ON COLUMN facts.embedding_version_id IS 'The model that made embedding.';
COMMENT ON COLUMN facts.source_butler IS 'The butler that stored it, or that the caller named as its origin. NULL: unknown.';

CREATE INDEX facts_scope_validity ON facts (scope, validity) WHERE validity = 'active';
CREATE INDEX facts_subject_predicate ON facts (subject, predicate);
CREATE INDEX facts_search ON facts USING gin (search_vector);
CREATE INDEX facts_tags ON facts USING gin (tags);
CREATE INDEX facts_embedding ON facts USING ivfflat (embedding vector_cosine_ops) WITH (lists = 20);
CREATE INDEX facts_entity ON facts (entity_id) WHERE entity_id IS NOT NULL;
CREATE UNIQUE INDEX facts_one_active_per_entity_key ON facts (tenant_id, entity_id, scope, predicate)
    WHERE entity_id IS NOT NULL AND validity = 'active' AND slot = '';
CREATE UNIQUE INDEX facts_one_active_per_subject_key ON facts (tenant_id, scope, subject, predicate)
    WHERE entity_id IS NULL AND validity = 'active' AND slot = '';
-- The indexes above are the specification's. Ours: the reverse of each foreign key (or deleting an episode scans facts),
-- and the lists and counts of a tenant. No column here changes when a fact is recalled, so counting stays a HOT update.
CREATE UNIQUE INDEX facts_one_active_per_key ON facts (tenant_id, holder, predicate_key, scope, slot) WHERE validity = 'active';
CREATE INDEX facts_object ON facts (object_entity_id) WHERE object_entity_id IS NOT NULL;
-- the facts that a new name links
CREATE INDEX facts_unlinked ON facts (tenant_id, folded_name(subject)) WHERE entity_id IS NULL AND validity = 'active';
-- and those whose object it is; a hash, since metadata may hold a long text
CREATE INDEX facts_unlinked_object ON facts (tenant_id, hashtextextended(folded_name(metadata ->> 'unlinked_object'), 41))
    WHERE object_entity_id IS NULL AND validity = 'active' AND metadata ? 'unlinked_object';
CREATE INDEX facts_source_episode ON facts (source_episode_id) WHERE source_episode_id IS NOT NULL;
CREATE INDEX facts_supersedes ON facts (supersedes_id) WHERE supersedes_id IS NOT NULL;
CREATE INDEX facts_embedding_version ON facts (embedding_version_id, id);
CREATE INDEX facts_tenant_created ON facts (tenant_id, created_at DESC, id);
CREATE INDEX facts_tenant_subject ON facts (tenant_id, subject, predicate, id);
-- a page of one state, without reading a row
CREATE INDEX facts_browse ON facts (tenant_id, validity, created_at DESC, id)
    INCLUDE (permanence, scope, importance, confidence, decay_rate, last_confirmed_at);
CREATE INDEX facts_by_confidence ON facts
    (tenant_id, decay_rate, decay_rank(confidence, decay_rate, last_confirmed_at) DESC, created_at DESC, id)
    INCLUDE (confidence, last_confirmed_at, permanence, scope) WHERE validity = 'active';
CREATE INDEX facts_by_importance ON facts (tenant_id, importance DESC, created_at DESC, id) WHERE validity = 'active';
-- equal keys are stored once, so counting by state, scope and permanence reads a hundredth of facts_browse
CREATE INDEX facts_counts ON facts (tenant_id, validity, scope, permanence);
CREATE INDEX facts_fading ON facts (tenant_id, id) WHERE validity = 'active' AND memory_is_fading(metadata);
-- the statements of one key, in the order of time
CREATE INDEX facts_timeline ON facts (tenant_id, holder, predicate_key, holds_from);
-- what held at a moment, without reading a row
CREATE INDEX facts_held ON facts (tenant_id, holds_to, holds_from) INCLUDE (placed_at, ended_at, created_at, scope);
-- present values whose time ends, which a job moves to the past (settle_facts)
CREATE INDEX facts_ending ON facts (holds_to) WHERE validity = 'active' AND holds_to < 'infinity' AND strpos(slot, '@') = 0;

CREATE TABLE fact_beliefs (
    tenant_id     text NOT NULL DEFAULT 'default',
    fact_id       uuid NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
    believed_from timestamptz NOT NULL,
    believed_to   timestamptz NOT NULL,
    holds_from    timestamptz NOT NULL,
    holds_to      timestamptz NOT NULL,
    PRIMARY KEY (fact_id, believed_from),
    CONSTRAINT fact_beliefs_times_plausible CHECK (time_is_plausible(believed_from) AND time_is_plausible(believed_to)),
    CONSTRAINT fact_beliefs_holds_plausible CHECK (bounds_are_plausible(holds_from, holds_to)),
    CONSTRAINT fact_beliefs_interval CHECK (believed_from < believed_to)
);
COMMENT ON TABLE fact_beliefs IS
    'What was believed earlier about when a fact holds. The present belief is in facts; a row is added when it changes.';
COMMENT ON COLUMN fact_beliefs.believed_to IS 'The first moment at which it was no longer believed.';
COMMENT ON COLUMN fact_beliefs.holds_to IS 'As in facts: the first moment at which the fact no longer held.';
COMMENT ON COLUMN fact_beliefs.holds_from IS 'As in facts: since when the fact held, as it was believed then.';
CREATE INDEX fact_beliefs_then ON fact_beliefs (tenant_id, believed_to, believed_from, holds_to, holds_from);

CREATE TABLE predicates (
    tenant_id     text NOT NULL DEFAULT 'default',
    name          text NOT NULL,
    predicate_key text NOT NULL GENERATED ALWAYS AS (predicate_key(name)) STORED,
    cardinality   text NOT NULL,
    inverse       text,
    is_symmetric  boolean NOT NULL,
    is_temporal   boolean NOT NULL,
    object_type   text,
    description   text NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, predicate_key),
    CONSTRAINT predicates_cardinality_known CHECK (cardinality IN ('one', 'many')),
    CONSTRAINT predicates_object_type_known CHECK (object_type IN ('person', 'organization', 'place', 'other')),
    CONSTRAINT predicates_one_direction CHECK (NOT (is_symmetric AND inverse IS NOT NULL)),
    CONSTRAINT predicates_times_plausible CHECK (time_is_plausible(created_at) AND time_is_plausible(updated_at))
);
COMMENT ON TABLE predicates IS
    'What a tenant registered about its predicates. It wins over the built-in ones (builtin_predicates); a predicate in neither has one value.';
COMMENT ON COLUMN predicates.predicate_key IS 'The name in normal form (predicate_key).';
COMMENT ON COLUMN predicates.cardinality IS 'one: a new value supersedes the old one. many: values coexist.';
COMMENT ON COLUMN predicates.inverse IS 'The same relation seen from the object: has_child for child_of.';
COMMENT ON COLUMN predicates.is_symmetric IS 'Whether the relation holds in both directions: married_to.';
COMMENT ON COLUMN predicates.is_temporal IS 'Whether each value belongs to a moment: weight, dose.';
COMMENT ON COLUMN predicates.object_type IS 'The type of entity that the object is.';

CREATE TABLE rules (
    id                   uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id            text NOT NULL DEFAULT 'default',
    content              text NOT NULL,
    embedding            vector(384),
    search_vector        tsvector,
    scope                text NOT NULL DEFAULT 'global',
    maturity             text NOT NULL DEFAULT 'candidate',
    confidence           double precision NOT NULL DEFAULT 0.5,
    decay_rate           double precision NOT NULL DEFAULT 0.008,
    permanence           text NOT NULL DEFAULT 'standard',
    effectiveness_score  double precision NOT NULL DEFAULT 0.0,
    applied_count        integer NOT NULL DEFAULT 0,
    success_count        integer NOT NULL DEFAULT 0,
    harmful_count        integer NOT NULL DEFAULT 0,
    source_episode_id    uuid REFERENCES episodes (id) ON DELETE SET NULL,
    source_butler        text,
    created_at           timestamptz NOT NULL DEFAULT now(),
    last_applied_at      timestamptz,
    last_evaluated_at    timestamptz,
    last_confirmed_at    timestamptz,
    reference_count      integer NOT NULL DEFAULT 0,
    last_referenced_at   timestamptz,
    tags                 jsonb NOT NULL DEFAULT '[]',
    metadata             jsonb NOT NULL DEFAULT '{}',
    embedding_version_id uuid REFERENCES embedding_versions (id),
    source               text NOT NULL DEFAULT 'agent',
    CONSTRAINT rules_maturity_known CHECK (maturity IN ('candidate', 'established', 'proven', 'anti_pattern')),
    CONSTRAINT rules_permanence_known CHECK (permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
    CONSTRAINT rules_confidence_range CHECK (confidence >= 0 AND confidence <= 1),
    CONSTRAINT rules_decay_range CHECK (decay_rate >= 0 AND decay_rate < 'infinity'),
    CONSTRAINT rules_effectiveness_range CHECK (effectiveness_score >= 0 AND effectiveness_score <= 1),
    CONSTRAINT rules_counts_add_up CHECK (success_count >= 0 AND harmful_count >= 0 AND applied_count >= success_count + harmful_count),
    CONSTRAINT rules_tags_list CHECK (jsonb_typeof(tags) = 'array'),
    CONSTRAINT rules_metadata_object CHECK (jsonb_typeof(metadata) = 'object'),
    CONSTRAINT rules_times_plausible
        CHECK (time_is_plausible(created_at) AND time_is_plausible(last_applied_at)
               AND time_is_plausible(last_evaluated_at) AND time_is_plausible(last_confirmed_at)
               AND time_is_plausible(last_referenced_at)),
    CONSTRAINT rules_source_known CHECK (source IN ('person', 'agent', 'session', 'import', 'untrusted'))
) WITH (fillfactor = 75, toast_tuple_target = 4080);
ALTER TABLE rules ALTER COLUMN embedding SET STORAGE PLAIN;
COMMENT ON TABLE rules IS 'How to behave. Feedback about each application decides whether a rule matures or becomes an anti-pattern.';
COMMENT ON COLUMN rules.search_vector IS 'The words of content (memory_search_vector).';
COMMENT ON COLUMN rules.scope IS 'A butler''s name, or global.';
COMMENT ON COLUMN rules.confidence IS 'Confidence when last confirmed; effective_confidence applies the decay since.';
COMMENT ON COLUMN rules.decay_rate IS 'Per day; 0 never decays. Follows from permanence.';
COMMENT ON COLUMN rules.effectiveness_score IS 'The share of helpful applications, from rule_applications.';
COMMENT ON COLUMN rules.applied_count IS 'Applications reported: helpful, harmful, or without an outcome.';
COMMENT ON COLUMN rules.reference_count IS 'How often a recall returned this row.';
COMMENT ON COLUMN rules.metadata IS
    'The caller''s; forgotten hides a rule, needs_inversion queues it for inversion, status fading is the decay sweep''s mark.';
COMMENT ON COLUMN rules.source IS 'The least trusted of who stored it and the episodes it is derived from.';
COMMENT ON COLUMN rules.embedding_version_id IS 'The model that made embedding.';
COMMENT ON COLUMN rules.source_butler IS 'The butler that stored it, or that the caller named as its origin. NULL: unknown.';

CREATE INDEX rules_scope_maturity ON rules (scope, maturity);
CREATE INDEX rules_search ON rules USING gin (search_vector);
CREATE INDEX rules_embedding ON rules USING ivfflat (embedding vector_cosine_ops) WITH (lists = 20);
-- The indexes above are the specification's.
CREATE INDEX rules_tenant_scope ON rules (tenant_id, scope, maturity);
CREATE INDEX rules_tenant_created ON rules (tenant_id, created_at DESC, id);
CREATE INDEX rules_source_episode ON rules (source_episode_id) WHERE source_episode_id IS NOT NULL;
CREATE INDEX rules_tags ON rules USING gin (tags);
CREATE INDEX rules_embedding_version ON rules (embedding_version_id, id);
-- the inversion job asks for these each time it wakes; there are hardly ever any
CREATE INDEX rules_needs_inversion ON rules (tenant_id, id) WHERE metadata -> 'needs_inversion' = 'true';
-- what was forgotten is looked up whenever a rule is stored
CREATE INDEX rules_forgotten ON rules (tenant_id) WHERE metadata -> 'forgotten' = 'true';

CREATE TABLE rule_applications (
    id                  uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id           text NOT NULL DEFAULT 'default',
    rule_id             uuid NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
    outcome             text NOT NULL,
    reason              text,
    effectiveness_score double precision NOT NULL,
    maturity            text NOT NULL,
    actor               text,
    request_id          text,
    context             jsonb NOT NULL DEFAULT '{}',
    applied_at          timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT rule_applications_outcome_known CHECK (outcome IN ('helpful', 'harmful')),
    CONSTRAINT rule_applications_effectiveness_range CHECK (effectiveness_score >= 0 AND effectiveness_score <= 1),
    CONSTRAINT rule_applications_context_object CHECK (jsonb_typeof(context) = 'object'),
    CONSTRAINT rule_applications_times_plausible CHECK (time_is_plausible(applied_at))
);
COMMENT ON TABLE rule_applications IS 'Each reported outcome of applying a rule.';
COMMENT ON COLUMN rule_applications.effectiveness_score IS 'The rule''s score after this outcome, so that its history is a list of rows.';
COMMENT ON COLUMN rule_applications.maturity IS 'The rule''s maturity after this outcome.';
COMMENT ON COLUMN rule_applications.context IS 'What the caller said about the situation.';
CREATE INDEX rule_applications_rule ON rule_applications (tenant_id, rule_id, applied_at DESC);
CREATE INDEX rule_applications_rule_fk ON rule_applications (rule_id);

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
    -- short, because the text of a constraint is read before each insert
    CONSTRAINT memory_links_types_known CHECK (ARRAY[source_type, target_type] <@ '{episode,fact,rule}'),
    CONSTRAINT memory_links_not_to_itself CHECK (NOT (source_type = target_type AND source_id = target_id)),
    CONSTRAINT memory_links_times_plausible CHECK (time_is_plausible(created_at))
);
COMMENT ON TABLE memory_links IS
    'How one memory relates to another. A link outlives an expired episode on purpose, so there is no foreign key.';
COMMENT ON COLUMN memory_links.source_type IS
    'The type of the memory that the relation starts from: the fact of ''fact derived_from episode''.';
COMMENT ON COLUMN memory_links.source_id IS 'The memory that the relation starts from.';
COMMENT ON COLUMN memory_links.target_type IS
    'The type of the memory that the relation leads to: the episode of ''fact derived_from episode''.';
COMMENT ON COLUMN memory_links.target_id IS 'The memory that the relation leads to.';
COMMENT ON COLUMN memory_links.relation IS
    'Read as ''source relation target'': an episode supports a fact, a fact supersedes an older one.';
CREATE INDEX memory_links_target ON memory_links (target_type, target_id);
-- the overview counts one tenant's links without reading everybody's
CREATE INDEX memory_links_tenant ON memory_links (tenant_id, target_type, relation, source_type, source_id);
