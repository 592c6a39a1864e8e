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

/** Knowledge changed, or the house was kept: the second is set quieter. */
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
])

const fading = new Set(['fact_fading', 'rule_fading'])
const gone = new Set(['fact_superseded', 'fact_expired', 'fact_forgotten', 'rule_forgotten', 'episode_forgotten'])

/** Learned and kept in the accent, fading and harm in their own colours, what left without harm in grey. */
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
  episode_dead_lettered: ['✕', 'Episode given up'],
  episode_requeued: ['↻', 'Episode tried again'],
  episode_expired: ['✕', 'Episode expired'],
  episode_evicted: ['✕', 'Episode evicted'],
  fact_created: ['+', 'Fact learned'],
  fact_superseded: ['↷', 'Fact replaced'],
  fact_confirmed: ['✓', 'Fact confirmed'],
  fact_forgotten: ['✕', 'Fact forgotten'],
  fact_restored: ['↺', 'Fact restored'],
  fact_repointed: ['→', 'Fact moved to another entity'],
  fact_fading: ['◌', 'Fact is fading'],
  fact_recovered: ['●', 'Fact recovered'],
  fact_expired: ['✕', 'Fact expired'],
  rule_created: ['+', 'Rule learned'],
  rule_edited: ['✎', 'Rule edited'],
  rule_confirmed: ['✓', 'Rule confirmed'],
  rule_marked_helpful: ['▲', 'Rule helped'],
  rule_marked_harmful: ['▼', 'Rule did harm'],
  rule_promoted: ['↑', 'Rule promoted'],
  rule_demoted: ['↓', 'Rule demoted'],
  rule_inverted: ['⚠', 'Rule became a warning'],
  rule_forgotten: ['✕', 'Rule forgotten'],
  rule_restored: ['↺', 'Rule restored'],
  rule_fading: ['◌', 'Rule is fading'],
  rule_recovered: ['●', 'Rule recovered'],
  link_created: ['–', 'Link made'],
  entity_created: ['+', 'Entity created'],
  entity_updated: ['✎', 'Entity changed'],
  entity_merge: ['⋈', 'Entities merged'],
  reembedded: ['↻', 'Embedded anew'],
}

export const eventTypes = Object.keys(labels)

export function eventLabel(type: string): [glyph: string, label: string] {
  return labels[type] ?? ['·', capitalized(type)]
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

/** What changed, where a few words say it: a level, a reason. */
export function change(event: EventRow): string | null {
  const payload = record(event.payload)
  const [before, after] = [record(payload.before), record(payload.after)]
  // validity is what the event's words say already
  const [from, to] = [before.maturity, after.maturity]
  if (typeof from === 'string' && typeof to === 'string' && from !== to)
    return `${from.replaceAll('_', ' ')} → ${to.replaceAll('_', ' ')}`
  const reason = payload.reason
  return typeof reason === 'string' ? reason : null
}

/** Fewer than this in a row are shown one by one. */
const MIN_RUN = 3

/** Consecutive housekeeping of one kind together; everything else on its own. */
export function runs(events: EventRow[]): EventRow[][] {
  const groups: EventRow[][] = []
  for (const event of events) {
    const last = groups.at(-1)
    if (last?.[0]?.event_type === event.event_type && isHousekeeping(event.event_type)) last.push(event)
    else groups.push([event])
  }
  return groups.flatMap((group) => (group.length >= MIN_RUN ? [group] : group.map((event) => [event])))
}
