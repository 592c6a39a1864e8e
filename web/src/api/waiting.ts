import { useGet } from './hooks'
import { useOverviewButler } from './overview-butler'

/** How many proposals and conflicts wait, of all butlers or of the chosen one. */
export function useInboxCounts() {
  const { ready, butler } = useOverviewButler()
  const one = { query: { limit: 1, butler } }
  const proposals = useGet('/api/memory/proposals', one, { enabled: ready })
  const conflicts = useGet('/api/memory/conflicts', one, { enabled: ready })
  const pending = proposals.isPending || conflicts.isPending
  return { proposals: proposals.data?.meta.total ?? 0, conflicts: conflicts.data?.meta.total ?? 0, pending }
}

/**
 * How many items of the inbox wait for a decision. Forgotten statements that were stated again do not: they stay
 * forgotten. A list that fails counts as empty. While a list loads, the number is 0, because a part of it would be
 * misleading.
 */
export function useWaiting(): number {
  const { proposals, conflicts, pending } = useInboxCounts()
  return pending ? 0 : proposals + conflicts
}
