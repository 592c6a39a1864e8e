import { useState } from 'react'
import { useHasRight } from '../api/rights'
import { cx } from '../lib/cx'
import { Icon } from '../ui/Icon'
import { EditDialog } from './EditDialog'
import type { FactDates } from './types'
import { type Kind, useConfirm } from './useActions'

interface Props {
  kind: Kind
  id: string
  label: string
  content: string
  /** The dates of a fact; a rule has none. */
  dates?: FactDates
  /** Whether the memory is active or fading; any other cannot be confirmed or edited. */
  live: boolean
}

/** Hidden until the row is hovered or focused. */
const buttonClass = cx(
  'relative z-10 inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-sunken hover:text-ink',
  'opacity-0 transition-opacity group-hover:opacity-100 group-focus-within:opacity-100 focus-visible:opacity-100',
)

/** Buttons to confirm and edit a memory from its row, also bound to the keys c and e. */
export function RowActions({ kind, id, label, content, dates, live }: Props) {
  const [editing, setEditing] = useState(false)
  const canWrite = useHasRight('write')
  const confirm = useConfirm(kind)
  if (!live || !canWrite) return null
  return (
    <span className="inline-flex max-md:hidden">
      <button
        type="button"
        data-key="c"
        title="Confirm (c)"
        aria-label={`Confirm ${label}`}
        className={buttonClass}
        onClick={() => confirm.mutate(id)}
      >
        <Icon name="check" />
      </button>
      <button
        type="button"
        data-key="e"
        title="Edit (e)"
        aria-label={`Edit ${label}`}
        className={buttonClass}
        onClick={() => setEditing(true)}
      >
        <Icon name="edit" />
      </button>
      {editing && <EditDialog kind={kind} id={id} content={content} dates={dates} onClose={() => setEditing(false)} />}
    </span>
  )
}
