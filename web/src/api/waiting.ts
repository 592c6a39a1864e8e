import { useGet } from './hooks'

const one = { query: { limit: 1 } }

/**
 * How many items of the inbox wait for a decision. What came again does not: it stays forgotten without one. A list
 * that does not load counts as empty.
 */
export function useWaiting(): number {
  const proposals = useGet('/api/memory/proposals', one)
  const conflicts = useGet('/api/memory/conflicts', one)
  return (proposals.data?.meta.total ?? 0) + (conflicts.data?.meta.total ?? 0)
}
