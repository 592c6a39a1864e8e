//! Invariants of the database, whatever was acknowledged: nothing is written by halves.

use sqlx::PgConnection;

/// Each kind of damage, and the query that returns the damaged rows. `tests.rs` injects every one of them.
const DAMAGES: [(&str, &str); 41] = [
    (
        "two active facts with one subject key",
        "SELECT min(id::text) FROM facts WHERE validity = 'active' AND entity_id IS NULL
         GROUP BY tenant_id, scope, subject, predicate, slot HAVING count(*) > 1",
    ),
    (
        "two active facts with one entity key",
        "SELECT min(id::text) FROM facts WHERE validity = 'active' AND entity_id IS NOT NULL
         GROUP BY tenant_id, scope, entity_id, predicate, slot HAVING count(*) > 1",
    ),
    (
        "two active facts whose keys differ only in spelling",
        "SELECT min(id::text) FROM facts WHERE validity = 'active'
         GROUP BY tenant_id, scope, holder, predicate_key, slot HAVING count(*) > 1",
    ),
    (
        "a superseded fact without a successor",
        "SELECT id::text FROM facts f WHERE validity = 'superseded' AND NOT EXISTS
             (SELECT FROM memory_links l WHERE l.relation = 'supersedes' AND l.target_id = f.id)
           AND NOT EXISTS (SELECT FROM memory_events e JOIN memory_events c ON c.memory_id::text = e.payload ->> 'superseded_by'
                           WHERE e.memory_id = f.id AND e.event_type = 'fact_superseded'
                             AND c.event_type = 'fact_created' AND c.payload ? 'erased')",
    ),
    (
        "a fact superseded twice",
        // A fact that was believed again after its successor was forgotten may be superseded by another one. The link of the
        // forgotten one stays in the history.
        "SELECT l.target_id::text FROM memory_links l JOIN facts n ON n.id = l.source_id WHERE l.relation = 'supersedes'
         GROUP BY l.target_id
         HAVING count(*) FILTER (WHERE n.validity IN ('active', 'superseded')) > 1
             OR count(*) > 1 + (SELECT count(*) FROM memory_events e WHERE e.memory_id = l.target_id AND e.event_type = 'fact_restored'
                                AND e.payload -> 'before' ->> 'validity' = 'superseded')",
    ),
    (
        "a successor without its link",
        "SELECT id::text FROM facts f WHERE supersedes_id IS NOT NULL AND NOT EXISTS
             (SELECT FROM memory_links l WHERE l.relation = 'supersedes' AND l.source_id = f.id AND l.target_id = f.supersedes_id)",
    ),
    (
        "a superseded fact that is still valid",
        // Who forgets or undoes the successor may bring the older one back.
        "SELECT o.id::text FROM memory_links l JOIN facts o ON o.id = l.target_id JOIN facts n ON n.id = l.source_id
         WHERE l.relation = 'supersedes' AND o.validity NOT IN ('superseded', 'retracted')
           AND n.validity IN ('active', 'superseded')",
    ),
    (
        "a supersession across keys or tenants",
        "SELECT n.id::text FROM memory_links l JOIN facts n ON n.id = l.source_id JOIN facts o ON o.id = l.target_id
         WHERE l.relation = 'supersedes'
           AND (n.tenant_id, n.scope, n.predicate) IS DISTINCT FROM (o.tenant_id, o.scope, o.predicate)",
    ),
    (
        "a cycle of supersessions",
        "WITH RECURSIVE chain (id) AS (
             SELECT id FROM facts f WHERE NOT EXISTS
                 (SELECT FROM memory_links l WHERE l.relation = 'supersedes' AND l.target_id = f.id)
             UNION
             SELECT l.target_id FROM chain JOIN memory_links l ON l.relation = 'supersedes' AND l.source_id = chain.id)
         SELECT id::text FROM facts WHERE id NOT IN (SELECT id FROM chain)",
    ),
    (
        "a memory without exactly one creation event",
        "SELECT m.id::text FROM (SELECT id, 'fact_created' AS event FROM facts UNION ALL SELECT id, 'rule_created' FROM rules
                                 UNION ALL SELECT id, 'episode_created' FROM episodes
                                 UNION ALL SELECT id, 'entity_created' FROM entities) m
         LEFT JOIN memory_events e ON e.memory_id = m.id AND e.event_type = m.event GROUP BY m.id HAVING count(e.id) <> 1",
    ),
    (
        "a supersession whose events disagree",
        // A fact that is believed again after its successors were forgotten has one event more of each kind.
        "SELECT l.target_id::text FROM memory_links l JOIN facts f ON f.id = l.target_id
         CROSS JOIN LATERAL (
             SELECT count(*) FILTER (WHERE e.event_type = 'fact_superseded') AS superseded,
                    count(*) FILTER (WHERE e.event_type = 'fact_restored' AND e.payload -> 'before' ->> 'validity' = 'superseded') AS restored
             FROM memory_events e WHERE e.memory_id = l.target_id) counted
         WHERE l.relation = 'supersedes'
           AND (superseded = 0 OR superseded - restored NOT BETWEEN (f.validity = 'superseded')::int AND 1)",
    ),
    (
        "a fact whose retraction and events disagree",
        "SELECT f.id::text FROM facts f LEFT JOIN memory_events e ON e.memory_id = f.id AND e.event_type = 'fact_forgotten'
         GROUP BY f.id HAVING count(e.id) <> (f.validity = 'retracted')::int",
    ),
    (
        "a rule whose retraction and events disagree",
        "SELECT r.id::text FROM rules r LEFT JOIN memory_events e ON e.memory_id = r.id AND e.event_type = 'rule_forgotten'
         GROUP BY r.id HAVING count(e.id) <> (NOT rule_is_remembered(r.metadata))::int",
    ),
    (
        "a rule whose counts differ from its applications",
        "SELECT r.id::text FROM rules r LEFT JOIN rule_applications a ON a.rule_id = r.id GROUP BY r.id
         HAVING (r.applied_count, r.success_count, r.harmful_count)
             <> (count(a.id), count(a.id) FILTER (WHERE a.outcome = 'helpful'), count(a.id) FILTER (WHERE a.outcome = 'harmful'))",
    ),
    (
        "a rule whose counts differ from its events",
        "SELECT r.id::text FROM rules r LEFT JOIN memory_events e
             ON e.memory_id = r.id AND e.event_type IN ('rule_marked_helpful', 'rule_marked_harmful') GROUP BY r.id
         HAVING (r.success_count, r.harmful_count) <> (count(e.id) FILTER (WHERE e.event_type = 'rule_marked_helpful'),
                                                       count(e.id) FILTER (WHERE e.event_type = 'rule_marked_harmful'))",
    ),
    (
        "a creation event without its memory",
        "SELECT e.memory_id::text FROM memory_events e WHERE e.event_type IN ('fact_created', 'rule_created', 'episode_created')
           AND NOT memory_exists(e.tenant_id, e.memory_type, e.memory_id) AND NOT e.payload ? 'erased'
           AND NOT EXISTS (SELECT FROM memory_events r WHERE r.memory_id = e.memory_id
                           AND r.event_type IN ('episode_expired', 'episode_evicted'))",
    ),
    (
        "a removed episode that still exists",
        "SELECT e.memory_id::text FROM memory_events e JOIN episodes m ON m.id = e.memory_id
         WHERE e.event_type IN ('episode_expired', 'episode_evicted')",
    ),
    (
        "an episode removed twice",
        "SELECT memory_id::text FROM memory_events WHERE event_type IN ('episode_expired', 'episode_evicted')
         GROUP BY memory_id HAVING count(*) > 1",
    ),
    (
        "an event in another tenant than its memory",
        "SELECT e.id::text FROM memory_events e
         LEFT JOIN facts f ON e.memory_type = 'fact' AND f.id = e.memory_id LEFT JOIN rules r ON e.memory_type = 'rule' AND r.id = e.memory_id
         LEFT JOIN episodes p ON e.memory_type = 'episode' AND p.id = e.memory_id LEFT JOIN entities n ON e.memory_type = 'entity' AND n.id = e.memory_id
         WHERE e.tenant_id <> coalesce(f.tenant_id, r.tenant_id, p.tenant_id, n.tenant_id, e.tenant_id)",
    ),
    (
        "an episode in an illegal state",
        "SELECT id::text FROM episodes
         WHERE consolidated <> (consolidation_status = 'consolidated')
            OR (lease_token IS NULL) <> (leased_until IS NULL)
            OR (consolidation_status IN ('consolidated', 'dead_letter') AND lease_token IS NOT NULL)
            OR (consolidation_status = 'failed' AND (next_consolidation_retry_at IS NULL OR retry_count = 0 OR last_error IS NULL))
            OR (consolidation_status = 'pending' AND retry_count > 0)",
    ),
    (
        "an episode whose consolidation and events disagree",
        "SELECT p.id::text FROM episodes p LEFT JOIN memory_events e ON e.memory_id = p.id AND e.event_type = 'episode_consolidated'
         GROUP BY p.id HAVING count(e.id) <> p.consolidated::int",
    ),
    (
        "an episode whose attempts differ from its failure events",
        "SELECT p.id::text FROM episodes p LEFT JOIN memory_events e
             ON e.memory_id = p.id AND e.event_type IN ('episode_consolidation_failed', 'episode_dead_lettered')
         GROUP BY p.id HAVING count(e.id) <> p.retry_count",
    ),
    (
        "a link without its source",
        "SELECT source_id::text FROM memory_links l WHERE NOT memory_exists(tenant_id, source_type, source_id)
           AND NOT EXISTS (SELECT FROM memory_events r WHERE r.memory_id = l.source_id AND r.event_type IN ('episode_expired', 'episode_evicted'))",
    ),
    (
        "a link without its target",
        "SELECT target_id::text FROM memory_links l WHERE NOT memory_exists(tenant_id, target_type, target_id)
           AND NOT EXISTS (SELECT FROM memory_events r WHERE r.memory_id = l.target_id AND r.event_type IN ('episode_expired', 'episode_evicted'))",
    ),
    (
        "a fact with a foreign source, a foreign entity or a merged entity",
        "SELECT f.id::text FROM facts f LEFT JOIN episodes p ON p.id = f.source_episode_id LEFT JOIN entities n ON n.id = f.entity_id
         WHERE p.tenant_id <> f.tenant_id OR n.tenant_id <> f.tenant_id OR n.metadata ? 'merged_into'",
    ),
    (
        "an edge to a foreign or merged entity",
        "SELECT f.id::text FROM facts f JOIN entities n ON n.id = f.object_entity_id
         WHERE f.validity = 'active' AND (n.tenant_id <> f.tenant_id OR n.metadata ? 'merged_into')",
    ),
    (
        "a merged entity without a survivor in its tenant",
        "SELECT s.id::text FROM entities s LEFT JOIN entities t ON t.id::text = s.metadata->>'merged_into' AND t.tenant_id = s.tenant_id
         WHERE s.metadata ? 'merged_into' AND t.id IS NULL",
    ),
    (
        "an entity whose merges and events disagree",
        "SELECT n.id::text FROM entities n LEFT JOIN memory_events e
             ON e.memory_id = n.id AND e.event_type IN ('entity_merge', 'entity_unmerged') GROUP BY n.id
         HAVING count(e.id) FILTER (WHERE e.event_type = 'entity_merge') - count(e.id) FILTER (WHERE e.event_type = 'entity_unmerged')
             <> (n.metadata ? 'merged_into')::int",
    ),
    (
        "a stored answer without the memory it names",
        "SELECT key FROM idempotency_keys k WHERE k.response ? 'id'
           AND NOT EXISTS (SELECT FROM memory_events e WHERE e.tenant_id = k.tenant_id AND e.memory_id::text = k.response->>'id')",
    ),
    (
        "a memory served to another tenant",
        "SELECT i.id::text FROM injections i, unnest(i.memory_ids) AS m (id)
             JOIN (SELECT id, tenant_id FROM facts UNION ALL SELECT id, tenant_id FROM rules
                   UNION ALL SELECT id, tenant_id FROM episodes) x ON x.id = m.id
         WHERE x.tenant_id <> i.tenant_id",
    ),
    (
        "an untrusted memory without an approval",
        "SELECT m.id::text FROM (SELECT id, source FROM facts UNION ALL SELECT id, source FROM rules) m WHERE m.source = 'untrusted'
           AND NOT EXISTS (SELECT FROM memory_events e WHERE e.memory_id = m.id AND e.event_type = 'proposal_approved')",
    ),
    (
        "an open proposal that was stored",
        "SELECT p.id::text FROM proposals p WHERE p.state = 'open' AND memory_exists(p.tenant_id, p.memory_type, p.id)",
    ),
    (
        "a rejected proposal that was stored",
        "SELECT p.id::text FROM proposals p WHERE p.state = 'rejected' AND memory_exists(p.tenant_id, p.memory_type, p.id)",
    ),
    (
        "a proposal whose decision and events disagree",
        "SELECT p.id::text FROM proposals p LEFT JOIN memory_events e
             ON e.memory_id = p.id AND e.event_type IN ('proposal_approved', 'proposal_rejected') GROUP BY p.id
         HAVING (count(e.id) FILTER (WHERE e.event_type = 'proposal_approved'), count(e.id) FILTER (WHERE e.event_type = 'proposal_rejected'))
             <> ((p.state = 'approved')::int, (p.state = 'rejected')::int)",
    ),
    (
        "a conflict of two tenants",
        "SELECT c.id::text FROM conflicts c JOIN facts f ON f.id IN (c.fact_a, c.fact_b) WHERE f.tenant_id <> c.tenant_id",
    ),
    (
        "a conflict without its event",
        "SELECT c.id::text FROM conflicts c WHERE NOT EXISTS
             (SELECT FROM memory_events e WHERE e.tenant_id = c.tenant_id AND e.event_type = 'conflict_found'
              AND e.payload ->> 'conflict_id' = c.id::text)",
    ),
    (
        "a conflict whose resolution and events disagree",
        "SELECT c.id::text FROM conflicts c LEFT JOIN memory_events e
             ON e.memory_id = c.fact_a AND e.event_type IN ('conflict_resolved', 'conflict_reopened')
             AND e.payload ->> 'conflict_id' = c.id::text GROUP BY c.id
         HAVING count(e.id) FILTER (WHERE e.event_type = 'conflict_resolved') - count(e.id) FILTER (WHERE e.event_type = 'conflict_reopened')
             <> (c.state = 'resolved')::int",
    ),
    (
        "a resolved conflict whose discarded fact is not retracted",
        "SELECT c.id::text FROM conflicts c JOIN facts f
             ON f.id = c.fact_a AND c.resolution IN ('keep_b', 'forget_both')
             OR f.id = c.fact_b AND c.resolution IN ('keep_a', 'merge', 'forget_both')
         WHERE f.validity <> 'retracted'",
    ),
    (
        "a forgotten statement that is active again",
        // Facts that moved to another entity were forgotten and stored under different names.
        "SELECT n.id::text FROM facts o JOIN facts n
             ON n.tenant_id = o.tenant_id AND n.holder = o.holder AND n.predicate_key = o.predicate_key AND n.created_at > o.ended_at
         WHERE o.validity = 'retracted' AND n.validity = 'active' AND content_key(n.content) = content_key(o.content)
           AND NOT coalesce(n.valid_from > o.ended_at, false) AND tombstone_stands(o.tenant_id, o.id)
           AND NOT EXISTS (SELECT FROM memory_events e WHERE e.memory_id IN (o.id, n.id) AND e.event_type = 'fact_repointed')",
    ),
    (
        "a forgotten rule that is remembered again",
        // A rule that became an anti-pattern says something else than when it was stored.
        "SELECT n.id::text FROM rules o
         CROSS JOIN LATERAL (SELECT max(e.created_at) AS ended_at FROM memory_events e
                             WHERE e.tenant_id = o.tenant_id AND e.memory_id = o.id AND e.event_type = 'rule_forgotten') f
         JOIN rules n ON n.tenant_id = o.tenant_id AND content_key(n.content) = content_key(o.content) AND n.created_at > f.ended_at
         WHERE NOT rule_is_remembered(o.metadata) AND NOT rule_has_decayed(o.tenant_id, o.id, o.metadata)
           AND rule_is_remembered(n.metadata) AND n.maturity <> 'anti_pattern' AND tombstone_stands(o.tenant_id, o.id)",
    ),
    (
        "a memory that search cannot find",
        "SELECT id::text FROM (SELECT id, embedding IS NULL OR search_vector IS NULL OR embedding_version_id IS NULL AS blind FROM facts
                               UNION ALL SELECT id, embedding IS NULL OR search_vector IS NULL OR embedding_version_id IS NULL FROM rules
                               UNION ALL SELECT id, embedding IS NULL OR search_vector IS NULL OR embedding_version_id IS NULL FROM episodes) m
         WHERE blind",
    ),
];

/// Ids per violation: enough to start an investigation.
const SHOWN: usize = 3;

pub async fn check(db: &mut PgConnection) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for (what, sql) in DAMAGES {
        let found: Vec<Option<String>> =
            sqlx::query_scalar(sql).fetch_all(&mut *db).await.map_err(|error| anyhow::anyhow!("{what}: {error}"))?;
        if !found.is_empty() {
            let some: Vec<String> = found.iter().take(SHOWN).map(|id| id.clone().unwrap_or_default()).collect();
            violations.push(format!("{what}: {} times, for instance {}", found.len(), some.join(", ")));
        }
    }
    Ok(violations)
}

#[cfg(test)]
mod tests;
