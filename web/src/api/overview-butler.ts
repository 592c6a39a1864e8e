import { useChosenButler } from '../lib/chosenButler'
import { useGet } from './hooks'

/**
 * With more butlers, pages that add up figures show one butler first: adding up hundreds takes a connection to each of
 * their databases.
 */
const MANY = 12

interface OverviewButler {
  /** False until the butlers are known; nothing is asked before. */
  ready: boolean
  /** The butler whose figures are shown; undefined for all together. */
  butler: string | undefined
  /** Whether there are so many butlers that the person chooses one. */
  many: boolean
}

/** Whose figures the overview and the sidebar show: all butlers together, or one of many. */
export function useOverviewButler(): OverviewButler {
  const butlers = useGet('/api/butlers')
  const chosen = useChosenButler()
  const all = (butlers.data?.data ?? []).filter(({ health }) => health !== 'disabled')
  const many = all.length > MANY
  // butlers that could not be listed must not hide the rest of the page
  if (!many) return { ready: !butlers.isPending, butler: undefined, many }
  if (chosen === '') return { ready: true, butler: undefined, many }
  const known = all.find(({ name }) => name === chosen) ?? all.find(({ health }) => health === 'ready') ?? all[0]
  return { ready: true, butler: known?.name, many }
}
