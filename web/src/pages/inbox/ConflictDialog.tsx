import type { FormEvent, ReactNode } from 'react'
import type { ConflictAt } from '../../api/schema'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'

interface Props {
  title: string
  description: string
  conflict: ConflictAt
  /** What the button says that submits the form. */
  submit: string
  disabled?: boolean
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
}

/** A form about a conflict, below what its two facts say. */
export function ConflictDialog({ title, description, conflict, submit, disabled, onSubmit, onClose, children }: Props) {
  function send(event: FormEvent) {
    event.preventDefault()
    if (!disabled) onSubmit()
  }
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={title} description={description} wide>
      <form onSubmit={send} className="space-y-4">
        <dl className="space-y-2">
          {[
            ['A', conflict.a.content],
            ['B', conflict.b.content],
          ].map(([name, said]) => (
            <div key={name} className="flex gap-3">
              <dt className="font-semibold text-accent">{name}</dt>
              <dd className="memory-text min-w-0">{said}</dd>
            </div>
          ))}
        </dl>
        {children}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={disabled}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
