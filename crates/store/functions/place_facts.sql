-- When the facts of a key hold. A fact is a statement: it may tell since when and until when it is true, and when it was
-- said. What each means for the others follows from all statements of the key, in the order in which they were said:
-- docs/time.md has the table of cases, and tests/core/time.rs of butler-memory goes through it.
--
-- A key here is the tenant, scope, holder, predicate and the base of the slot, which is the slot without @ and the time.

CREATE OR REPLACE FUNCTION slot_base(slot text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT split_part(slot, '@', 1) $$;
COMMENT ON FUNCTION slot_base IS 'The slot of the present value: an object or a hash of the content, empty for a predicate of one value.';

CREATE OR REPLACE FUNCTION slot_at(base text, holds_from timestamptz) RETURNS text LANGUAGE sql STABLE
    AS $$ SELECT base || '@' || CASE WHEN isfinite(holds_from) THEN to_char(holds_from AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') ELSE '' END $$;
COMMENT ON FUNCTION slot_at IS 'The slot of a fact that holds at another time than the present.';

-- Each statement is placed among those that were said before it:
-- - It begins when it says. Without a date it continues what was known to be the same; the first of its key has always been
--   true as far as anybody knows; any other is a change that begins when it was said. "Until 2019" begins where the one
--   before ends.
-- - It ends when it says, else where the next statement begins that has a date and no end of its own.
-- - What was said before gives way: it ends where this one begins; if this one tells of the past, it begins where this one
--   ends, and so it does if nobody knows when it began; what this one covers never held. A period within a longer one
--   leaves that as it is.
-- - The same value again takes the other's place, and so does another period of the past that overlaps.
-- A forgotten or expired fact still bounds the others; a corrected one, or a plan that never came true, does not.
CREATE OR REPLACE FUNCTION placed_facts(
    p_tenant text, p_scope text, p_holder text, p_predicate_key text, p_base text, p_without uuid[])
RETURNS TABLE (id uuid, holds_from timestamptz, holds_to timestamptz) LANGUAGE plpgsql STABLE AS $$
DECLARE
    said record;
    ids uuid[] := '{}';
    starts timestamptz[] := '{}';
    ends timestamptz[] := '{}';
    is_dated boolean[] := '{}';
    closed_ends timestamptz[] := '{}';
    contents text[] := '{}';
    begins timestamptz;
    finish timestamptz;
    begins_dated boolean;
    is_past boolean;
BEGIN
    FOR said IN
        SELECT f.id, coalesce(f.observed_at, f.created_at) AS at, f.valid_from, f.valid_to,
               content_key(f.content) || coalesce(f.object_entity_id::text, '') AS value
        FROM facts f
        WHERE f.tenant_id = p_tenant AND f.holder = p_holder AND f.predicate_key = p_predicate_key AND f.scope = p_scope
          AND slot_base(f.slot) = p_base AND NOT f.corrected AND f.id <> ALL (p_without)
          -- a plan that was forgotten before its time
          AND NOT coalesce(f.ended_at <= f.holds_from AND f.holds_from > f.created_at, false)
        ORDER BY coalesce(f.observed_at, f.created_at), f.created_at, f.id
    LOOP
        is_past := coalesce(said.valid_to <= said.at, false);
        begins := said.valid_from;
        begins_dated := begins IS NOT NULL;
        IF begins IS NULL THEN
            SELECT o.start, o.dated INTO begins, begins_dated
                FROM unnest(starts, ends, is_dated, contents) AS o (start, finish, dated, value)
                WHERE o.value = said.value AND o.start < o.finish
                  AND o.start < coalesce(said.valid_to, 'infinity') AND o.start <= said.at AND o.finish > said.at
                ORDER BY o.start DESC LIMIT 1;
        END IF;
        IF begins IS NULL AND is_past THEN
            SELECT coalesce(max(o.finish), '-infinity'), false INTO begins, begins_dated
                FROM unnest(starts, ends) AS o (start, finish) WHERE o.start < o.finish AND o.finish <= said.valid_to;
            begins := CASE WHEN begins < said.valid_to THEN begins ELSE '-infinity' END;
        ELSIF begins IS NULL THEN
            begins_dated := false;
            begins := CASE WHEN ids = '{}' THEN '-infinity' ELSE said.at END;
        END IF;
        finish := said.valid_to;
        IF finish IS NULL THEN
            SELECT min(o.start) INTO finish FROM unnest(starts, ends, is_dated, closed_ends, contents) AS o (start, finish, dated, closed, value)
                WHERE o.dated AND o.closed IS NULL AND o.start < o.finish AND o.start > begins AND o.value <> said.value;
            finish := coalesce(finish, 'infinity');
        END IF;

        FOR i IN 1 .. cardinality(ids) LOOP
            CONTINUE WHEN starts[i] >= ends[i] OR ends[i] <= begins OR starts[i] >= finish;
            IF contents[i] = said.value AND starts[i] > said.at THEN
                -- A plan that is changed before its time never counted.
                RETURN QUERY
                    SELECT * FROM placed_facts(p_tenant, p_scope, p_holder, p_predicate_key, p_base, p_without || ids[i])
                    UNION ALL SELECT ids[i], starts[i], starts[i];
                RETURN;
            END IF;
            IF contents[i] = said.value OR (is_past AND closed_ends[i] <= said.at) THEN
                ends[i] := starts[i];
            ELSIF starts[i] >= begins OR is_past AND starts[i] = '-infinity' AND finish < ends[i] THEN
                IF is_past AND finish < ends[i] THEN
                    starts[i] := finish;
                ELSE
                    ends[i] := starts[i];
                END IF;
            ELSIF said.valid_to IS NULL OR finish >= ends[i] THEN
                ends[i] := begins;
            END IF;
        END LOOP;
        ids := ids || said.id;
        starts := starts || begins;
        ends := ends || finish;
        is_dated := is_dated || begins_dated;
        closed_ends := closed_ends || said.valid_to;
        contents := contents || said.value;
    END LOOP;
    RETURN QUERY SELECT * FROM unnest(ids, starts, ends);
END $$;
REVOKE EXECUTE ON FUNCTION placed_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION placed_facts TO butler_app;
COMMENT ON FUNCTION placed_facts IS 'When each fact of a key holds, from all statements of the key. Not for temporal predicates.';

-- What was believed until now about when a fact holds is kept (fact_beliefs), then changed. p_validity changes with it, because
-- each update of these columns renews the row in all indexes.
CREATE OR REPLACE FUNCTION hold_fact(
    p_tenant text, p_at timestamptz, p_id uuid, p_from timestamptz, p_to timestamptz, p_validity text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO fact_beliefs (tenant_id, fact_id, believed_from, believed_to, holds_from, holds_to)
        SELECT f.tenant_id, f.id, coalesce(f.placed_at, f.created_at), p_at, f.holds_from, f.holds_to
        FROM facts f
        WHERE f.tenant_id = p_tenant AND f.id = p_id AND f.ended_at IS NULL AND f.holds_from < f.holds_to
          AND coalesce(f.placed_at, f.created_at) < p_at
        ON CONFLICT DO NOTHING;
    UPDATE facts f SET holds_from = p_from, holds_to = p_to, placed_at = greatest(f.placed_at, f.created_at, p_at),
                       validity = coalesce(p_validity, f.validity)
        WHERE f.tenant_id = p_tenant AND f.id = p_id;
END $$;
REVOKE EXECUTE ON FUNCTION hold_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hold_fact TO butler_app;
COMMENT ON FUNCTION hold_fact IS 'Changes when a fact holds and, if given, its validity, and keeps what was believed before.';

-- A fact that is believed again after it was forgotten or expired: the time between is a gap.
CREATE OR REPLACE FUNCTION believe_again(p_tenant text, p_at timestamptz, p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO fact_beliefs (tenant_id, fact_id, believed_from, believed_to, holds_from, holds_to)
        SELECT f.tenant_id, f.id, coalesce(f.placed_at, f.created_at), f.ended_at, f.holds_from, f.holds_to
        FROM facts f
        WHERE f.tenant_id = p_tenant AND f.id = p_id AND f.holds_from < f.holds_to
          AND coalesce(f.placed_at, f.created_at) < f.ended_at
        ON CONFLICT DO NOTHING;
    UPDATE facts f SET placed_at = greatest(f.ended_at, p_at), ended_at = NULL
        WHERE f.tenant_id = p_tenant AND f.id = p_id AND f.ended_at IS NOT NULL;
END $$;
REVOKE EXECUTE ON FUNCTION believe_again FROM PUBLIC;
GRANT EXECUTE ON FUNCTION believe_again TO butler_app;
COMMENT ON FUNCTION believe_again IS 'Makes a fact believed again, and keeps when it had been believed before.';

-- It was never true: another fact takes its place.
CREATE OR REPLACE FUNCTION correct_fact(p_tenant text, p_at timestamptz, p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hold_fact(p_tenant, p_at, p_id, 'infinity', 'infinity');
    UPDATE facts f SET corrected = true WHERE f.tenant_id = p_tenant AND f.id = p_id;
END $$;
REVOKE EXECUTE ON FUNCTION correct_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION correct_fact TO butler_app;
COMMENT ON FUNCTION correct_fact IS 'Lets a fact hold at no time. Its key is placed without it from now on.';

-- Places all facts of a key, and says of each whether it is the present value, one of another time, or superseded. p_new is
-- the fact that is being stored, with its slot still open; NULL when only time has passed. Returns the facts that are
-- superseded now. The caller holds the lock of the key.
CREATE OR REPLACE FUNCTION place_facts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_scope text, p_holder text, p_predicate_key text,
    p_base text, p_new uuid)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    fact record;
    present uuid;
    states jsonb := '[]';
    state text;
    slot_now text;
    ended uuid[] := '{}';
    -- those whose successor is recorded here
    lost uuid[] := '{}';
    successor uuid;
BEGIN
    FOR fact IN
        SELECT f.id, f.validity, f.slot, f.valid_to, f.holds_from AS was_from, f.holds_to AS was_to, p.holds_from, p.holds_to
        FROM placed_facts(p_tenant, p_scope, p_holder, p_predicate_key, p_base, '{}') p
        JOIN facts f ON f.tenant_id = p_tenant AND f.id = p.id AND f.ended_at IS NULL
        ORDER BY f.id FOR NO KEY UPDATE OF f
    LOOP
        states := states || to_jsonb(fact);
    END LOOP;
    SELECT s.id INTO present FROM jsonb_to_recordset(states) AS s (id uuid, holds_from timestamptz, holds_to timestamptz)
        WHERE s.holds_from <= p_at AND p_at < s.holds_to ORDER BY s.holds_from DESC, s.id LIMIT 1;
    -- The present slot, and those that pass to another fact, are freed before they are taken.
    UPDATE facts f SET slot = p_base || '@' || f.id
        FROM jsonb_to_recordset(states) AS s (
            id uuid, slot text, holds_from timestamptz, holds_to timestamptz, was_from timestamptz)
        WHERE f.tenant_id = p_tenant AND f.id = s.id AND f.validity = 'active'
          AND (s.slot = p_base AND s.id IS DISTINCT FROM present
               OR (s.holds_from <> s.was_from OR s.holds_from >= s.holds_to) AND s.slot <> p_base);
    FOR fact IN
        SELECT s.* FROM jsonb_to_recordset(states) AS s (
            id uuid, validity text, slot text, valid_to timestamptz, was_from timestamptz, was_to timestamptz,
            holds_from timestamptz, holds_to timestamptz)
        ORDER BY s.id
    LOOP
        state := CASE WHEN fact.holds_from >= fact.holds_to THEN 'superseded'
                      WHEN fact.id = present OR fact.holds_from > p_at THEN 'active'
                      WHEN fact.validity = 'superseded' AND fact.holds_to <= p_at THEN 'superseded'
                      -- it was the present value until another one began
                      WHEN (fact.slot = p_base OR fact.id IS DISTINCT FROM p_new AND fact.was_from <= p_at AND p_at < fact.was_to)
                           AND fact.holds_to <= p_at AND fact.holds_to IS DISTINCT FROM fact.valid_to THEN 'superseded'
                      ELSE 'active' END;
        slot_now := CASE WHEN fact.id = present OR state = 'superseded' THEN p_base ELSE slot_at(p_base, fact.holds_from) END;
        IF fact.id = p_new THEN
            UPDATE facts f SET holds_from = fact.holds_from, holds_to = fact.holds_to, validity = state, slot = slot_now
                WHERE f.tenant_id = p_tenant AND f.id = fact.id;
            -- Something that was said later covers it.
            IF state = 'superseded' THEN
                lost := ARRAY[fact.id];
            END IF;
            CONTINUE;
        END IF;
        IF (fact.holds_from, fact.holds_to) <> (fact.was_from, fact.was_to) THEN
            PERFORM hold_fact(p_tenant, p_at, fact.id, fact.holds_from, fact.holds_to);
        END IF;
        UPDATE facts f SET validity = state, slot = slot_now
            WHERE f.tenant_id = p_tenant AND f.id = fact.id AND (f.validity <> state OR f.slot <> slot_now);
        IF fact.validity = 'active' AND state = 'superseded' THEN
            ended := ended || fact.id;
        ELSIF fact.validity = 'superseded' AND state = 'active' THEN
            -- Its successor begins later, because it was stored under a clock that was ahead: it will supersede in its time.
            DELETE FROM memory_links l USING facts n
                WHERE l.tenant_id = p_tenant AND l.target_type = 'fact' AND l.target_id = fact.id AND l.source_type = 'fact'
                  AND l.relation = 'supersedes' AND n.tenant_id = p_tenant AND n.id = l.source_id AND n.ended_at IS NULL;
            UPDATE facts n SET supersedes_id = NULL
                WHERE n.tenant_id = p_tenant AND n.supersedes_id = fact.id AND n.ended_at IS NULL;
            PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'fact_restored', 'fact', fact.id,
                jsonb_build_object('before', jsonb_build_object('validity', 'superseded'),
                                   'after', jsonb_build_object('validity', 'active')));
        ELSIF (fact.holds_from, fact.holds_to) <> (fact.was_from, fact.was_to) THEN
            PERFORM record_event(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), 'fact_redated', 'fact', fact.id,
                jsonb_build_object('before', jsonb_build_object('holds_from', fact.was_from, 'holds_to', fact.was_to),
                                   'after', jsonb_build_object('holds_from', fact.holds_from, 'holds_to', fact.holds_to)));
        END IF;
    END LOOP;
    IF p_new IS NULL THEN
        lost := ended;
    END IF;
    FOR i IN 1 .. cardinality(lost) LOOP
        successor := present;
        IF successor IS NULL THEN
            -- A fact of another time took its place, or one that was forgotten since.
            SELECT n.id INTO successor
                FROM facts o
                JOIN facts n ON n.tenant_id = p_tenant AND n.holder = p_holder AND n.predicate_key = p_predicate_key
                WHERE o.tenant_id = p_tenant AND o.id = lost[i] AND n.id <> o.id AND n.scope = p_scope
                  AND slot_base(n.slot) = p_base AND NOT n.corrected AND n.holds_from < n.holds_to
                  AND (n.validity = 'active' OR n.ended_at IS NOT NULL)
                ORDER BY n.ended_at IS NOT NULL,
                         n.holds_from < coalesce(o.valid_to, 'infinity')
                             AND coalesce(o.valid_from, '-infinity') < n.holds_to DESC,
                         n.holds_from DESC, n.id
                LIMIT 1;
        END IF;
        CONTINUE WHEN successor IS NULL;
        IF p_new IS NULL THEN
            UPDATE facts f SET supersedes_id = lost[i]
                WHERE f.tenant_id = p_tenant AND f.id = successor AND f.supersedes_id IS NULL;
        END IF;
        PERFORM supersede_fact(p_tenant, p_actor, p_request_id, p_at, gen_random_uuid(), successor, lost[i]);
    END LOOP;
    RETURN ended;
END $$;
REVOKE EXECUTE ON FUNCTION place_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION place_facts TO butler_app;
COMMENT ON FUNCTION place_facts IS
    'Places the facts of a key in time and returns those that are superseded now. With p_new, the caller records that it superseded them.';

-- Temporal predicates: each value belongs to its moment and holds until the next one. All are active. p_new is placed; the
-- others only give way to it. Returns the fact of the same moment, which it supersedes.
CREATE OR REPLACE FUNCTION place_moment(
    p_tenant text, p_at timestamptz, p_scope text, p_holder text, p_predicate_key text, p_base text, p_new uuid)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    new_fact record;
    begins timestamptz;
    finish timestamptz;
    earlier record;
    ended uuid[] := '{}';
BEGIN
    SELECT f.valid_from, f.valid_to, coalesce(f.observed_at, f.created_at) AS said INTO new_fact
        FROM facts f WHERE f.tenant_id = p_tenant AND f.id = p_new;
    begins := coalesce(new_fact.valid_from, least(new_fact.said, new_fact.valid_to - interval '1 microsecond'));
    -- Several of a batch have no date of their own; each is a moment later.
    WHILE new_fact.valid_from IS NULL AND EXISTS (
        SELECT FROM facts f
        WHERE f.tenant_id = p_tenant AND f.holder = p_holder AND f.predicate_key = p_predicate_key AND f.scope = p_scope
          AND f.holds_from = begins AND f.holds_from < f.holds_to AND f.valid_from IS NULL AND f.id <> p_new)
    LOOP
        begins := begins + interval '1 microsecond';
    END LOOP;
    FOR earlier IN
        SELECT f.id, f.valid_from, f.valid_to, f.holds_from, f.holds_to FROM facts f
        WHERE f.tenant_id = p_tenant AND f.holder = p_holder AND f.predicate_key = p_predicate_key AND f.scope = p_scope
          AND slot_base(f.slot) = p_base AND f.holds_from <= begins AND f.holds_from < f.holds_to AND f.ended_at IS NULL AND f.id <> p_new
        ORDER BY f.holds_from DESC
    LOOP
        IF earlier.holds_from < begins THEN
            IF earlier.holds_to > begins THEN
                PERFORM hold_fact(p_tenant, p_at, earlier.id, earlier.holds_from, begins);
            END IF;
            -- stored when the predicate was not temporal yet
            UPDATE facts f SET slot = slot_at(p_base, f.holds_from)
                WHERE f.tenant_id = p_tenant AND f.id = earlier.id AND f.slot = p_base;
            EXIT;
        END IF;
        PERFORM hold_fact(p_tenant, p_at, earlier.id, earlier.holds_from, earlier.holds_from);
        UPDATE facts f SET validity = 'superseded' WHERE f.tenant_id = p_tenant AND f.id = earlier.id;
        ended := ended || earlier.id;
    END LOOP;
    SELECT min(f.holds_from) INTO finish FROM facts f
        WHERE f.tenant_id = p_tenant AND f.holder = p_holder AND f.predicate_key = p_predicate_key AND f.scope = p_scope
          AND slot_base(f.slot) = p_base AND f.holds_from > begins AND f.holds_from < f.holds_to AND f.ended_at IS NULL AND f.id <> p_new;
    UPDATE facts f SET holds_from = begins, holds_to = least(new_fact.valid_to, finish, 'infinity'), slot = slot_at(p_base, begins)
        WHERE f.tenant_id = p_tenant AND f.id = p_new;
    RETURN ended;
END $$;
REVOKE EXECUTE ON FUNCTION place_moment FROM PUBLIC;
GRANT EXECUTE ON FUNCTION place_moment TO butler_app;
COMMENT ON FUNCTION place_moment IS 'Places a value of a temporal predicate and returns the facts of the same moment, superseded now.';

CREATE OR REPLACE FUNCTION place_again(p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_id uuid)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    fact record;
BEGIN
    SELECT f.scope, f.holder, f.predicate_key, slot_base(f.slot) AS base, r.is_temporal INTO fact
        FROM facts f, predicate_rule(p_tenant, f.predicate_key) r WHERE f.tenant_id = p_tenant AND f.id = p_id;
    IF fact.is_temporal THEN
        PERFORM place_moment(p_tenant, p_at, fact.scope, fact.holder, fact.predicate_key, fact.base, p_id);
    ELSE
        PERFORM place_facts(p_tenant, p_actor, p_request_id, p_at, fact.scope, fact.holder, fact.predicate_key, fact.base, NULL);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION place_again FROM PUBLIC;
GRANT EXECUTE ON FUNCTION place_again TO butler_app;
COMMENT ON FUNCTION place_again IS 'Places a fact that counts again, and the others of its key.';

-- After facts of two keys met: the statements of both are placed together. The caller keeps writers away.
CREATE OR REPLACE FUNCTION place_joined(p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_holder text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    key record;
BEGIN
    FOR key IN
        SELECT f.scope, f.predicate_key, slot_base(f.slot) AS base
        FROM facts f
        WHERE f.tenant_id = p_tenant AND f.holder = p_holder AND fact_is_active(f.validity)
        GROUP BY f.scope, f.predicate_key, slot_base(f.slot)
        HAVING count(*) > 1 AND NOT (SELECT r.is_temporal FROM predicate_rule(p_tenant, f.predicate_key) r)
    LOOP
        PERFORM place_facts(p_tenant, p_actor, p_request_id, p_at, key.scope, p_holder, key.predicate_key, key.base, NULL);
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION place_joined FROM PUBLIC;
GRANT EXECUTE ON FUNCTION place_joined TO butler_app;
COMMENT ON FUNCTION place_joined IS 'Places the facts of every key of a holder that has more than one active fact.';

-- The passing of time: a present value whose time is over makes room for what comes after it. Recall goes by the dates, so it
-- does not wait for this.
CREATE OR REPLACE FUNCTION settle_facts(
    p_tenant text, p_actor text, p_request_id text, p_at timestamptz, p_rows bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    fact record;
    settled bigint := 0;
BEGIN
    FOR fact IN
        SELECT DISTINCT f.tenant_id, f.scope, f.holder, f.predicate_key, f.slot
        FROM (SELECT * FROM facts x
              WHERE x.validity = 'active' AND x.holds_to < 'infinity' AND strpos(x.slot, '@') = 0 AND x.holds_to <= p_at
                AND (p_tenant IS NULL OR x.tenant_id = p_tenant)
              ORDER BY x.holds_to LIMIT p_rows) f
    LOOP
        -- A key that a writer has locked is settled by the writer, or by the next run.
        CONTINUE WHEN (SELECT r.is_temporal FROM predicate_rule(fact.tenant_id, fact.predicate_key) r)
            OR NOT pg_try_advisory_xact_lock(fact_key_lock(fact.tenant_id, fact.scope, fact.holder, fact.predicate_key));
        PERFORM place_facts(fact.tenant_id, p_actor, p_request_id, p_at, fact.scope, fact.holder, fact.predicate_key, fact.slot, NULL);
        settled := settled + 1;
    END LOOP;
    RETURN settled;
END $$;
REVOKE EXECUTE ON FUNCTION settle_facts FROM PUBLIC;
COMMENT ON FUNCTION settle_facts IS 'Moves present values whose time is over to the past, and what begins then to the present. Returns how many keys.';
