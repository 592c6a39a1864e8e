import { useState } from 'react'
import { lacking, useMay } from '../api/rights'
import { Button } from '../ui/Button'
import { Icon } from '../ui/Icon'
import { EditDialog } from './EditDialog'
import { type Kind, useConfirm, useForget, useRestore } from './useActions'

interface Props {
  kind: Kind
  id: string
  content: string
  /** Active or fading. What is superseded, expired or forgotten can only be restored. */
  live: boolean
}

/** What every memory allows: confirm, edit and forget while it lives, restore when it is gone. */
export function Actions({ kind, id, content, live }: Props) {
  const [editing, setEditing] = useState(false)
  const may = useMay('write')
  const confirm = useConfirm(kind)
  const forget = useForget(kind)
  const restore = useRestore(kind)
  if (!may) return <p className="text-sm text-muted">{lacking.write}</p>
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
      {editing && <EditDialog kind={kind} id={id} content={content} follow onClose={() => setEditing(false)} />}
    </>
  )
}
