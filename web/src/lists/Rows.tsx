import { memo, type ReactNode, useDeferredValue, useRef } from 'react'
import { cx } from '../lib/cx'
import type { BulkRow } from './useBulk'
import type { Range } from './useListing'
import type { Selection } from './useSelection'
import { useWindow } from './useWindow'

export interface RowLook {
  narrow: boolean
  selecting: boolean
  /** Whether to show more than the text. A row shows the text first, and the rest when scrolling leaves time for it. */
  detailed: boolean
}

interface Shared<T> extends Omit<RowLook, 'detailed'> {
  total: number
  /** The height of each row in pixels. */
  height: number
  canSelect: boolean
  /** What a row is about. */
  label: (row: T) => string
  children: (row: T, look: RowLook) => ReactNode
}

interface Props<T extends BulkRow> extends Shared<T> {
  name: string
  rows: T[]
  selection: Selection<T>
  /** Called with the rows near the screen, but not for every scroll event. */
  onVisible: (range: Range) => void
}

/**
 * The rows on the screen. Scrolling renders only this component and the rows that come into view.
 */
export function Rows<T extends BulkRow>({ name, rows, selection, onVisible, ...shared }: Props<T>) {
  const list = useRef<HTMLUListElement>(null)
  const { first, last } = useWindow(list, shared.height, onVisible)
  return (
    <ul
      ref={list}
      aria-label={name}
      className="card relative overflow-hidden"
      style={{ height: rows.length * shared.height + 2 }}
    >
      {rows.slice(first, last + 1).map((row, index) => (
        <Row
          key={row.id}
          row={row}
          index={first + index}
          selected={selection.has(row.id)}
          toggle={selection.toggle}
          {...shared}
        />
      ))}
    </ul>
  )
}

interface RowProps<T> extends Shared<T> {
  row: T
  index: number
  selected: boolean
  toggle: Selection<T>['toggle']
}

// memo loses the type parameter of a generic component
const Row = memo(PlainRow) as typeof PlainRow

function PlainRow<T extends BulkRow>({
  row,
  index,
  total,
  height,
  selected,
  toggle,
  canSelect,
  label,
  children,
  narrow,
  selecting,
}: RowProps<T>) {
  const detailed = useDeferredValue(true, false)
  return (
    <li
      data-row=""
      aria-posinset={index + 1}
      aria-setsize={total}
      className={cx(
        'group absolute inset-x-0 flex items-center gap-3 border-b border-line px-4 contain-layout contain-size',
        selected && 'bg-accent-wash',
      )}
      style={{ top: index * height, height }}
    >
      {canSelect && (
        <input
          type="checkbox"
          data-key="x"
          aria-label={`Select ${label(row)}`}
          className="relative z-10 size-4 shrink-0 accent-accent"
          checked={selected}
          onClick={(event) => toggle(row, event.shiftKey)}
          onChange={() => undefined}
        />
      )}
      {children(row, { narrow, selecting, detailed })}
    </li>
  )
}
