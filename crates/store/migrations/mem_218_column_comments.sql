-- Comments on columns that do not explain themselves. That of retrieved.kind left out three kinds.
COMMENT ON COLUMN episodes.last_error IS
    'Why the last attempt to consolidate it failed; of an episode that is a dead letter, why it is one.';
COMMENT ON COLUMN facts.source_butler IS 'The butler that stored it, or that the caller named as its origin. NULL: unknown.';
COMMENT ON COLUMN fact_beliefs.holds_from IS 'As in facts: since when the fact held, as it was believed then.';
COMMENT ON COLUMN rules.source_butler IS 'The butler that stored it, or that the caller named as its origin. NULL: unknown.';
COMMENT ON COLUMN rule_applications.context IS 'What the caller said about the situation.';
COMMENT ON COLUMN memory_links.source_type IS
    'The type of the memory that the relation starts from: the fact of ''fact derived_from episode''.';
COMMENT ON COLUMN memory_links.source_id IS 'The memory that the relation starts from.';
COMMENT ON COLUMN memory_links.target_type IS
    'The type of the memory that the relation leads to: the episode of ''fact derived_from episode''.';
COMMENT ON COLUMN memory_links.target_id IS 'The memory that the relation leads to.';
COMMENT ON COLUMN memory_links.relation IS
    'Read as ''source relation target'': an episode supports a fact, a fact supersedes an older one.';
COMMENT ON COLUMN memory_events.payload IS 'What the change was, by event type. An erasure removes the text in it.';
COMMENT ON COLUMN injections.memory_types IS 'The type of each memory, in the order of memory_ids.';
COMMENT ON COLUMN tombstones.suppressed_at IS 'When the statement last came again and was not stored. NULL: never.';
COMMENT ON COLUMN tombstones.allowed_by IS
    'The actor who allowed it to be stored again. NULL with allowed_at: an undo, which no list shows.';
COMMENT ON COLUMN idempotency_keys.response IS 'The answer of the first call, which a retry gets. An erasure removes it.';
COMMENT ON COLUMN job_runs.result IS 'The report of the job; of a run that failed, what it did before.';
COMMENT ON COLUMN oauth_grants.butler IS 'The only butler that the client may use.';
COMMENT ON COLUMN oauth_grants.rights IS 'What the person allowed, at most the rights of the login.';
COMMENT ON COLUMN oauth_grants.code_hash IS 'SHA-256 of the authorization code, which the client exchanges for tokens.';
COMMENT ON COLUMN retrieved.kind IS
    'fact, rule, episode; reached (a fact that relations lead to); related (an episode of the scope, by the mode '
    'deep), neighbour (a turn next to one of those) and recent (one of the latest episodes); or pool.';
COMMENT ON COLUMN retrieved.confidence IS 'Confidence when last confirmed, before decay. NULL: an episode.';
COMMENT ON COLUMN retrieved.effectiveness IS 'Of a rule: its effectiveness_score.';
COMMENT ON COLUMN retrieved.entity_name IS 'Of a fact: the canonical name of the entity it is about.';
