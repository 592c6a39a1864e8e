import { useState } from 'react'

const SIZE = 20

interface List {
  data?: { data: unknown[] }
  isPlaceholderData: boolean
}

/** The page of a list that gets shorter with every decision. */
export function usePaging() {
  const [offset, setOffset] = useState(0)
  /** Goes back a page when the last item of the last page is decided on. */
  function leaveEmptyPage(list: List) {
    if (offset > 0 && list.data?.data.length === 0 && !list.isPlaceholderData) setOffset(Math.max(0, offset - SIZE))
  }
  return { page: { limit: SIZE, offset: offset || undefined }, setOffset, leaveEmptyPage }
}
