-- Predicates that every tenant knows without registering them. A tenant's own row of the same name wins (table predicates).
-- A predicate that is in neither has one value: a new statement supersedes the old one.
--
-- To add one, add a line. Names are in normal form (predicate_key). An inverse must be on the list, and name this one.
CREATE OR REPLACE FUNCTION builtin_predicates()
RETURNS TABLE (name text, cardinality text, inverse text, is_symmetric boolean, is_temporal boolean, object_type text, description text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 70 AS $$
    VALUES
        -- taste
        ('likes', 'many', NULL, false, false, NULL, 'something the subject likes'),
        ('dislikes', 'many', NULL, false, false, NULL, 'something the subject dislikes'),
        ('loves', 'many', NULL, false, false, NULL, 'somebody or something the subject loves'),
        ('hates', 'many', NULL, false, false, NULL, 'something the subject hates'),
        ('enjoys', 'many', NULL, false, false, NULL, 'an activity the subject enjoys'),
        ('avoids', 'many', NULL, false, false, NULL, 'something the subject avoids'),
        ('fears', 'many', NULL, false, false, NULL, 'something the subject is afraid of'),
        ('interested_in', 'many', NULL, false, false, NULL, 'a subject of interest'),
        ('hobby', 'many', NULL, false, false, NULL, 'a pastime'),
        ('fan_of', 'many', NULL, false, false, NULL, 'a team, artist or work the subject follows'),
        -- body and health
        ('allergic_to', 'many', NULL, false, false, NULL, 'something the subject must not eat, take or touch'),
        ('intolerant_to', 'many', NULL, false, false, NULL, 'something the subject does not tolerate'),
        ('takes_medication', 'many', NULL, false, false, NULL, 'a medicine taken regularly'),
        ('has_condition', 'many', NULL, false, false, NULL, 'a lasting illness or disability'),
        ('vaccinated_against', 'many', NULL, false, false, NULL, 'a vaccination received'),
        ('weight', 'one', NULL, false, true, NULL, 'a measured body weight'),
        ('blood_pressure', 'one', NULL, false, true, NULL, 'a measured blood pressure'),
        ('dose', 'one', NULL, false, true, NULL, 'an amount taken at a time'),
        ('meal', 'one', NULL, false, true, NULL, 'what was eaten at a time'),
        ('measured', 'one', NULL, false, true, NULL, 'any other measurement'),
        -- people
        ('knows', 'many', NULL, true, false, 'person', 'an acquaintance'),
        ('friend_of', 'many', NULL, true, false, 'person', 'a friend'),
        ('has_friend', 'many', NULL, true, false, 'person', 'a friend'),
        ('married_to', 'one', NULL, true, false, 'person', 'husband or wife'),
        ('spouse', 'one', NULL, true, false, 'person', 'husband or wife'),
        ('partner', 'one', NULL, true, false, 'person', 'life partner'),
        ('sibling_of', 'many', NULL, true, false, 'person', 'brother or sister'),
        ('has_sister', 'many', NULL, false, false, 'person', 'a sister'),
        ('has_brother', 'many', NULL, false, false, 'person', 'a brother'),
        ('has_child', 'many', 'child_of', false, false, 'person', 'a son or daughter'),
        ('child_of', 'many', 'has_child', false, false, 'person', 'mother or father'),
        ('parent_of', 'many', 'has_parent', false, false, 'person', 'a son or daughter'),
        ('has_parent', 'many', 'parent_of', false, false, 'person', 'mother or father'),
        ('grandparent_of', 'many', 'grandchild_of', false, false, 'person', 'a grandchild'),
        ('grandchild_of', 'many', 'grandparent_of', false, false, 'person', 'a grandparent'),
        ('has_pet', 'many', 'pet_of', false, false, NULL, 'an animal the subject keeps'),
        ('pet_of', 'one', 'has_pet', false, false, 'person', 'who keeps the animal'),
        ('neighbor_of', 'many', NULL, true, false, 'person', 'somebody who lives next to the subject'),
        ('colleague_of', 'many', NULL, true, false, 'person', 'somebody the subject works with'),
        ('works_with', 'many', NULL, true, false, 'person', 'somebody the subject works with'),
        ('related_to', 'many', NULL, true, false, NULL, 'a relation that has no predicate of its own'),
        ('met', 'many', NULL, true, false, 'person', 'somebody the subject has met'),
        -- work
        ('manages', 'many', 'managed_by', false, false, NULL, 'a person, team or project the subject leads'),
        ('managed_by', 'one', 'manages', false, false, 'person', 'who leads the subject'),
        ('reports_to', 'one', 'has_report', false, false, 'person', 'the direct superior'),
        ('has_report', 'many', 'reports_to', false, false, 'person', 'a direct report'),
        ('employs', 'many', 'employed_by', false, false, 'person', 'somebody who works for the subject'),
        ('employed_by', 'one', 'employs', false, false, 'organization', 'the employer'),
        ('member_of', 'many', 'has_member', false, false, 'organization', 'a group, team or club the subject belongs to'),
        ('has_member', 'many', 'member_of', false, false, NULL, 'somebody who belongs to the subject'),
        ('works_on', 'many', 'worked_on_by', false, false, NULL, 'a project or task'),
        ('worked_on_by', 'many', 'works_on', false, false, 'person', 'somebody who works on the subject'),
        ('founded', 'many', 'founded_by', false, false, 'organization', 'an organization the subject founded'),
        ('founded_by', 'many', 'founded', false, false, 'person', 'a founder'),
        ('speaks', 'many', NULL, false, false, NULL, 'a language'),
        ('has_skill', 'many', NULL, false, false, NULL, 'something the subject can do'),
        ('studied', 'many', NULL, false, false, NULL, 'a field or school'),
        ('attended', 'many', NULL, false, false, NULL, 'a school or event'),
        ('uses', 'many', 'used_by', false, false, NULL, 'a tool, product or service'),
        ('used_by', 'many', 'uses', false, false, NULL, 'a user of the subject'),
        -- things and places
        ('owns', 'many', 'owned_by', false, false, NULL, 'something that belongs to the subject'),
        ('owned_by', 'many', 'owns', false, false, NULL, 'an owner'),
        ('part_of', 'many', 'has_part', false, false, NULL, 'the whole that the subject belongs to'),
        ('has_part', 'many', 'part_of', false, false, NULL, 'a part of the subject'),
        ('depends_on', 'many', 'required_by', false, false, NULL, 'something the subject needs'),
        ('required_by', 'many', 'depends_on', false, false, NULL, 'something that needs the subject'),
        ('visited', 'many', 'visited_by', false, false, 'place', 'a place the subject has been to'),
        ('visited_by', 'many', 'visited', false, false, 'person', 'somebody who has been there'),
        ('lived_in', 'many', NULL, false, false, 'place', 'a former home'),
        ('subscribed_to', 'many', NULL, false, false, NULL, 'a service, newsletter or channel'),
        ('has_goal', 'many', NULL, false, false, NULL, 'something the subject wants to reach'),
        ('plans_to', 'many', NULL, false, false, NULL, 'something the subject intends to do'),
        ('meeting', 'one', NULL, false, true, NULL, 'a meeting at a time')
$$;
COMMENT ON FUNCTION builtin_predicates IS 'The predicates that every tenant knows: whether they hold one value or many, and how they relate.';

-- The planner calls it once and keeps the result, so a predicate that is not built in costs a comparison, not a scan.
CREATE OR REPLACE FUNCTION builtin_predicate_names() RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN ARRAY(SELECT b.name FROM builtin_predicates() b);
END $$;
COMMENT ON FUNCTION builtin_predicate_names IS 'The names of the built-in predicates.';

CREATE OR REPLACE FUNCTION predicate_rule(p_tenant text, p_predicate_key text)
RETURNS TABLE (cardinality text, inverse text, is_symmetric boolean, is_temporal boolean, registered boolean) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
        SELECT p.cardinality, p.inverse, p.is_symmetric, p.is_temporal, true FROM predicates p
        WHERE p.tenant_id = p_tenant AND p.predicate_key = p_predicate_key;
    IF FOUND THEN
        RETURN;
    END IF;
    IF p_predicate_key = ANY (builtin_predicate_names()) THEN
        RETURN QUERY SELECT b.cardinality, b.inverse, b.is_symmetric, b.is_temporal, true
            FROM builtin_predicates() b WHERE b.name = p_predicate_key;
    ELSE
        cardinality := 'one';
        is_symmetric := false;
        is_temporal := false;
        registered := false;
        RETURN NEXT;
    END IF;
END $$;
COMMENT ON FUNCTION predicate_rule IS 'What is known about a predicate: the tenant''s own rule, else the built-in one, else one value.';
