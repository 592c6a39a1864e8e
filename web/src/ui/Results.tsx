import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Pager } from './Pager'
import { Failure, Loading } from './states'
import { Unavailable } from './Unavailable'

interface ListMeta {
  total: number
  limit: number
  offset: number
  unavailable?: string[]
}

interface Listed<T> {
  data: T[]
  meta: ListMeta
}

interface Props<T> {
  query: UseQueryResult<Listed<T>>
  empty: ReactNode
  onMove: (offset: number) => void
  children: (rows: T[]) => ReactNode
  /** The page already shows which butlers are down. */
  hideUnavailable?: boolean
  /** What is listed, on a page with several lists. */
  of?: string
}

/** A paginated list in its four states: loading, failed, empty and loaded. */
export function Results<T>({ query, empty, onMove, children, hideUnavailable = false, of }: Props<T>) {
  if (query.isPending) return <Loading />
  if (query.isError && !query.data) return <Failure error={query.error} retry={() => void query.refetch()} />
  if (!query.data) return null
  const { data, meta } = query.data
  const missing = hideUnavailable ? null : <Unavailable butlers={meta.unavailable} />
  if (data.length === 0) {
    return (
      <>
        {missing}
        {empty}
      </>
    )
  }
  return (
    <div className={query.isPlaceholderData ? 'opacity-60 transition-opacity' : ''} aria-busy={query.isPlaceholderData}>
      {missing}
      {children(data)}
      <Pager total={meta.total} limit={meta.limit} offset={meta.offset} onMove={onMove} of={of} />
    </div>
  )
}
