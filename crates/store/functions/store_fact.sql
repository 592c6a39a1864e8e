-- Stores a fact: links it to the entity that its subject names, and supersedes the active fact with the same key. The very
-- same statement again confirms the known fact. Dates place it among the others of its key (place_facts).
--
-- Each statement of a volatile function sees what was committed before that statement started. The SELECT of the siblings
-- therefore sees what other writers of the key committed while this one waited for lock_fact_key, and a single call outside a
-- transaction is enough (ADR 20). Each later statement checks again that they are active and of this holder, because forgetting,
-- the sweep and link_stated_fact do not take that lock.
--
-- Planning a statement costs more than running it, so all plans are generic ones. Every statement finds its rows by the key or
-- by id. Without sequential scans, because a plan may be made while the table is still small. Then all indexes seem equally
-- good: IS TRUE around scope and validity leaves facts_timeline, which has the holder and the predicate.
CREATE OR REPLACE FUNCTION store_fact(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_fact jsonb, p_embedding real[], p_request jsonb)
RETURNS TABLE (outcome text, merged_into uuid, answer jsonb) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    fact record;
    about record;
    object_state text;
    object_id uuid;
    object_merged_into uuid;
    object_candidates jsonb;
    rule record;
    stated uuid;
    of_holder text;
    of_key text;
    of_content text;
    fact_slot text := '';
    -- The holder of the fact that it replaces.
    replaced_holder text;
    -- The active facts of its key. Of those in its slot: when the last of them was said, if that is later than now, the last
    -- of their dates, and whether one holds at another time than the present. If such a fact is forgotten meanwhile, place_facts
    -- finds the same place for the new one.
    siblings uuid[];
    last_said timestamptz;
    last_date timestamptz;
    has_dates boolean := false;
    -- The siblings and the fact that it replaces.
    others uuid[];
    -- what it replaces, confirms or supersedes
    known facts;
    known_said timestamptz;
    says_same boolean := false;
    fits boolean := false;
    superseded facts[];
    other facts;
    sources uuid[];
    said_by_many boolean;
    said timestamptz;
    stored_at timestamptz;
    is_dated boolean;
    is_new boolean;
    ended uuid[] := '{}';
    links jsonb := '[]';
    needs_approval boolean;
    -- Whether the tenant has forgotten facts, and whether a person rejected a proposal.
    has_forgotten boolean;
    has_rejected boolean;
    -- Whether anything else is known about the holder.
    has_others boolean;
    said_key text;
    version uuid;
BEGIN
    SELECT * INTO fact FROM jsonb_to_record(p_fact) AS given (
        id uuid, subject text, predicate text, content text, search_text text, scope text, importance double precision,
        confidence double precision, decay_rate double precision, permanence text, entity_id uuid, object_entity_id uuid,
        object text, source_episode_id uuid, derived_from uuid[], source_butler text, tags jsonb, metadata jsonb, model text,
        model_version text, dimensions integer, replaces uuid, corrects boolean, regrades boolean,
        valid_from timestamptz, valid_to timestamptz, observed_at timestamptz, dates jsonb, removed_dates text[], source text, approval text[],
        approved boolean, forgotten text, near double precision, created_event_id uuid, superseded_event_ids uuid[], event jsonb);

    fact.removed_dates := coalesce(fact.removed_dates, '{}');
    sources := array_remove(fact.derived_from || fact.source_episode_id, NULL);
    IF fact.replaces IS NOT NULL AND fact.object_entity_id IS NULL AND fact.object IS NULL THEN
        -- A new version is a relation to the same entity.
        SELECT f.object_entity_id INTO fact.object_entity_id FROM facts f WHERE f.tenant_id = p_tenant AND f.id = fact.replaces;
    END IF;
    IF fact.replaces IS NOT NULL THEN
        SELECT f.holder INTO replaced_holder FROM facts f WHERE f.tenant_id = p_tenant AND f.id = fact.replaces;
    END IF;
    SELECT * INTO about FROM lock_entity(p_tenant, fact.entity_id, fact.subject);
    IF num_nonnulls(fact.object_entity_id, fact.object) > 0 THEN
        SELECT o.outcome, o.id, o.merged_into, o.candidates
            INTO object_state, object_id, object_merged_into, object_candidates
            FROM lock_entity(p_tenant, fact.object_entity_id, fact.object) o;
    END IF;
    outcome := CASE about.outcome WHEN 'missing' THEN 'no_entity' WHEN 'merged' THEN 'entity_merged' ELSE
               CASE object_state WHEN 'missing' THEN 'no_object' WHEN 'merged' THEN 'object_merged' END END;
    merged_into := CASE WHEN about.outcome = 'merged' THEN about.merged_into ELSE object_merged_into END;
    IF outcome IS NULL AND fact.source_episode_id IS NOT NULL THEN
        PERFORM FROM episodes e WHERE e.tenant_id = p_tenant AND e.id = fact.source_episode_id;
        IF NOT FOUND THEN
            outcome := 'no_episode';
        END IF;
    END IF;
    IF fact.object IS NOT NULL AND object_id IS NULL THEN
        -- It may name an entity later.
        fact.metadata := fact.metadata || jsonb_build_object('unlinked_object', fact.object);
    END IF;
    of_holder := fact_holder(about.id, fact.subject);
    of_key := predicate_key(fact.predicate);
    of_content := content_key(fact.content);
    PERFORM pg_advisory_xact_lock_shared(predicates_lock(p_tenant));
    SELECT * INTO rule FROM predicate_rule(p_tenant, of_key);
    IF outcome IS NULL AND about.id = object_id AND NOT rule.is_symmetric THEN
        outcome := 'edge_to_itself';
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;
    IF sources <> '{}' THEN
        fact.source := least_trusted(p_tenant, fact.source, sources);
    END IF;
    needs_approval := fact.source = ANY (fact.approval);
    said_by_many := rule.cardinality = 'many' OR (object_id IS NOT NULL AND NOT rule.registered);
    IF said_by_many THEN
        fact_slot := coalesce(object_id::text, of_content);
    END IF;

    PERFORM lock_fact_key(p_tenant, fact.scope, of_holder, of_key);
    IF fact.entity_id IS NOT NULL AND fact.replaces IS NULL AND NOT needs_approval AND NOT rule.is_temporal THEN
        stated := lock_stated_fact(p_tenant, fact.scope, fact.subject, of_key, fact.content);
        -- What was forgotten about the entity must not return by a link either.
        IF stated IS NOT NULL
           AND NOT EXISTS (SELECT FROM forgotten_facts(
                               p_tenant, about.id, fact.subject, of_key, fact.content, fact.valid_from, p_embedding,
                               embedding_version(p_tenant, fact.model, fact.model_version, fact.dimensions, p_at), fact.near)
                           WHERE fact.forgotten = 'heed') THEN
            PERFORM link_stated_fact(p_tenant, p_actor, p_request_id, p_at, about.id, stated);
        END IF;
    END IF;
    -- The statements below find these facts by id. A predicate of moments may have thousands of values, of which only those of
    -- the same moment matter.
    IF rule.is_temporal AND NOT said_by_many THEN
        siblings := ARRAY(
            SELECT f.id FROM facts f
            WHERE f.tenant_id = p_tenant AND f.holder = of_holder AND f.predicate_key = of_key AND (f.scope = fact.scope) IS TRUE
              AND (f.validity = 'active') IS TRUE AND f.holds_from = coalesce(fact.valid_from, fact.observed_at, p_at)
            UNION
            SELECT f.id FROM facts f
            WHERE f.tenant_id = p_tenant AND f.holder = of_holder AND f.predicate_key = of_key AND f.scope = fact.scope
              AND f.validity = 'active' AND f.slot = fact_slot);
    ELSE
        SELECT coalesce(array_agg(f.id), '{}'),
               max(k.said) FILTER (WHERE k.is_own AND k.said >= p_at AND f.created_at < p_at + interval '1 hour'),
               max(greatest(f.holds_from, f.observed_at, f.created_at)) FILTER (WHERE k.is_own),
               coalesce(bool_or(k.is_own AND (f.slot <> fact_slot OR f.holds_to < 'infinity')), false)
            INTO siblings, last_said, last_date, has_dates
            FROM facts f,
                 LATERAL (SELECT slot_base(f.slot) = fact_slot AS is_own, coalesce(f.observed_at, f.created_at) AS said) k
            WHERE f.tenant_id = p_tenant AND f.holder = of_holder AND f.predicate_key = of_key AND (f.scope = fact.scope) IS TRUE
              AND (f.validity = 'active') IS TRUE;
    END IF;
    others := CASE WHEN fact.replaces IS NULL THEN siblings ELSE siblings || fact.replaces END;
    -- Statements of a key are ordered by when they were said. What is said now comes last, also within one batch and if
    -- another server's clock is a little ahead.
    stored_at := CASE WHEN rule.is_temporal THEN p_at ELSE coalesce(last_said + interval '1 microsecond', p_at) END;
    said := coalesce(fact.observed_at, stored_at);

    -- What it replaces or, else, what holds its slot. Of a predicate of several values, the same statement may be in another
    -- slot: it was stored with another object or none, or when the predicate still held one value. Forgetting and the
    -- sweep end a fact without the lock of its key, hence the lock of the row.
    IF others <> '{}' THEN
        SELECT f.id, f.importance, f.permanence, f.decay_rate, f.tags, f.metadata, f.slot, f.valid_from, f.valid_to, f.dates,
               f.holds_from, f.holds_to, coalesce(f.observed_at, f.created_at),
               s.is_same AND (object_id IS NULL OR object_id IS NOT DISTINCT FROM f.object_entity_id)
                   -- A new version may move to another key.
                   AND (fact.replaces IS NULL
                        OR f.subject = fact.subject AND f.predicate = fact.predicate AND f.scope = fact.scope),
               d.fits
            INTO known.id, known.importance, known.permanence, known.decay_rate, known.tags, known.metadata, known.slot,
                 known.valid_from, known.valid_to, known.dates, known.holds_from, known.holds_to, known_said, says_same, fits
            FROM facts f,
                 LATERAL (SELECT f.content = fact.content
                                 OR said_by_many AND content_key(f.content) = of_content AS is_same) s,
                 -- its dates say nothing new
                 LATERAL (SELECT CASE WHEN f.valid_from IS NOT NULL AND 'valid_from' = ANY (fact.removed_dates)
                                           OR f.valid_to IS NOT NULL AND 'valid_to' = ANY (fact.removed_dates) THEN false
                                      WHEN fact.valid_from IS NULL AND rule.is_temporal
                                      THEN f.holds_from = said AND f.valid_from IS NULL
                                      ELSE coalesce(fact.valid_from = f.valid_from, f.holds_from <= said AND said < f.holds_to)
                                           AND coalesce(fact.valid_to = f.valid_to, fact.valid_to IS NULL)
                                           AND (fact.valid_from IS NULL OR f.valid_from IS NOT NULL) END AS fits) d
            -- The holder again: link_stated_fact may have moved a fact to an entity meanwhile.
            WHERE f.tenant_id = p_tenant AND f.holder IN (of_holder, replaced_holder) AND f.id = ANY (others)
              AND (f.validity = 'active') IS TRUE
              AND CASE WHEN fact.replaces IS NOT NULL THEN f.id = fact.replaces
                       ELSE (NOT rule.is_temporal OR f.holds_from = coalesce(fact.valid_from, said))
                            AND (slot_base(f.slot) = fact_slot AND (f.slot = fact_slot OR s.is_same AND d.fits)
                                 OR said_by_many AND s.is_same AND coalesce(f.object_entity_id = object_id, true)) END
            ORDER BY s.is_same AND d.fits DESC, f.slot = fact_slot DESC, f.holds_from DESC LIMIT 1
            FOR NO KEY UPDATE OF f;
    END IF;
    IF known.id IS NULL AND fact.replaces IS NOT NULL THEN
        outcome := 'not_active';
        RETURN NEXT;
        RETURN;
    END IF;
    IF says_same AND fits AND needs_approval THEN
        -- A source that needs approval cannot confirm a fact either.
        fact.id := known.id;
        outcome := 'known';
    ELSIF says_same AND fits
       AND (NOT fact.regrades
            OR coalesce(fact.importance = known.importance, true)
               AND coalesce(fact.permanence = known.permanence, true)
               AND coalesce(fact.tags = known.tags, true)
               AND fact.metadata <@ fading_unmarked(known.metadata)) THEN
        PERFORM confirm_fact(p_tenant, p_actor, p_request_id, p_at, fact.created_event_id, known.id, sources);
        UPDATE facts f SET reference_count = f.reference_count + 1, last_referenced_at = p_at
            WHERE f.tenant_id = p_tenant AND f.id = known.id;
        fact.id := known.id;
        outcome := 'confirmed';
    ELSE
        version := embedding_version(p_tenant, fact.model, fact.model_version, fact.dimensions, p_at);
        -- Most tenants have neither forgotten nor rejected statements, and looking for this one among them costs more than asking that.
        SELECT EXISTS (SELECT FROM facts f WHERE f.tenant_id = p_tenant AND f.validity = 'retracted')
               OR EXISTS (SELECT FROM tombstones t WHERE t.tenant_id = p_tenant AND t.hash IS NOT NULL AND t.allowed_at IS NULL),
               EXISTS (SELECT FROM proposals p WHERE p.tenant_id = p_tenant AND p.state = 'rejected'),
               EXISTS (SELECT FROM facts f
                       WHERE f.tenant_id = p_tenant AND f.holder = of_holder AND (f.validity = 'active') IS TRUE
                         AND f.id IS DISTINCT FROM known.id)
            INTO has_forgotten, has_rejected, has_others;
        IF has_forgotten AND fact.forgotten <> 'checked' THEN
            SELECT jsonb_agg(to_jsonb(f)) INTO answer
                FROM forgotten_facts(p_tenant, about.id, fact.subject, of_key, fact.content, fact.valid_from,
                                     p_embedding, version, fact.near) f;
            IF answer IS NOT NULL AND fact.forgotten = 'heed' THEN
                outcome := 'forgotten';
                RETURN NEXT;
                RETURN;
            END IF;
        END IF;
        IF has_rejected OR needs_approval THEN
            said_key := fact_statement(of_holder, of_key, fact.content)
                || md5(concat_ws(E'\x1f', 'fact', fact.scope, of_holder, of_key,
                                 of_content, coalesce(fact.valid_from::text, ''), coalesce(fact.valid_to::text, '')));
        END IF;
        -- unless a person states or approves it, or it is stored already, in whatever scope
        IF has_rejected AND says_same IS NOT TRUE AND fact.source <> 'person' AND fact.approved IS NOT TRUE THEN
            IF was_rejected(p_tenant, said_key,
                            ARRAY(SELECT fact_statement(h, of_key, fact.content)
                                  FROM unnest(statement_holders(p_tenant, about.id, fact.subject)) AS h))
               AND NOT EXISTS (SELECT FROM facts f
                               WHERE f.tenant_id = p_tenant
                                 AND f.holder IN (of_holder, fact_holder(NULL, fact.subject))
                                 AND f.predicate_key = of_key AND (f.validity = 'active') IS TRUE
                                 AND content_key(f.content) = of_content) THEN
                outcome := 'rejected';
                RETURN NEXT;
                RETURN;
            END IF;
        END IF;
        IF needs_approval THEN
            SELECT p.outcome, jsonb_build_object('id', p.proposal_id, 'superseded_id', NULL, 'entity_id', about.id,
                                                 'linked_by', about.linked_by, 'proposed', true)
                INTO outcome, answer
                FROM propose(p_tenant, p_actor, p_request_id, p_at, 'fact', fact.id, p_fact, said_key, fact.source) p;
            PERFORM keep_response(p_tenant, p_at, p_request, answer) WHERE outcome = 'proposed';
            RETURN NEXT;
            RETURN;
        END IF;
        IF answer IS NOT NULL THEN
            PERFORM lift_tombstone(p_tenant, p_actor, p_request_id, p_at, 'fact', (f ->> 'id')::uuid)
                FROM jsonb_array_elements(answer) f WHERE (f ->> 'is_same')::boolean;
        END IF;
        outcome := 'stored';
        IF known.id IS NOT NULL
           AND (says_same AND fits
                OR fact.replaces IS NOT NULL
                   AND (fact.corrects OR fact.valid_from IS NULL AND fact.valid_to IS NULL
                                         AND NOT (known.holds_from <= said AND said < known.holds_to))) THEN
            -- Another version of the same statement: it holds when the other one did. To name a start or an end changes only that.
            UPDATE facts f SET validity = 'superseded' WHERE f.tenant_id = p_tenant AND f.id = known.id;
            PERFORM correct_fact(p_tenant, stored_at, known.id);
            ended := ARRAY[known.id];
            fact.dates := nullif(coalesce(known.dates, '{}') - fact.removed_dates || coalesce(fact.dates, '{}'), '{}');
            fact.valid_from := CASE WHEN 'valid_from' <> ALL (fact.removed_dates) THEN coalesce(fact.valid_from, known.valid_from) END;
            fact.valid_to := CASE WHEN 'valid_to' <> ALL (fact.removed_dates) THEN coalesce(fact.valid_to, known.valid_to) END;
            fact.observed_at := coalesce(fact.observed_at, known_said);
            IF fact.valid_from >= fact.valid_to THEN
                RAISE EXCEPTION 'valid_to is not after valid_from' USING ERRCODE = 'check_violation', CONSTRAINT = 'facts_valid_interval';
            END IF;
        END IF;
        is_dated := rule.is_temporal OR ended <> '{}' OR num_nonnulls(fact.valid_from, fact.valid_to, fact.observed_at) > 0
            OR has_dates OR coalesce(last_date > stored_at, false);
        IF others <> '{}' THEN
            -- What it supersedes in other slots, and, if no dates are involved, in its own. Usually that is
            -- the known fact alone, which is locked already.
            IF others <@ ARRAY[known.id] AND ended = '{}' AND (known.slot = fact_slot OR known.id = fact.replaces) THEN
                superseded := ARRAY[known];
            ELSE
                superseded := ARRAY(
                    SELECT f
                    FROM facts f
                    WHERE f.tenant_id = p_tenant AND f.holder IN (of_holder, replaced_holder) AND f.id = ANY (others)
                      AND (f.validity = 'active') IS TRUE
                      AND (f.id = fact.replaces OR f.slot = fact_slot
                           OR said_by_many AND slot_base(f.slot) <> fact_slot AND content_key(f.content) = of_content
                              AND coalesce(f.object_entity_id = object_id, true))
                    ORDER BY f.id IS NOT DISTINCT FROM fact.replaces DESC, f.slot = fact_slot DESC, f.slot
                    FOR NO KEY UPDATE);
            END IF;
            FOREACH other IN ARRAY superseded LOOP
                IF ended = '{}' AND NOT (is_dated AND other.slot = fact_slot AND fact.valid_to <= said) THEN
                    fact.importance := coalesce(fact.importance, other.importance);
                    fact.decay_rate := CASE WHEN fact.permanence IS NULL THEN other.decay_rate ELSE fact.decay_rate END;
                    fact.permanence := coalesce(fact.permanence, other.permanence);
                    fact.tags := coalesce(fact.tags, other.tags);
                END IF;
                CONTINUE WHEN is_dated AND other.slot = fact_slot;
                PERFORM hold_fact(p_tenant, stored_at, other.id, other.holds_from, greatest(other.holds_from, stored_at), 'superseded');
                ended := ended || other.id;
            END LOOP;
        END IF;
        -- The first statement of a key has been true for as long as anybody knows. Another one is a change.
        is_new := NOT is_dated AND ended = '{}';
        IF is_new THEN
            is_new := NOT EXISTS (
                SELECT FROM facts f
                WHERE f.tenant_id = p_tenant AND f.holder = of_holder AND f.predicate_key = of_key AND (f.scope = fact.scope) IS TRUE
                  AND slot_base(f.slot) = fact_slot AND NOT f.corrected);
        END IF;
        INSERT INTO facts (tenant_id, id, subject, predicate, content, embedding, search_vector, scope, importance, confidence,
                           decay_rate, permanence, entity_id, object_entity_id, slot, source_episode_id, source_butler,
                           created_at, last_confirmed_at, tags, metadata, embedding_version_id, supersedes_id,
                           valid_from, valid_to, observed_at, dates, holds_from, source)
            VALUES (p_tenant, fact.id, fact.subject, fact.predicate, fact.content, p_embedding::vector,
                    memory_search_vector(fact.search_text), fact.scope, coalesce(fact.importance, 5), fact.confidence,
                    coalesce(fact.decay_rate, 0.008), coalesce(fact.permanence, 'standard'), about.id, object_id,
                    CASE WHEN is_dated THEN fact_slot || '@new' ELSE fact_slot END,
                    fact.source_episode_id, fact.source_butler, stored_at, p_at, coalesce(fact.tags, '[]'), fact.metadata,
                    version, ended[1],
                    fact.valid_from, fact.valid_to, fact.observed_at, fact.dates, CASE WHEN is_new THEN '-infinity' ELSE stored_at END,
                    fact.source);
        IF is_dated THEN
            ended := ended || CASE WHEN rule.is_temporal
                THEN place_moment(p_tenant, stored_at, fact.scope, of_holder, of_key, fact_slot, fact.id)
                ELSE place_facts(p_tenant, p_actor, p_request_id, stored_at, fact.scope, of_holder, of_key, fact_slot, fact.id) END;
            UPDATE facts f SET supersedes_id = ended[1] WHERE f.tenant_id = p_tenant AND f.id = fact.id AND ended <> '{}';
        END IF;
        IF sources <> '{}' THEN
            links := link_episodes(p_tenant, p_at, 'derived_from', 'fact', fact.id, sources);
        END IF;
        FOR place IN 1 .. cardinality(ended) LOOP
            links := links || supersede_fact(p_tenant, p_actor, p_request_id, p_at,
                coalesce(fact.superseded_event_ids[place], gen_random_uuid()), fact.id, ended[place]);
        END LOOP;
        PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, fact.created_event_id, 'fact_created', 'fact', fact.id,
            with_links(
                jsonb_build_object(
                    'after', fact.event || jsonb_build_object(
                        'importance', coalesce(fact.importance, 5), 'permanence', coalesce(fact.permanence, 'standard'),
                        'tags', coalesce(fact.tags, '[]'), 'entity_id', about.id, 'object_entity_id', object_id,
                        'source', fact.source)
                        || coalesce(fact.dates, '{}'),
                    'supersedes_id', ended[1]),
                links));
    END IF;
    answer := jsonb_strip_nulls(jsonb_build_object(
        'candidates', about.candidates, 'object_entity_id', object_id, 'object_candidates', object_candidates,
        'confirmed', CASE WHEN outcome = 'confirmed' THEN true END,
        -- Nothing else is known about its subject. Of two facts that are stored at the same moment, both may seem alone; the job
        -- compares them. Placing dated facts may make another one active.
        'alone', CASE WHEN NOT has_others AND NOT is_dated AND about.id IS NULL AND (known.id IS NULL OR known.id = ANY (ended))
                      THEN true END))
        || jsonb_build_object('id', fact.id, 'superseded_id', ended[1], 'entity_id', about.id, 'linked_by', about.linked_by);
    IF p_request IS NOT NULL THEN
        PERFORM keep_response(p_tenant, p_at, p_request, answer);
    END IF;
    RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION store_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION store_fact TO butler_app;
COMMENT ON FUNCTION store_fact IS
    'Stores a fact. outcome: stored, confirmed (it was known), proposed (it waits for approval), or why nothing was stored: no_entity, '
    'entity_merged, no_object, object_merged, edge_to_itself, no_episode, not_active (what it replaces), known (and who says it again '
    'needs approval), forgotten (answer: the candidates), rejected (the proposal was).';
