import { useState } from 'react'
import { missingRight, useHasRight } from '../api/rights'
import { Button } from '../ui/Button'
import { Icon } from '../ui/Icon'
import { EditDialog } from './EditDialog'
import type { FactDates } from './types'
import { type Kind, useConfirm, useForget, useRestore } from './useActions'

interface Props {
  kind: Kind
  id: string
  content: string
  /** The dates of a fact; a rule has none. */
  dates?: FactDates
  /** Whether the memory is active or fading. A superseded, expired or forgotten one can only be restored. */
  live: boolean
}

/** Confirm, edit and forget an active memory; restore an inactive one. */
export function Actions({ kind, id, content, dates, live }: Props) {
  const [editing, setEditing] = useState(false)
  const canWrite = useHasRight('write')
  const confirm = useConfirm(kind)
  const forget = useForget(kind)
  const restore = useRestore(kind)
  if (!canWrite) return <p className="text-sm text-muted">{missingRight.write}</p>
  if (!live) {
    return (
      <Button busy={restore.isPending} onClick={() => restore.mutate(id)}>
        <Icon name="undo" /> Restore
      </Button>
    )
  }
  return (
    <>
      <Button variant="primary" data-page-key="c" busy={confirm.isPending} onClick={() => confirm.mutate(id)}>
        <Icon name="check" /> Confirm
      </Button>
      <Button data-page-key="e" onClick={() => setEditing(true)}>
        <Icon name="edit" /> Edit
      </Button>
      <Button variant="danger" busy={forget.isPending} onClick={() => forget.mutate(id)}>
        <Icon name="forget" /> Forget
      </Button>
      {editing && (
        <EditDialog kind={kind} id={id} content={content} dates={dates} follow onClose={() => setEditing(false)} />
      )}
    </>
  )
}
