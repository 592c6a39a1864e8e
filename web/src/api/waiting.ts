import { useGet } from './hooks'
import { useOverviewButler } from './overview-butler'

/** How many proposals and conflicts wait, of all butlers or of the chosen one. */
export function useInboxCounts() {
  const { ready, butler } = useOverviewButler()
  const one = { query: { limit: 1, butler } }
  const proposals = useGet('/api/memory/proposals', one, { enabled: ready })
  const conflicts = useGet('/api/memory/conflicts', one, { enabled: ready })
  return { proposals: proposals.data?.meta.total ?? 0, conflicts: conflicts.data?.meta.total ?? 0 }
}

/**
 * How many items of the inbox wait for a decision. What came again does not: it stays forgotten without one. A list
 * that does not load counts as empty.
 */
export function useWaiting(): number {
  const { proposals, conflicts } = useInboxCounts()
  return proposals + conflicts
}
