-- mem_002: who and what the facts are about, and the two keys under which at most one fact is active.

CREATE TABLE entities (
    id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id      text NOT NULL DEFAULT 'default',
    canonical_name varchar NOT NULL,
    entity_type    varchar NOT NULL,
    aliases        text[] NOT NULL DEFAULT '{}',
    metadata       jsonb NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT entities_unique_name UNIQUE (tenant_id, canonical_name, entity_type),
    -- the target of facts' tenant-bound reference below
    CONSTRAINT entities_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT entities_type_known CHECK (entity_type IN ('person', 'organization', 'place', 'other')),
    CONSTRAINT entities_metadata_object CHECK (jsonb_typeof(metadata) = 'object')
);
CREATE INDEX entities_tenant_name ON entities (tenant_id, canonical_name);
CREATE INDEX entities_aliases ON entities USING gin (aliases);
CREATE INDEX entities_metadata ON entities USING gin (metadata);

ALTER TABLE facts ADD COLUMN entity_id uuid;
ALTER TABLE facts ADD CONSTRAINT facts_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES entities (id) ON DELETE RESTRICT;
-- the database itself refuses a fact about another tenant's entity
ALTER TABLE facts ADD CONSTRAINT facts_entity_same_tenant
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id) ON DELETE RESTRICT;
CREATE INDEX facts_entity ON facts (entity_id) WHERE entity_id IS NOT NULL;

CREATE UNIQUE INDEX facts_one_active_per_entity_key ON facts (tenant_id, entity_id, scope, predicate)
    WHERE entity_id IS NOT NULL AND validity = 'active';
CREATE UNIQUE INDEX facts_one_active_per_subject_key ON facts (tenant_id, scope, subject, predicate)
    WHERE entity_id IS NULL AND validity = 'active';
