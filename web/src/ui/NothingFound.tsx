import { Empty } from './states'

interface Props {
  /** What was looked for: `facts`. */
  what: string
  /** The one of many butlers that was asked. */
  butler: string | undefined
}

/** The state of a list that no item matches. */
export function NothingFound({ what, butler }: Props) {
  if (!butler) return <Empty title={`No matching ${what}`}>Try other search terms or fewer filters.</Empty>
  return (
    <Empty title={`No matching ${what} of ${butler}`}>
      Only {butler} was asked. Try other search terms, fewer filters or another butler.
    </Empty>
  )
}
