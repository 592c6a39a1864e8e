import { useState } from 'react'
import { useOverviewButler } from '../../api/overview-butler'

const SIZE = 20

interface List {
  data?: { data: unknown[] }
  isPlaceholderData: boolean
}

/** The page of a list that gets shorter with every decision; of many butlers, that of the chosen one. */
export function usePaging() {
  const [offset, setOffset] = useState(0)
  const { ready, butler } = useOverviewButler()
  /** Goes back a page when the last item of the last page is decided on. */
  function leaveEmptyPage(list: List) {
    if (offset > 0 && list.data?.data.length === 0 && !list.isPlaceholderData) setOffset(Math.max(0, offset - SIZE))
  }
  const page = { limit: SIZE, offset: offset || undefined, butler }
  return { page, options: { keepPrevious: true, enabled: ready }, setOffset, leaveEmptyPage }
}
