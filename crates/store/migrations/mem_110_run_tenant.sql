-- mem_110: whose run it was. A run that one tenant asked for is that tenant's (tenant_id); one of a schedule works for all
-- of them, and a tenant is shown only what it did for that tenant. What ran before this was written down may have been
-- either, so it counts as a run for all.
ALTER TABLE job_runs ADD COLUMN all_tenants boolean NOT NULL DEFAULT true;
