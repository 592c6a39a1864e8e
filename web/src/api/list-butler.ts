import { chooseButler } from '../lib/chosenButler'
import { useOverviewButler } from './overview-butler'

interface ListButler {
  /** False until the butlers are known; nothing is asked before. */
  ready: boolean
  /** The butler to ask; undefined for all. */
  butler: string | undefined
  /** Whether there are so many butlers that the person chooses one. */
  many: boolean
  /** The one of many butlers that is asked, to be named where it has nothing. */
  only: string | undefined
  choose: (butler: string | undefined) => void
}

/**
 * Which butler a page asks: the one that its URL names, or else all. Of many butlers, the chosen one instead of all,
 * because asking hundreds takes a connection to each of their databases. `change` puts a choice into the URL.
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
