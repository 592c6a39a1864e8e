-- mem_151: a tenant's events are counted by type in indexes, where a large tenant's were looked at one by one: 200 ms for 200k.

-- The activity is counted by this one alone.
CREATE INDEX memory_events_tenant_type ON memory_events (tenant_id, event_type, created_at DESC);
-- The backlog of the overview is reckoned from these few. A plan for any tenant prefers moments to types, so they have their own.
CREATE INDEX memory_events_episodes ON memory_events (tenant_id, created_at) WHERE event_type IN
    ('episode_created', 'episode_consolidated', 'episode_dead_lettered', 'episode_expired', 'episode_requeued');
