import { type FormEvent, useState } from 'react'
import { useGet } from '../api/hooks'
import { cx } from '../lib/cx'
import { counted } from '../lib/number'
import type { Kind } from '../memory/useActions'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { type BulkRow, useBulk } from './useBulk'
import type { Selection } from './useSelection'

interface Props<T extends BulkRow> {
  kind: Kind
  selection: Selection<T>
}

type OpenDialog = 'tag' | 'move'

/** What can be done with the selected rows, at the bottom of the screen. */
export function SelectionBar<T extends BulkRow>({ kind, selection }: Props<T>) {
  const bulk = useBulk(kind, selection)
  const [openDialog, setOpenDialog] = useState<OpenDialog>()
  const number = selection.rows.length
  if (number === 0) return null
  return (
    <section
      aria-label="Selected rows"
      className={cx(
        'sticky bottom-4 z-20 mx-auto mt-4 flex w-fit max-w-full flex-wrap items-center gap-1 rounded-lg',
        'border border-line-strong/60 bg-surface p-1.5 shadow-float',
      )}
    >
      <span role="status" className="figure px-2 font-medium">
        {counted(number, kind)} selected
      </span>
      <Button size="small" variant="ghost" busy={bulk.busy} data-page-key="c" onClick={() => void bulk.confirm()}>
        Confirm
      </Button>
      <Button size="small" variant="ghost" busy={bulk.busy} data-page-key="t" onClick={() => setOpenDialog('tag')}>
        Tag…
      </Button>
      <Button size="small" variant="ghost" busy={bulk.busy} data-page-key="s" onClick={() => setOpenDialog('move')}>
        Change scope…
      </Button>
      <Button size="small" variant="ghost" busy={bulk.busy} data-page-key="f" onClick={() => void bulk.forget()}>
        Forget
      </Button>
      <Button size="small" variant="ghost" onClick={() => selection.set([])}>
        Clear
      </Button>
      {openDialog === 'tag' && (
        <TagDialog
          rows={selection.rows}
          onClose={() => setOpenDialog(undefined)}
          onAdd={(tag) => void bulk.tag(tag)}
          onRemove={(tag) => void bulk.untag(tag)}
        />
      )}
      {openDialog === 'move' && (
        <ScopeDialog
          kind={kind}
          number={number}
          onClose={() => setOpenDialog(undefined)}
          onMove={(to) => void bulk.move(to)}
        />
      )}
    </section>
  )
}

interface TagProps {
  rows: BulkRow[]
  onAdd: (tag: string) => void
  onRemove: (tag: string) => void
  onClose: () => void
}

function TagDialog({ rows, onAdd, onRemove, onClose }: TagProps) {
  const [tag, setTag] = useState('')
  const known = [...new Set(rows.flatMap((row) => row.tags))].toSorted()
  const given = tag.trim()
  function submit(event: FormEvent) {
    event.preventDefault()
    onAdd(given)
    onClose()
  }
  return (
    <Dialog open onOpenChange={onClose} title="Tag the selected rows">
      <form onSubmit={submit} className="flex gap-2">
        <label className="min-w-0 flex-1">
          <span className="sr-only">Tag</span>
          <input
            data-first-focus=""
            className="control w-full"
            placeholder="Tag to add"
            maxLength={100}
            value={tag}
            onChange={(event) => setTag(event.target.value)}
          />
        </label>
        <Button type="submit" variant="primary" disabled={given === ''}>
          Add tag
        </Button>
      </form>
      {known.length > 0 && (
        <div className="mt-4">
          <h3 className="label mb-2">Remove a tag</h3>
          <p className="flex flex-wrap gap-2">
            {known.map((name) => (
              <Button
                key={name}
                size="small"
                aria-label={`Remove the tag ${name}`}
                onClick={() => {
                  onRemove(name)
                  onClose()
                }}
              >
                {name} ✕
              </Button>
            ))}
          </p>
        </div>
      )}
    </Dialog>
  )
}

interface ScopeProps {
  kind: Kind
  number: number
  onMove: (scope: string) => void
  onClose: () => void
}

function ScopeDialog({ kind, number, onMove, onClose }: ScopeProps) {
  const [scope, setScope] = useState('')
  const butlers = useGet('/api/butlers')
  const given = scope.trim()
  function submit(event: FormEvent) {
    event.preventDefault()
    onMove(given)
    onClose()
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Change the scope of ${counted(number, kind)}`}
      description="Every butler reads the scope global. Any other scope is read by the butler of that name."
    >
      <form onSubmit={submit} className="flex gap-2">
        <label className="min-w-0 flex-1">
          <span className="sr-only">Scope</span>
          <input
            data-first-focus=""
            className="control w-full"
            placeholder="global"
            list="scopes"
            value={scope}
            onChange={(event) => setScope(event.target.value)}
          />
        </label>
        <datalist id="scopes">
          {['global', ...(butlers.data?.data ?? []).map((butler) => butler.name)].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Button type="submit" variant="primary" disabled={given === ''}>
          Change scope
        </Button>
      </form>
    </Dialog>
  )
}
