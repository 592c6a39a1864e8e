import { Empty } from './states'

interface Props {
  /** What was searched for, such as `facts`. */
  what: string
  /** The queried butler, if there are many. */
  butler: string | undefined
}

/** Shown instead of a list if nothing matches. */
export function NothingFound({ what, butler }: Props) {
  if (!butler) return <Empty title={`No matching ${what}`}>Try other search terms or fewer filters.</Empty>
  return (
    <Empty title={`No matching ${what} in ${butler}`}>
      Only {butler} was searched. Try other search terms, fewer filters or another butler.
    </Empty>
  )
}
