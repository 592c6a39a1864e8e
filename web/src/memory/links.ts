import { capitalized } from '../lib/labels'

export interface LinkRow {
  /** Whether the link starts or ends at this memory. */
  side: 'outgoing' | 'incoming'
  relation: string
  memory_type: string
  id: string
  /** A short text of the linked memory; none when it is no longer stored. */
  label?: string | null
  created_at: string
}

const outgoing: Record<string, string> = {
  derived_from: 'learned from',
  supersedes: 'supersedes',
  supports: 'supports',
  contradicts: 'contradicts',
  related_to: 'related to',
}

const incoming: Record<string, string> = {
  derived_from: 'led to',
  supersedes: 'superseded by',
  supports: 'supported by',
  contradicts: 'contradicted by',
  related_to: 'related to',
}

export const isOutgoing = (link: Pick<LinkRow, 'side'>) => link.side === 'outgoing'

export function relationLabel(link: Pick<LinkRow, 'side' | 'relation'>): string {
  const labels = isOutgoing(link) ? outgoing : incoming
  return labels[link.relation] ?? capitalized(link.relation).toLowerCase()
}

export function labelOf(link: Pick<LinkRow, 'label' | 'memory_type'>): string {
  return link.label ?? (link.memory_type === 'episode' ? 'expired episode' : `${link.memory_type} no longer stored`)
}
