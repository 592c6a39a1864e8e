import { type ReactNode, useState } from 'react'
import { count, counted } from '../lib/number'
import type { Kind } from '../memory/useActions'
import { Failure, Loading } from '../ui/states'
import { Unavailable } from '../ui/Unavailable'
import { type RowLook, Rows } from './Rows'
import { SelectionBar } from './SelectionBar'
import type { BulkRow } from './useBulk'
import { type LoadPage, type Range, useListing } from './useListing'
import { useNarrow } from './useNarrow'
import { useSelection } from './useSelection'

/** The heights of a row in pixels. All rows have the same, so that the position of each is known without drawing it. */
const HEIGHT = { wide: 40, narrow: 76 }
/** The server ranks this many matches of a search. */
const MOST_BEST = 200

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
  const [visible, setVisible] = useState<Range>({ first: 0, last: 40 })
  const listing = useListing(load, visible)
  const { rows, total } = listing
  const selection = useSelection(rows)
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
        <Rows
          name={kind === 'fact' ? 'Facts' : 'Rules'}
          rows={rows}
          total={total}
          height={narrow ? HEIGHT.narrow : HEIGHT.wide}
          narrow={narrow}
          selecting={selection.rows.length > 0}
          canSelect={canSelect}
          label={label}
          selection={selection}
          onVisible={setVisible}
        >
          {children}
        </Rows>
      )}
      {listing.error != null && <Failure error={listing.error} retry={listing.retry} />}
      <SelectionBar kind={kind} selection={selection} />
    </div>
  )
}
