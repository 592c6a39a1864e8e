-- mem_125: a right to read the metrics. They count the calls of all tenants, so it is of no tenant's token: whoever has it
-- has no other, and its row's tenant means nothing.
ALTER TABLE tokens DROP CONSTRAINT tokens_rights_known;
ALTER TABLE tokens ADD CONSTRAINT tokens_rights_known
    CHECK (cardinality(rights) > 0 AND (rights <@ ARRAY['read', 'write', 'admin'] OR rights = ARRAY['metrics']));
