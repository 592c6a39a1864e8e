-- mem_105: the links of one tenant without reading everybody's.
--
-- The overview counts what was made from episodes. By the two indexes of mem_001 that meant the whole table, so a tenant of
-- a thousand facts paid for the million of the others.
CREATE INDEX memory_links_tenant ON memory_links (tenant_id, target_type, relation, source_type, source_id);
