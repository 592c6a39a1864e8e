import { type FormEvent, useState } from 'react'
import type { ConflictAt } from '../../api/schema'
import { Button } from '../../ui/Button'
import { Dialog } from '../../ui/Dialog'

interface Props {
  conflict: ConflictAt
  onMerge: (content: string) => void
  onClose: () => void
}

/** Asks for one text that says what both facts say. */
export function MergeTextDialog({ conflict: { a, b }, onMerge, onClose }: Props) {
  const [text, setText] = useState(a.content)
  const content = text.trim()
  function submit(event: FormEvent) {
    event.preventDefault()
    if (content !== '') onMerge(content)
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Merge the text"
      description="The text becomes a new version of A, and B is forgotten."
      wide
    >
      <form onSubmit={submit} className="space-y-4">
        <dl className="space-y-2">
          {[
            ['A', a.content],
            ['B', b.content],
          ].map(([name, said]) => (
            <div key={name} className="flex gap-3">
              <dt className="font-semibold text-accent">{name}</dt>
              <dd className="memory-text min-w-0">{said}</dd>
            </div>
          ))}
        </dl>
        <label className="block">
          <span className="label">Merged text</span>
          <textarea
            data-first-focus=""
            className="control memory-text mt-1 h-32 w-full resize-y py-2 text-lg"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if ((event.metaKey || event.ctrlKey) && event.key === 'Enter') submit(event)
            }}
          />
        </label>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={content === ''}>
            Merge
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
