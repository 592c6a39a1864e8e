import { useQueries } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'

/** The server's largest page. */
const SIZE = 100
/** Load the next page when fewer rows than this follow the last visible one. */
const AHEAD = 60

/** The part of a list to load: from a cursor, or by number in an order without cursors. */
export interface PageStart {
  limit: number
  cursor?: string
  offset?: number
}

export interface ListPage<T> {
  data: T[]
  meta: { total: number; has_more: boolean; next_cursor?: string | null; unavailable?: string[] }
}

/** How a page is loaded; see `getOptions`. */
export type LoadPage<T> = (start: PageStart) => {
  queryKey: readonly unknown[]
  queryFn: (context: { signal: AbortSignal }) => Promise<ListPage<T>>
}

/** Numbers of rows. */
export interface Range {
  first: number
  last: number
}

const beginning: PageStart = { limit: SIZE }

function following<T>({ meta }: ListPage<T>, pages: number): PageStart | undefined {
  if (!meta.has_more) return undefined
  return meta.next_cursor ? { limit: SIZE, cursor: meta.next_cursor } : { limit: SIZE, offset: pages * SIZE }
}

/**
 * The rows of a list, loaded page by page while `visible` moves on. Only visible pages are refreshed when something
 * changes; the others are when they come into view.
 */
export function useListing<T extends { id: string }>(load: LoadPage<T>, visible: Range) {
  const key = JSON.stringify(load(beginning).queryKey)
  const [opened, setOpened] = useState({ key, starts: [beginning] })
  const starts = opened.key === key ? opened.starts : [beginning]
  const [firstPage, lastPage] = [Math.floor(visible.first / SIZE) - 1, Math.floor(visible.last / SIZE) + 1]
  const pages = useQueries({
    queries: starts.map((start, index) => ({
      ...load(start),
      enabled: (index >= firstPage && index <= lastPage) || index === starts.length - 1,
      // a page that is scrolled away from stays until the list is left
      gcTime: Number.POSITIVE_INFINITY,
    })),
  })
  const loaded = pages.map((page) => page.data)
  // changes with any page; the array itself is a new one each time
  const version = pages.map((page) => page.dataUpdatedAt).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for the pages
  const rows = useMemo(() => {
    // after a change, a page may start with rows that the page before shows already
    const all = new Map<string, T>()
    for (const page of loaded) for (const row of page?.data ?? []) if (!all.has(row.id)) all.set(row.id, row)
    return [...all.values()]
  }, [version, key])
  const last = loaded.at(-1)
  const more = last && visible.last + AHEAD >= rows.length ? following(last, starts.length) : undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: there is more as soon as the last page has loaded
  useEffect(() => {
    if (more) setOpened({ key, starts: [...starts, more] })
  }, [Boolean(more), starts.length, key])
  // the rows of the previous query stay until the new ones are here
  const shown = useRef<{ rows: T[]; total: number }>({ rows: [], total: 0 })
  const first = loaded[0]
  if (first) shown.current = { rows, total: (last ?? first).meta.total }
  const failed = pages.find((page) => page.isError && !page.data)
  return {
    ...shown.current,
    pending: !first,
    error: failed?.error,
    retry: () => void failed?.refetch(),
    unavailable: first?.meta.unavailable,
  }
}
