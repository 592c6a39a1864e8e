import { useGet } from './hooks'

const one = { query: { limit: 1 } }

/** How many items of the inbox wait for a decision. A list that does not load counts as empty. */
export function useWaiting(): number {
  const lists = [
    useGet('/api/memory/proposals', one),
    useGet('/api/memory/conflicts', one),
    useGet('/api/memory/tombstones', { query: { limit: 1, suppressed: true } }),
  ]
  return lists.reduce((sum, list) => sum + (list.data?.meta.total ?? 0), 0)
}
