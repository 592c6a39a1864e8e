import { capitalized } from '../lib/labels'

export interface EventRow {
  id: string
  event_type: string
  memory_type?: string | null
  memory_id?: string | null
  actor?: string | null
  request_id?: string | null
  payload?: unknown
  created_at: string
  label?: string | null
  home?: string
}

/** Events that do not change knowledge; they are displayed less prominently. */
const housekeeping = new Set([
  'episode_expired',
  'episode_evicted',
  'episode_requeued',
  'episode_consolidated',
  'episode_created',
  'link_created',
  'reembedded',
  'fact_repointed',
])

const harmful = new Set([
  'rule_marked_harmful',
  'rule_inverted',
  'rule_demoted',
  'episode_dead_lettered',
  'episode_consolidation_failed',
  'entity_erased',
  'tenant_erased',
])

const fading = new Set(['fact_fading', 'rule_fading'])
const gone = new Set([
  'fact_superseded',
  'fact_expired',
  'fact_forgotten',
  'rule_forgotten',
  'episode_forgotten',
  'entity_forgotten',
])

/** The colour of an event: harm, fading, muted for housekeeping and inactive memories, the accent for the rest. */
export function eventTone(type: string): string {
  if (harmful.has(type)) return 'text-harm'
  if (fading.has(type)) return 'text-fading'
  return gone.has(type) || housekeeping.has(type) ? 'text-muted' : 'text-accent'
}

export const isHousekeeping = (type: string) => housekeeping.has(type)

const labels: Record<string, [glyph: string, label: string]> = {
  episode_created: ['○', 'Episode recorded'],
  episode_forgotten: ['✕', 'Episode forgotten'],
  episode_consolidated: ['●', 'Episode consolidated'],
  episode_consolidation_failed: ['△', 'Consolidation failed'],
  episode_dead_lettered: ['✕', 'Episode dead-lettered'],
  episode_requeued: ['↻', 'Episode requeued'],
  episode_expired: ['✕', 'Episode expired'],
  episode_evicted: ['✕', 'Episode evicted'],
  fact_created: ['+', 'Fact learned'],
  fact_superseded: ['↷', 'Fact superseded'],
  fact_redated: ['⇆', 'Fact’s time changed'],
  fact_confirmed: ['✓', 'Fact confirmed'],
  fact_forgotten: ['✕', 'Fact forgotten'],
  fact_restored: ['↺', 'Fact restored'],
  fact_repointed: ['→', 'Fact moved to another entity'],
  fact_fading: ['◌', 'Fact is fading'],
  fact_recovered: ['●', 'Fact recovered'],
  fact_expired: ['✕', 'Fact expired'],
  proposal_made: ['?', 'Proposed, waits for approval'],
  proposal_approved: ['✓', 'Proposal approved'],
  proposal_rejected: ['✕', 'Proposal rejected'],
  proposal_reopened: ['↶', 'Decision undone, waits for approval again'],
  episode_released: ['↻', 'Episode released'],
  tombstone_lifted: ['↺', 'Allowed again'],
  rule_created: ['+', 'Rule learned'],
  rule_edited: ['✎', 'Rule edited'],
  rule_confirmed: ['✓', 'Rule confirmed'],
  rule_marked_helpful: ['▲', 'Rule marked helpful'],
  rule_marked_harmful: ['▼', 'Rule marked harmful'],
  rule_promoted: ['↑', 'Rule promoted'],
  rule_demoted: ['↓', 'Rule demoted'],
  rule_inverted: ['⚠', 'Rule became a warning'],
  rule_forgotten: ['✕', 'Rule forgotten'],
  rule_restored: ['↺', 'Rule restored'],
  rule_fading: ['◌', 'Rule is fading'],
  rule_recovered: ['●', 'Rule recovered'],
  confirmation_undone: ['↺', 'Confirmation undone'],
  mark_undone: ['↺', 'Mark undone'],
  conflict_found: ['≠', 'Conflict found'],
  conflict_judged: ['?', 'Conflict judged'],
  conflict_resolved: ['✓', 'Conflict resolved'],
  conflict_reopened: ['↺', 'Conflict reopened'],
  link_created: ['–', 'Link created'],
  entity_created: ['+', 'Entity created'],
  entity_updated: ['✎', 'Entity updated'],
  entity_merge: ['⋈', 'Entities merged'],
  entity_unmerged: ['⋉', 'Merge undone'],
  entity_forgotten: ['✕', 'Entity forgotten'],
  entity_erased: ['✕', 'Entity erased'],
  tenant_erased: ['✕', 'Tenant erased'],
  predicate_set: ['✎', 'Predicate changed'],
  reembedded: ['↻', 'Re-embedded'],
  token_created: ['+', 'Token created'],
  token_revoked: ['✕', 'Token revoked'],
  token_rotated: ['↻', 'Token rotated'],
  login_opened: ['→', 'Signed in'],
  consent_granted: ['✓', 'Client allowed'],
  consent_refused: ['✕', 'Client denied'],
  memory_exported: ['↗', 'Memory exported'],
  memory_imported: ['↘', 'Memory imported'],
  backup_restored: ['↺', 'Backup restored'],
}

export const eventTypes = Object.keys(labels)

export function eventLabel(type: string): [glyph: string, label: string] {
  return labels[type] ?? ['·', capitalized(type)]
}

/** The readable name of an actor. A token is shown by its name or, if it has none, by the start of its id. */
export function actorName(actor: string): string {
  const named = /^token:(.+):[0-9a-f-]{36}$/.exec(actor)
  if (named) return `token ${named[1]}`
  const unnamed = /^token:([0-9a-f]{8})-[0-9a-f-]{27}$/.exec(actor)
  return unnamed ? `unnamed token ${unnamed[1]}…` : actor.replaceAll('_', ' ')
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

const names = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []

/** What an update changed in an entity. */
function entityChange(before: Record<string, unknown>, after: Record<string, unknown>): string | null {
  const parts: string[] = []
  for (const field of ['canonical_name', 'entity_type'])
    if (typeof before[field] === 'string' && typeof after[field] === 'string')
      parts.push(`${before[field]} → ${after[field]}`)
  const [had, has] = [names(before.aliases), names(after.aliases)]
  const added = has.filter((name) => !had.includes(name))
  const removed = had.filter((name) => !has.includes(name))
  if (added.length > 0) parts.push(`also called ${added.join(', ')}`)
  if (removed.length > 0) parts.push(`no longer called ${removed.join(', ')}`)
  const [was, is] = [record(before.metadata), record(after.metadata)]
  const keys = Object.keys({ ...was, ...is }).filter((key) => JSON.stringify(was[key]) !== JSON.stringify(is[key]))
  if (keys.length > 0) parts.push(keys.map((key) => (is[key] === undefined ? `not ${key}` : key)).join(', '))
  return parts.length > 0 ? parts.join('; ') : null
}

/** A short detail of the event: what changed, the name of the token or client, or the reason. */
export function change(event: EventRow): string | null {
  const payload = record(event.payload)
  const [before, after] = [record(payload.before), record(payload.after)]
  if (event.event_type === 'entity_updated') return entityChange(before, after)
  // the event's label already says how the validity changed
  const [from, to] = [before.maturity, after.maturity]
  if (typeof from === 'string' && typeof to === 'string' && from !== to)
    return `${from.replaceAll('_', ' ')} → ${to.replaceAll('_', ' ')}`
  if (event.event_type.startsWith('token_') && typeof payload.name === 'string' && payload.name) return payload.name
  if (event.event_type.startsWith('consent_') && typeof payload.client_name === 'string') return payload.client_name
  const reason = payload.reason ?? payload.error
  return typeof reason === 'string' ? reason : null
}

/** Shorter runs are shown as single events. */
const MIN_RUN = 3

/** Groups consecutive housekeeping events of one type; every other event is a group of its own. */
export function runs(events: EventRow[]): EventRow[][] {
  const groups: EventRow[][] = []
  for (const event of events) {
    const last = groups.at(-1)
    if (last?.[0]?.event_type === event.event_type && isHousekeeping(event.event_type)) last.push(event)
    else groups.push([event])
  }
  return groups.flatMap((group) => (group.length >= MIN_RUN ? [group] : group.map((event) => [event])))
}
