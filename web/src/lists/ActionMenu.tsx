import { type ReactNode, useState } from 'react'
import { Dialog } from '../ui/Dialog'
import { Icon } from '../ui/Icon'

interface Props {
  /** What the row is about. */
  label: string
  description?: ReactNode
  /** The buttons. `close` closes the menu; a button calls it before it acts. */
  children: (close: () => void) => ReactNode
}

/** The actions of a row on a phone, where nothing can be hovered. */
export function ActionMenu({ label, description, children }: Props) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        aria-label={`Actions for ${label}`}
        className="relative z-10 -mr-2 inline-flex size-10 shrink-0 items-center justify-center rounded-md text-muted"
        onClick={() => setOpen(true)}
      >
        <Icon name="more" />
      </button>
      {open && (
        <Dialog open onOpenChange={setOpen} title={label} description={description}>
          <div className="grid gap-2">{children(() => setOpen(false))}</div>
        </Dialog>
      )}
    </>
  )
}
