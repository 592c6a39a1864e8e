-- An object that was stored as text becomes a relation when an entity takes its name. This finds such facts.
CREATE INDEX facts_unlinked_object ON facts (tenant_id, hashtextextended(folded_name(metadata ->> 'object'), 41))
    WHERE object_entity_id IS NULL AND validity = 'active' AND metadata ? 'object';
