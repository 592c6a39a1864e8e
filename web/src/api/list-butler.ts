import { chooseButler } from '../lib/chosenButler'
import { useOverviewButler } from './overview-butler'

interface ListButler {
  /** False until the butlers are known; no request is sent before. */
  ready: boolean
  /** The butler to query; undefined for all. */
  butler: string | undefined
  /** Whether there are so many butlers that the user chooses one. */
  many: boolean
  /** The queried butler if there are many, so that an empty list can name it. */
  only: string | undefined
  choose: (butler: string | undefined) => void
}

/**
 * Which butler a page queries: the one that its URL names, or else all. If there are many, it is the chosen one instead
 * of all, because hundreds would need a connection to each of their databases. `change` puts a choice into the URL.
 */
export function useListButler(named: string | undefined, change: (butler: string | undefined) => void): ListButler {
  const { ready, butler: chosen, many } = useOverviewButler()
  const butler = named ?? chosen
  return {
    ready: ready || named !== undefined,
    butler,
    many,
    only: many ? butler : undefined,
    choose: (name) => {
      if (many) chooseButler(name)
      change(name)
    },
  }
}
