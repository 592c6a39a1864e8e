import { useState } from 'react'
import { useHasRight } from '../api/rights'
import { EditDialog } from '../memory/EditDialog'
import type { FactDates } from '../memory/types'
import { type Kind, useConfirm, useForget } from '../memory/useActions'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { Icon } from '../ui/Icon'

interface Props {
  kind: Kind
  id: string
  label: string
  content: string
  dates?: FactDates
}

/** The actions of a row on a phone, where nothing can be hovered. */
export function RowMenu({ kind, id, label, content, dates }: Props) {
  const [open, setOpen] = useState<'menu' | 'edit'>()
  const canWrite = useHasRight('write')
  const confirm = useConfirm(kind)
  const forget = useForget(kind)
  if (!canWrite) return null
  function run(action: () => void) {
    setOpen(undefined)
    action()
  }
  return (
    <>
      <button
        type="button"
        aria-label={`Actions for ${label}`}
        className="relative z-10 -mr-2 inline-flex size-10 shrink-0 items-center justify-center rounded-md text-muted"
        onClick={() => setOpen('menu')}
      >
        <Icon name="more" />
      </button>
      {open === 'menu' && (
        <Dialog open onOpenChange={() => setOpen(undefined)} title={label} description={content}>
          <div className="grid gap-2">
            <Button onClick={() => run(() => confirm.mutate(id))}>Confirm</Button>
            <Button onClick={() => setOpen('edit')}>Edit</Button>
            <Button variant="danger" onClick={() => run(() => forget.mutate(id))}>
              Forget
            </Button>
          </div>
        </Dialog>
      )}
      {open === 'edit' && (
        <EditDialog kind={kind} id={id} content={content} dates={dates} onClose={() => setOpen(undefined)} />
      )}
    </>
  )
}
