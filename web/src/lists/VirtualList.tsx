import { type ReactNode, useRef } from 'react'
import { cx } from '../lib/cx'
import { count, counted } from '../lib/number'
import type { Kind } from '../memory/useActions'
import { Failure, Loading } from '../ui/states'
import { Unavailable } from '../ui/Unavailable'
import { SelectionBar } from './SelectionBar'
import type { BulkRow } from './useBulk'
import { type LoadPage, type Range, useListing } from './useListing'
import { useNarrow } from './useNarrow'
import { useSelection } from './useSelection'
import { useWindow } from './useWindow'

/** The heights of a row in pixels. All rows have the same, so that the position of each is known without drawing it. */
const HEIGHT = { wide: 40, narrow: 76 }
/** The server ranks this many matches of a search. */
const MOST_BEST = 200

export interface RowLook {
  narrow: boolean
  selecting: boolean
}

interface Props<T extends BulkRow> {
  load: LoadPage<T>
  /** What a row is about. */
  label: (row: T) => string
  kind: Kind
  /** The list shows the best matches of a search. */
  ranked: boolean
  canSelect: boolean
  empty: ReactNode
  /** `selecting` says that rows are selected, so that the keys act on all of them. */
  children: (row: T, look: RowLook) => ReactNode
}

/** A list of any length: it loads rows while it is scrolled, and draws those that are on the screen. */
export function VirtualList<T extends BulkRow>({ load, label, kind, ranked, canSelect, empty, children }: Props<T>) {
  const narrow = useNarrow()
  const height = narrow ? HEIGHT.narrow : HEIGHT.wide
  const list = useRef<HTMLUListElement>(null)
  const range = useWindow(list, height)
  const listing = useListing(load, range)
  const { rows, total } = listing
  const selection = useSelection(rows)
  const look = { narrow, selecting: selection.rows.length > 0 }
  if (listing.error && rows.length === 0) return <Failure error={listing.error} retry={listing.retry} />
  if (listing.pending && rows.length === 0) return <Loading rows={10} />
  return (
    <div aria-busy={listing.pending} className={listing.pending ? 'opacity-60' : ''}>
      <Unavailable butlers={listing.unavailable} />
      <div className="mb-1 flex min-h-8 items-center gap-3 text-sm text-muted">
        {canSelect && rows.length > 0 && (
          <label className="flex items-center gap-2 pl-4">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={selection.rows.length > 0 && selection.rows.length >= rows.length}
              onChange={(event) => selection.set(event.target.checked ? rows : [])}
            />
            <span className="max-sm:sr-only">
              Select {rows.length < total ? `the first ${count(rows.length)}` : 'all'}
            </span>
          </label>
        )}
        <span role="status" className="figure ml-auto pr-1">
          {ranked && total >= MOST_BEST
            ? `the ${count(total)} best matches`
            : counted(total, ranked ? 'match' : kind, ranked ? 'matches' : `${kind}s`)}
        </span>
      </div>
      {rows.length === 0 ? (
        empty
      ) : (
        <ul
          ref={list}
          aria-label={kind === 'fact' ? 'Facts' : 'Rules'}
          className="card relative overflow-hidden"
          style={{ height: rows.length * height + 2 }}
        >
          {slice(rows, range).map(([row, index]) => (
            <li
              key={row.id}
              data-row=""
              aria-posinset={index + 1}
              aria-setsize={total}
              className={cx(
                'group absolute inset-x-0 flex items-center gap-3 border-b border-line px-4',
                selection.has(row.id) && 'bg-accent-wash',
              )}
              style={{ top: index * height, height }}
            >
              {canSelect && (
                <input
                  type="checkbox"
                  data-key="x"
                  aria-label={`Select ${label(row)}`}
                  className="relative z-10 size-4 shrink-0 accent-accent"
                  checked={selection.has(row.id)}
                  onClick={(event) => selection.toggle(row, event.shiftKey)}
                  onChange={() => undefined}
                />
              )}
              {children(row, look)}
            </li>
          ))}
        </ul>
      )}
      {listing.error != null && <Failure error={listing.error} retry={listing.retry} />}
      <SelectionBar kind={kind} selection={selection} />
    </div>
  )
}

function slice<T>(rows: T[], { first, last }: Range): [T, number][] {
  return rows.slice(first, last + 1).map((row, index) => [row, first + index])
}
